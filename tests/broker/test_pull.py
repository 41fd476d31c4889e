# SPDX-License-Identifier: Apache-2.0
"""Pulls: every row of the table of answers, tags, parking and waking."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.header import BINARY, JSON, Command, encode

from .clockwork import Clockwork
from .here import Bench, Link, consumer, records

COMMITS, SUSPENDS, SUBSCRIBES = 1, 2, 4


@pytest.fixture
def clock() -> Clockwork:
    return Clockwork()


@pytest.fixture
def bench(tmp_path: Path, clock: Clockwork) -> Iterator[Bench]:
    with Bench(tmp_path, clock) as bench:
        bench.topic("orders", 2)
        yield bench


def fields(offset: int = 0, **more: Any) -> dict[str, str]:
    asked = {
        "consumerGroup": "billing", "topic": "orders", "queueId": 0, "queueOffset": offset,
        "maxMsgNums": 32, "sysFlag": SUBSCRIBES, "commitOffset": 0, "suspendTimeoutMillis": 0,
        "subscription": "*", "subVersion": 0, "expressionType": "TAG",
    }  # fmt: skip
    return {key: str(value) for key, value in (asked | more).items()}


def pull(link: Link, offset: int = 0, *, kind: int = JSON, **more: Any) -> Command:
    return link.say(Command(RequestCode.PULL_MESSAGE, 7, kind=kind, fields=fields(offset, **more)))


def park(link: Link, offset: int = 0, *, opaque: int = 7, wait_ms: int = 5000, **more: Any) -> None:
    """A pull that may wait."""
    more = {"sysFlag": SUBSCRIBES | SUSPENDS, "suspendTimeoutMillis": wait_ms} | more
    request = Command(RequestCode.PULL_MESSAGE, opaque, fields=fields(offset, **more))
    link.peer.data_received(encode(request))
    link.read()


@pytest.mark.parametrize("kind", [JSON, BINARY])
def test_found(bench: Bench, link: Link, kind: int) -> None:
    for number in range(40):
        bench.put("orders", b"%d" % number, TAGS="a")
    answer = pull(link, 3, kind=kind)
    assert (answer.code, answer.remark, answer.kind) == (0, "FOUND", kind)
    assert [record.body for record in records(answer.body)] == [b"%d" % n for n in range(3, 35)]
    assert answer.fields == {
        "suggestWhichBrokerId": "0", "nextBeginOffset": "35", "minOffset": "0",
        "maxOffset": "40", "topicSysFlag": "0", "groupSysFlag": "0",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("stored", "offset", "code", "remark", "next_offset"),
    [
        (0, 0, ResponseCode.PULL_NOT_FOUND, "NO_MESSAGE_IN_QUEUE", 0),
        (0, 5, ResponseCode.PULL_OFFSET_MOVED, "NO_MESSAGE_IN_QUEUE", 0),
        (2, 2, ResponseCode.PULL_NOT_FOUND, "OFFSET_OVERFLOW_ONE", 2),
        (2, 3, ResponseCode.PULL_OFFSET_MOVED, "OFFSET_OVERFLOW_BADLY", 2),
        (2, -1, ResponseCode.PULL_OFFSET_MOVED, "OFFSET_TOO_SMALL", 0),
    ],
)
def test_outside_the_queue(
    bench: Bench, link: Link, stored: int, offset: int, code: int, remark: str, next_offset: int
) -> None:
    for _ in range(stored):
        bench.put("orders")
    answer = pull(link, offset)
    assert (answer.code, answer.remark) == (code, remark)
    assert answer.fields["nextBeginOffset"] == str(next_offset)


def test_tags_are_filtered_and_the_offset_moves_on(bench: Bench, link: Link) -> None:
    for tag in "abcab":
        bench.put("orders", tag.encode(), TAGS=tag)
    bench.put("orders", b"none")
    found = pull(link, subscription="a || c")
    assert [record.body for record in records(found.body)] == [b"a", b"c", b"a"]
    assert found.fields["nextBeginOffset"] == "6"
    nothing = pull(link, subscription="z")
    assert nothing.code == ResponseCode.PULL_RETRY_IMMEDIATELY
    assert (nothing.remark, nothing.fields["nextBeginOffset"]) == ("NO_MATCHED_MESSAGE", "6")


def test_answers_are_bounded(bench: Bench, link: Link) -> None:
    for _ in range(10):
        bench.put("orders", b"x" * 60_000)
    assert len(records(pull(link).body)) == 4  # 256 KiB
    assert len(records(pull(link, maxMsgBytes=150_000).body)) == 2
    assert len(records(pull(link, maxMsgBytes=1).body)) == 1  # The first one always comes.
    assert len(records(pull(link, maxMsgNums=3).body)) == 3


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"topic": "nowhere"}, ResponseCode.TOPIC_NOT_EXIST),
        ({"queueId": 2}, ResponseCode.INVALID_PARAMETER),
        ({"queueId": -1}, ResponseCode.INVALID_PARAMETER),
        ({"sysFlag": 0}, ResponseCode.SUBSCRIPTION_NOT_EXIST),
        ({"consumerGroup": "bad group!"}, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),
        ({"subscription": "||"}, ResponseCode.SUBSCRIPTION_PARSE_FAILED),
        ({"expressionType": "SQL92"}, ResponseCode.SYSTEM_ERROR),
    ],
)
def test_refusals(bench: Bench, link: Link, more: dict[str, Any], code: int) -> None:
    bench.put("orders")
    for _ in range(2):  # A refusal is not remembered as anything else.
        assert pull(link, **more).code == code
    assert pull(link).code == 0


def test_members_pull_what_they_subscribed_to(bench: Bench, link: Link) -> None:
    bench.put("orders", TAGS="a")
    link.beat(consumer("billing", "orders", version=10))
    assert pull(link, sysFlag=0, subVersion=10).code == 0
    assert pull(link, sysFlag=0, subVersion=11).code == ResponseCode.SUBSCRIPTION_NOT_LATEST
    assert pull(link, sysFlag=0, topic="TBW102").code == ResponseCode.SUBSCRIPTION_NOT_EXIST
    link.beat(consumer("billing", "orders", version=11))
    assert pull(link, sysFlag=0, subVersion=11).code == 0
    link.close()
    assert pull(bench.link(), sysFlag=0).code == ResponseCode.SUBSCRIPTION_NOT_EXIST


def test_a_disabled_group_is_refused_at_its_next_pull(bench: Bench, link: Link) -> None:
    bench.put("orders")
    assert pull(link).code == 0
    group = bench.broker.groups.find("billing")
    assert group is not None
    group.consume_enable = False
    bench.broker.forget_group("billing")
    assert pull(link).code == ResponseCode.NO_PERMISSION


def test_a_pull_commits(bench: Bench, link: Link) -> None:
    pull(link, sysFlag=SUBSCRIBES | COMMITS, commitOffset=17)
    assert bench.broker.offsets.find("billing", "orders", 0) == 17
    pull(link, commitOffset=99)
    assert bench.broker.offsets.find("billing", "orders", 0) == 17


def test_a_reset_is_handed_out_once(bench: Bench, link: Link) -> None:
    for _ in range(5):
        bench.put("orders")
    assert pull(link, 5).code == ResponseCode.PULL_NOT_FOUND
    bench.broker.offsets.reset("billing", "orders", 0, 2)
    answer = pull(link, 5)
    assert (answer.code, answer.remark) == (ResponseCode.PULL_OFFSET_MOVED, "OFFSET_RESET")
    assert answer.fields["nextBeginOffset"] == "2"
    assert pull(link, 2).code == 0


# Waiting.


def test_a_message_wakes_the_pull_parked_on_its_queue(bench: Bench, link: Link) -> None:
    park(link)
    bench.put("orders", queue_id=1)
    link.read()
    assert not link.answers and bench.broker.waiting.count == 1
    bench.put("orders", b"now")
    link.read()
    answer = link.answers.pop(7)
    assert answer.code == 0 and records(answer.body)[0].body == b"now"
    assert bench.broker.waiting.count == 0


def test_a_message_without_the_tag_does_not_wake(
    bench: Bench, link: Link, clock: Clockwork
) -> None:
    park(link, subscription="a", wait_ms=5000)
    bench.put("orders", TAGS="b")
    link.read()
    assert not link.answers
    bench.put("orders", b"now", TAGS="a")
    link.read()
    answer = link.answers.pop(7)
    assert [record.body for record in records(answer.body)] == [b"now"]
    assert answer.fields["nextBeginOffset"] == "2"


def test_when_the_time_is_up_there_is_an_answer(bench: Bench, link: Link, clock: Clockwork) -> None:
    bench.put("orders")
    park(link, 1, opaque=1, wait_ms=5000)
    park(link, 1, opaque=2, wait_ms=3000, subscription="a")
    clock.advance(2999)
    link.read()
    assert not link.answers
    bench.put("orders", TAGS="b")  # Wakes the first one only.
    link.read()
    assert link.answers.pop(1).code == 0
    clock.advance(1)
    link.read()
    late = link.answers.pop(2)  # What did not match is behind it now.
    assert late.code == ResponseCode.PULL_RETRY_IMMEDIATELY
    assert late.fields["nextBeginOffset"] == "2"
    park(link, 2, opaque=3, wait_ms=10)
    clock.advance(10)
    link.read()
    assert link.answers.pop(3).code == ResponseCode.PULL_NOT_FOUND
    assert bench.broker.waiting.count == 0


def test_closed_connections_are_forgotten(bench: Bench, link: Link, clock: Clockwork) -> None:
    other = bench.link()
    park(link)
    park(other)
    link.close()
    assert bench.broker.waiting.count == 1
    bench.put("orders", b"now")
    other.read()
    assert other.answers.pop(7).code == 0
    clock.advance(60_000)


def test_a_connection_cannot_park_without_end(tmp_path: Path) -> None:
    with Bench(tmp_path, peer_held_pull_count_max=2) as bench:
        bench.topic("orders")
        link = bench.link()
        for opaque in range(3):
            park(link, opaque=opaque)
        assert list(link.answers) == [2]
        assert link.answers[2].code == ResponseCode.PULL_NOT_FOUND


def test_a_stopping_broker_answers_what_waits(bench: Bench, link: Link) -> None:
    park(link)
    bench.broker.waiting.close()
    link.read()
    assert link.answers.pop(7).code == ResponseCode.PULL_NOT_FOUND
