# SPDX-License-Identifier: Apache-2.0
"""Messages found by key, by place, and in their queue."""

import pytest

from eruca.broker import queries
from eruca.wire import commands
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.header import Command
from eruca.wire.reports import QueryConsumeQueueAnswer

from .here import Bench, Link, consumer, read, records

TOPIC = "orders"
LATE_MS = 2**62


def find(
    link: Link, key: str, count: int = 32, begin_ms: int = 0, end_ms: int = LATE_MS
) -> Command:
    header = commands.QueryMessage(TOPIC, key, count, begin_ms, end_ms)
    return link.ask(RequestCode.QUERY_MESSAGE, header)


def bodies(answer: Command) -> list[bytes]:
    return [each.body for each in records(answer.body)] if answer.code == 0 else []


def test_by_key(bench: Bench, link: Link) -> None:
    for number in range(6):
        bench.put(
            TOPIC, b"%d" % number, KEYS=f"odd{number % 2} each{number}", UNIQ_KEY=f"U{number}"
        )
    bench.put("another", b"not here", KEYS="odd1")
    found = find(link, "odd1")
    assert bodies(found) == [b"1", b"3", b"5"]
    assert int(found.fields["indexLastUpdatePhyoffset"]) > 0
    assert int(found.fields["indexLastUpdateTimestamp"]) == bench.clock.ms
    assert bodies(find(link, "odd1", count=2)) == [b"3", b"5"]  # The newest ones.
    assert bodies(find(link, "each4")) == [b"4"]
    assert bodies(find(link, "U2")) == [b"2"]


@pytest.mark.parametrize("count", [0, -1])
def test_nothing_is_found(bench: Bench, link: Link, count: int) -> None:
    bench.put(TOPIC, KEYS="k")
    for answer in (find(link, "other"), find(link, "k", count), find(link, "k", end_ms=1000)):
        assert answer.code == ResponseCode.QUERY_NOT_FOUND
        assert answer.fields == {
            "indexLastUpdateTimestamp": "0", "indexLastUpdatePhyoffset": "0"
        }  # fmt: skip


def test_a_key_that_shares_only_its_hash(bench: Bench, link: Link) -> None:
    bench.put(TOPIC, b"Aa", KEYS="Aa")  # Java: the hashes of Aa and BB are equal.
    bench.put(TOPIC, b"BB", KEYS="BB")
    assert bodies(find(link, "Aa")) == [b"Aa"]
    assert bodies(find(link, "BB")) == [b"BB"]


def test_by_unique_key_and_by_tag(bench: Bench, link: Link) -> None:
    bench.put(TOPIC, b"first", TAGS="red", UNIQ_KEY="U1")
    bench.put(TOPIC, b"second", TAGS="red", UNIQ_KEY="U2")
    header = commands.QueryMessage(TOPIC, "U2", 1, 0, LATE_MS, unique_key=True)
    assert bodies(link.ask(RequestCode.QUERY_MESSAGE, header)) == [b"second"]
    header = commands.QueryMessage(TOPIC, "red", 9, 0, LATE_MS, index_type="T")
    assert bodies(link.ask(RequestCode.QUERY_MESSAGE, header)) == [b"first", b"second"]
    assert bodies(find(link, "red")) == []


def test_within_a_time(bench: Bench, link: Link) -> None:
    began_ms = bench.clock.ms
    for number in range(3):
        bench.put(TOPIC, b"%d" % number, KEYS="k")
        bench.clock.ms += 60_000
    assert bodies(find(link, "k", begin_ms=began_ms + 1, end_ms=began_ms + 90_000)) == [b"1"]


def test_an_answer_fits_into_a_frame(
    bench: Bench, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "BODY_SIZE_MAX", 30_000)
    for number in range(5):
        bench.put(TOPIC, b"%d" % number * 10_000, KEYS="k")
    assert [body[:1] for body in bodies(find(link, "k"))] == [b"3", b"4"]


def test_by_place(bench: Bench, link: Link) -> None:
    bench.put(TOPIC, b"first")
    second = bench.put(TOPIC, b"second")

    def at(log_offset: int) -> Command:
        return link.ask(RequestCode.VIEW_MESSAGE_BY_ID, commands.ViewMessage(log_offset))

    assert bodies(at(0)) == [b"first"]
    assert bodies(at(second)) == [b"second"]
    for log_offset in (-1, 1, second - 1, second + 8, 10**12, 2**63 - 1):
        assert at(log_offset).code == ResponseCode.SYSTEM_ERROR


# Entries of a queue.


def entries(link: Link, index: int, count: int, group: str | None = None) -> Command:
    header = commands.QueryConsumeQueue(TOPIC, 0, index, count, group)
    return link.ask(RequestCode.QUERY_CONSUME_QUEUE, header)


def test_entries_of_a_queue(bench: Bench, link: Link) -> None:
    places = [bench.put(TOPIC, TAGS="red") for _ in range(5)]
    found = read(QueryConsumeQueueAnswer, entries(link, 1, 2))
    assert [each.log_offset for each in found.entries or []] == places[1:3]
    assert {each.tags_code for each in found.entries or []} == {112785}  # Java: "red".hashCode()
    assert (found.min_index, found.max_index, found.filter_data) == (0, 5, None)
    last = read(QueryConsumeQueueAnswer, entries(link, -1, 2)).entries or []
    assert [each.log_offset for each in last] == places[3:]
    assert len(read(QueryConsumeQueueAnswer, entries(link, 0, 1000)).entries or []) == 5
    assert read(QueryConsumeQueueAnswer, entries(link, 0, -5)).entries == []


def test_entries_that_are_not_there(bench: Bench, link: Link) -> None:
    assert entries(link, 0, 1).code == ResponseCode.SYSTEM_ERROR
    bench.put(TOPIC)
    beyond = entries(link, 9, 1)
    assert (beyond.code, beyond.body) == (0, b"")
    assert beyond.remark == f"Index 9 of 0@{TOPIC} is not exist!"


def test_entries_for_a_group(bench: Bench, link: Link) -> None:
    bench.put(TOPIC)
    offline = read(QueryConsumeQueueAnswer, entries(link, 0, 1, "billing"))
    assert offline.filter_data == f"billing@{TOPIC} is not online!"
    link.beat(consumer("billing", TOPIC))
    online = read(QueryConsumeQueueAnswer, entries(link, 0, 1, "billing"))
    assert online.subscription is not None and online.subscription.expression == "*"
