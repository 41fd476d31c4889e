# SPDX-License-Identifier: Apache-2.0
"""Counters seen over time."""

import pytest

from eruca.broker.hot import Fetched
from eruca.broker.statistics import (
    DAY,
    HOUR,
    LOOK_MS,
    MINUTE,
    STEP_COUNT,
    Count,
    Series,
    Statistics,
)
from eruca.store.writer import TopicQueues

from .here import FakeClock

TOPIC = b"orders"


class World:
    """Some topics, whose counters tests turn, and the statistics of them."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.topics: dict[bytes, TopicQueues] = {}
        self.fetched: dict[str, Fetched] = {}
        self.statistics = Statistics(self.topics, self.fetched, self.clock)

    def put(self, count: int, size: int = 0, topic: bytes = TOPIC) -> None:
        queues = self.topics.setdefault(topic, TopicQueues(topic))
        queues.put_count += count
        queues.put_size += size

    def pass_ms(self, ms: int, each_look: int = 0) -> None:
        """Let time pass, looking every ten seconds, with so many messages before each look."""
        for _ in range(ms // LOOK_MS):
            if each_look:
                self.put(each_look)
            self.clock.ms += LOOK_MS
            self.statistics.look_now()

    def sums(self, name: str = "TOPIC_PUT_NUMS", key: str = "orders") -> tuple[int, int, int]:
        report = self.statistics.report(name, key)
        assert report is not None
        return report.minute.sum, report.hour.sum, report.day.sum


@pytest.fixture
def world() -> World:
    return World()


def test_the_first_messages_count_at_once(world: World) -> None:
    world.put(5, 500)
    assert world.sums() == (5, 5, 5)
    assert world.statistics.put_per_second("orders") == pytest.approx(0.5)  # Of ten seconds.
    report = world.statistics.report("TOPIC_PUT_SIZE", "orders")
    assert report is not None
    assert (report.minute.sum, report.minute.average_per_call) == (500, 100.0)
    assert report.minute.tps == pytest.approx(50)


def test_what_is_older_than_a_span_does_not_count(world: World) -> None:
    world.pass_ms(60_000)
    world.put(7)
    world.pass_ms(10_000)
    assert world.sums() == (7, 7, 7)
    world.pass_ms(50_000)
    assert world.sums() == (7, 7, 7)
    world.pass_ms(20_000)
    assert world.sums() == (0, 7, 7)
    world.pass_ms(3_600_000 + 600_000)  # The longer a span, the coarser its edge.
    assert world.sums() == (0, 0, 7)
    world.pass_ms(86_400_000 + 3_600_000)
    assert world.sums() == (0, 0, 0)


def test_a_steady_rate_is_seen_as_it_is(world: World) -> None:
    world.pass_ms(7_200_000, each_look=30)  # Three per second.
    assert world.statistics.put_per_second("orders") == pytest.approx(3, rel=0.01)
    report = world.statistics.report("TOPIC_PUT_NUMS", "orders")
    assert report is not None
    assert report.minute.sum == pytest.approx(180, rel=0.2)
    assert report.hour.sum == pytest.approx(10_800, rel=0.2)
    assert report.hour.tps == pytest.approx(3, rel=0.2)
    assert report.day.sum == 21_600


def test_memory_is_bounded_by_the_spans() -> None:
    series = Series(Count(0, 0, 0), MINUTE, HOUR, DAY)
    for number in range(1, 30_000):
        series.note(Count(number * LOOK_MS, number, 0))
    assert [len(each) for each in series._spans.values()] <= [8, 8, 26]
    for number in range(30_000, 60_000):
        series.note(Count(number * LOOK_MS, 30_000, 0))
    assert [len(each) for each in series._spans.values()] == [1, 1, 1]


def test_nothing_is_known_of_what_never_was(world: World) -> None:
    world.put(1)
    for name, key in [
        ("TOPIC_PUT_NUMS", "nowhere"), ("GROUP_GET_NUMS", "orders@billing"),
        ("TOPIC_PUT_LATENCY", "orders"), ("NOSUCH_NUMS", "orders"), ("", ""),
    ]:  # fmt: skip
        assert world.statistics.report(name, key) is None


def test_a_topic_that_was_deleted_and_made_again(world: World) -> None:
    world.put(100)
    world.pass_ms(20_000)
    del world.topics[TOPIC]
    world.pass_ms(10_000)
    assert world.statistics.report("TOPIC_PUT_NUMS", "orders") is None
    assert not world.statistics.put._series
    world.put(3)
    assert world.sums() == (3, 3, 3)
    world.pass_ms(10_000)
    del world.topics[TOPIC]
    world.put(1)  # Gone and back between two looks.
    world.statistics.look_now()
    assert world.sums() == (1, 1, 1)
    assert world.statistics.put.total.last.count == 104


def test_what_groups_were_given(world: World) -> None:
    fetched = world.fetched["orders@billing"] = Fetched({})
    fetched.count, fetched.size = 20, 2000
    assert world.sums("GROUP_GET_NUMS", "orders@billing") == (20, 20, 20)
    assert world.statistics.given_per_second("billing", "orders") == pytest.approx(2)
    assert world.statistics.given_per_second("nobody", "orders") == 0
    world.statistics.look_now()
    assert world.sums("BROKER_GET_NUMS", "DefaultCluster") == (20, 20, 20)


def test_totals_are_of_all_topics(world: World) -> None:
    world.put(5, 50, b"a")
    world.put(7, 70, b"b")
    world.statistics.look_now()
    total = world.statistics.put.total.last
    assert (total.count, total.size) == (12, 120)
    assert world.sums("BROKER_PUT_NUMS", "DefaultCluster") == (12, 12, 12)


def test_a_new_day(world: World) -> None:
    put = world.statistics.put
    world.put(10)
    world.pass_ms(86_400_000)
    assert (put.until_yesterday, put.until_today) == (0, 10)
    world.put(5)
    world.pass_ms(86_400_000)
    assert (put.until_yesterday, put.until_today) == (10, 15)


def test_many_topics_are_looked_at_in_steps(world: World) -> None:
    for number in range(2 * STEP_COUNT + 1):
        world.put(1, topic=b"%d" % number)
    world.statistics.look()
    steps = 1
    while world.clock.later:
        _, call, args = world.clock.later.pop()
        call(*args)
        steps += 1
    assert steps == 3
    assert world.statistics.put.total.last.count == 2 * STEP_COUNT + 1
