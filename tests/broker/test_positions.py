# SPDX-License-Identifier: Apache-2.0
"""Ends of queues, times, and offsets of groups."""

import pytest

from eruca.wire import commands
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.reports import DelayOffsetTable, OffsetTable

from .here import Bench, Link, read

TOPIC, GROUP = "orders", "billing"


def number(link: Link, code: int, header: object, name: str = "offset") -> int:
    answer = link.ask(code, header)
    assert answer.code == 0, answer.remark
    return int(answer.fields[name])


@pytest.mark.parametrize(("topic", "queue_id"), [(TOPIC, 1), (TOPIC, 99), ("nowhere", 0)])
def test_queues_that_nobody_wrote_to(bench: Bench, link: Link, topic: str, queue_id: int) -> None:
    bench.topic(TOPIC, 2)
    bench.put(TOPIC)
    assert number(link, RequestCode.GET_MAX_OFFSET, commands.GetMaxOffset(topic, queue_id)) == 0
    assert number(link, RequestCode.GET_MIN_OFFSET, commands.GetMinOffset(topic, queue_id)) == 0
    header = commands.SearchOffset(topic, queue_id, bench.clock.ms)
    assert number(link, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header) == 0
    header_of_time = commands.GetEarliestStoreTime(topic, queue_id)
    code = RequestCode.GET_EARLIEST_MSG_STORETIME
    assert number(link, code, header_of_time, "timestamp") == -1


def test_ends_of_a_queue(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    first_ms = bench.clock.ms
    for _ in range(3):
        bench.put(TOPIC)
        bench.clock.ms += 1
    assert number(link, RequestCode.GET_MAX_OFFSET, commands.GetMaxOffset(TOPIC, 0)) == 3
    queue = bench.broker.store.queue(TOPIC.encode(), 0)
    assert queue is not None
    queue.min_offset = 1
    assert number(link, RequestCode.GET_MIN_OFFSET, commands.GetMinOffset(TOPIC, 0)) == 1
    header = commands.GetEarliestStoreTime(TOPIC, 0)
    found_ms = number(link, RequestCode.GET_EARLIEST_MSG_STORETIME, header, "timestamp")
    assert found_ms == first_ms + 1


@pytest.mark.parametrize(
    ("since_ms", "lower", "upper"),
    [(-1, 0, 0), (0, 0, 0), (5, 1, 0), (10, 1, 2), (15, 3, 2), (20, 3, 3), (21, 4, 3)],
)
def test_offsets_by_time(bench: Bench, link: Link, since_ms: int, lower: int, upper: int) -> None:
    bench.topic(TOPIC)
    began_ms = bench.clock.ms
    for after_ms in (0, 10, 0, 10):  # Messages at 0, 10, 10 and 20.
        bench.put(TOPIC, after_ms=after_ms)

    def at(boundary: str | None) -> int:
        header = commands.SearchOffset(TOPIC, 0, began_ms + since_ms, boundary=boundary)
        return number(link, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header)

    assert at(None) == lower
    assert at("LOWER") == lower
    assert at("whatever") == lower
    assert at("UPPER") == at("upper") == upper


# Offsets of groups.


def test_a_stored_offset(bench: Bench, link: Link) -> None:
    bench.broker.offsets.commit(GROUP, TOPIC, 3, 42)
    header = commands.QueryConsumerOffset(GROUP, TOPIC, 3)
    assert number(link, RequestCode.QUERY_CONSUMER_OFFSET, header) == 42


def test_a_new_group_begins_at_zero_where_the_queue_is_young(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    code, header = RequestCode.QUERY_CONSUMER_OFFSET, commands.QueryConsumerOffset(GROUP, TOPIC, 0)
    empty = link.ask(code, header)
    assert (empty.code, empty.fields) == (ResponseCode.QUERY_NOT_FOUND, {})
    bench.put(TOPIC)
    assert number(link, code, header) == 0
    never = commands.QueryConsumerOffset(GROUP, TOPIC, 0, zero_if_missing=False)
    assert link.ask(code, never).code == ResponseCode.QUERY_NOT_FOUND
    bench.broker.store.limits.memory_span = 10  # Now the first message is not in memory any more.
    assert link.ask(code, header).code == ResponseCode.QUERY_NOT_FOUND


def test_a_new_group_does_not_begin_at_zero_when_that_is_gone(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    for _ in range(3):
        bench.put(TOPIC)
    queue = bench.broker.store.queue(TOPIC.encode(), 0)
    assert queue is not None
    queue.min_offset = 2
    header = commands.QueryConsumerOffset(GROUP, TOPIC, 0)
    code = RequestCode.QUERY_CONSUMER_OFFSET
    assert link.ask(code, header).code == ResponseCode.QUERY_NOT_FOUND


def test_a_commit(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    code, header = RequestCode.UPDATE_CONSUMER_OFFSET, commands.UpdateConsumerOffset
    unknown = link.ask(code, header(GROUP, TOPIC, 0, 5))
    assert unknown.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    bench.broker.groups.ensure(GROUP)
    nowhere = link.ask(code, header(GROUP, "nowhere", 0, 5))
    assert nowhere.code == ResponseCode.TOPIC_NOT_EXIST
    assert link.ask(code, header(GROUP, TOPIC, 0, 5)).code == 0
    assert bench.broker.offsets.find(GROUP, TOPIC, 0) == 5


@pytest.mark.parametrize("missing", ["queueId", "commitOffset"])
def test_a_commit_without_its_numbers(bench: Bench, link: Link, missing: str) -> None:
    fields = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0", "commitOffset": "1"}
    del fields[missing]
    answer = link.ask(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert answer.remark is not None and missing in answer.remark


def test_tables_of_all_offsets(bench: Bench, link: Link) -> None:
    bench.broker.offsets.commit(GROUP, TOPIC, 0, 7)
    bench.broker.delays.offsets[3] = 9
    table = read(OffsetTable, link.ask(RequestCode.GET_ALL_CONSUMER_OFFSET))
    assert table.offsets == {f"{TOPIC}@{GROUP}": {0: 7}}
    assert table.group_topics == {GROUP: [TOPIC]}
    delays = read(DelayOffsetTable, link.ask(RequestCode.GET_ALL_DELAY_OFFSET))
    assert delays.offsets == {3: 9}
