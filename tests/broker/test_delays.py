# SPDX-License-Identifier: Apache-2.0
"""Delay levels, retries and dead letters, with time that tests move."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eruca.wire import commands
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.properties import decode_properties
from eruca.wire.record import Record

from .clockwork import Clockwork
from .here import Bench, Link
from .test_send import send

SECOND = 1000


@pytest.fixture
def clock() -> Clockwork:
    return Clockwork()


@pytest.fixture
def bench(tmp_path: Path, clock: Clockwork) -> Iterator[Bench]:
    with Bench(tmp_path, clock) as bench:
        bench.broker.delays.start()
        bench.topic("orders", 2)
        yield bench


def content(bench: Bench, topic: str, queue_id: int = 0) -> list[Record]:
    store = bench.broker.store
    queue = store.queue(topic.encode(), queue_id)
    if queue is None:
        return []
    return [store.record_at(queue.log_offset_of(offset)) for offset in range(queue.max_offset)]


def delayed(link: Link, level: int, body: bytes = b"later") -> None:
    properties = f"UNIQ_KEY\x01U\x02TAGS\x01a\x02DELAY\x01{level}\x02"
    assert send(link, properties=properties, body=body, e=1).code == 0


def test_a_delayed_message_comes_at_its_time(bench: Bench, link: Link, clock: Clockwork) -> None:
    delayed(link, 2)
    assert [record.topic for record in content(bench, "SCHEDULE_TOPIC_XXXX", 1)]
    clock.advance(5 * SECOND - 1)
    assert content(bench, "orders", 1) == []
    clock.advance(1)
    (message,) = content(bench, "orders", 1)
    assert (message.body, message.queue_id) == (b"later", 1)
    pairs = decode_properties(message.properties.decode())
    assert pairs["REAL_TOPIC"] == "orders" and pairs["REAL_QID"] == "1"


def test_levels_do_not_wait_for_each_other(bench: Bench, link: Link, clock: Clockwork) -> None:
    for level, body in ((3, b"third"), (1, b"first"), (2, b"second"), (99, b"last")):
        delayed(link, level, body)
    clock.advance(10 * SECOND)
    bodies = [record.body for record in content(bench, "orders", 1)]
    assert bodies == [b"first", b"second", b"third"]
    clock.advance(2 * 3600 * SECOND)
    assert content(bench, "orders", 1)[-1].body == b"last"  # Beyond the last level is the last.


def test_many_come_in_order(bench: Bench, link: Link, clock: Clockwork) -> None:
    for number in range(600):
        delayed(link, 1, b"%d" % number)
        clock.advance(1)
    clock.advance(2 * SECOND)
    assert [record.body for record in content(bench, "orders", 1)] == [
        b"%d" % number for number in range(600)
    ]


def test_a_restart_loses_and_repeats_nothing(tmp_path: Path, clock: Clockwork) -> None:
    with Bench(tmp_path, clock) as bench:
        bench.broker.delays.start()
        bench.topic("orders", 2)
        delayed(bench.link(), 1, b"before")
        delayed(bench.link(), 2, b"after")
        clock.advance(SECOND)
        assert len(content(bench, "orders", 1)) == 1
    with Bench(tmp_path, clock) as bench:
        bench.broker.delays.start()
        clock.advance(0)
        assert len(content(bench, "orders", 1)) == 1
        clock.advance(4 * SECOND)
        assert [record.body for record in content(bench, "orders", 1)] == [b"before", b"after"]


# Retries.


def fail(link: Link, record: Record, level: int = 0, limit: int | None = None) -> int:
    ask = commands.SendBack(
        log_offset=record.log_offset, group="billing", delay_level=level,
        origin_message_id="X", origin_topic="orders", reconsume_count_max=limit,
    )  # fmt: skip
    return link.ask(RequestCode.CONSUMER_SEND_MSG_BACK, ask).code


def test_a_failed_message_comes_again_and_is_buried_in_time(
    bench: Bench, link: Link, clock: Clockwork
) -> None:
    send(link, body=b"hard")
    (message,) = content(bench, "orders")
    assert fail(link, message, limit=2) == 0
    clock.advance(10 * SECOND)  # The first retry is level 3.
    (retried,) = content(bench, "%RETRY%billing")
    assert (retried.body, retried.reconsume_count) == (b"hard", 1)
    pairs = decode_properties(retried.properties.decode())
    assert pairs["RETRY_TOPIC"] == "orders" and pairs["DELAY"] == "3" and pairs["WAIT"] == "false"
    assert len(pairs["ORIGIN_MESSAGE_ID"]) == 32
    assert fail(link, retried, limit=2) == 0
    clock.advance(30 * SECOND)  # The second one level 4.
    again = content(bench, "%RETRY%billing")[-1]
    assert again.reconsume_count == 2
    assert fail(link, again, limit=2) == 0
    (dead,) = content(bench, "%DLQ%billing")
    pairs = decode_properties(dead.properties.decode())
    assert (dead.body, dead.reconsume_count, pairs["DELAY"]) == (b"hard", 3, "0")
    assert pairs["RETRY_TOPIC"] == "orders"


def test_the_consumer_may_choose_the_delay_or_give_up(
    bench: Bench, link: Link, clock: Clockwork
) -> None:
    send(link)
    (message,) = content(bench, "orders")
    fail(link, message, level=1)
    clock.advance(SECOND)
    assert len(content(bench, "%RETRY%billing")) == 1
    fail(link, message, level=-1)
    assert len(content(bench, "%DLQ%billing")) == 1


def test_what_is_not_there_cannot_be_sent_back(bench: Bench, link: Link) -> None:
    send(link)
    (message,) = content(bench, "orders")
    message.log_offset = 10**9
    assert fail(link, message) == ResponseCode.SYSTEM_ERROR


def test_clients_may_send_retries_themselves(bench: Bench, link: Link, clock: Clockwork) -> None:
    retry = "%RETRY%billing"
    assert send(link, retry, properties="UNIQ_KEY\x01U\x02DELAY\x011\x02", j=1, l=3).code == 0
    clock.advance(SECOND)
    assert [record.reconsume_count for record in content(bench, retry)] == [1]
    assert send(link, retry, properties="UNIQ_KEY\x01U\x02DELAY\x011\x02", j=4, l=3).code == 0
    assert len(content(bench, "%DLQ%billing")) == 1
