# SPDX-License-Identifier: Apache-2.0
"""Sends: what is stored, what is answered, and what is refused with which of Java's codes."""

from pathlib import Path
from typing import Any

import pytest

from eruca.errors import DiskFull
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.header import BINARY, JSON, Command
from eruca.wire.properties import decode_properties

from .here import Bench, Link

UNIQUE = "7F000001000018B4AAC2000000000001"


def send(
    link: Link,
    topic: str = "orders",
    *,
    kind: int = JSON,
    code: int = RequestCode.SEND_MESSAGE_V2,
    body: bytes = b"hello",
    properties: str = f"UNIQ_KEY\x01{UNIQUE}\x02TAGS\x01paid\x02",
    flag: int = 0,
    **more: Any,
) -> Command:
    """One send; letters of the short header as keywords."""
    fields = {
        "a": "shop", "b": topic, "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "99", "h": "5",
        "i": properties, "j": "0", "k": "false", "m": "false",
    }  # fmt: skip
    fields |= {letter: str(value) for letter, value in more.items()}
    link.opaque = getattr(link, "opaque", 1000) + 1  # type: ignore[attr-defined]
    request = Command(code, link.opaque, kind=kind, fields=fields, body=body, flag=flag)  # type: ignore[attr-defined]
    return link.say(request)


@pytest.mark.parametrize("kind", [JSON, BINARY])
def test_a_send_is_stored_and_answered(bench: Bench, link: Link, kind: int) -> None:
    first, second = send(link, kind=kind), send(link, kind=kind)
    assert (first.code, first.kind) == (0, kind)
    assert first.fields == {
        "msgId": first.fields["msgId"], "queueId": "0", "queueOffset": "0",
        "transactionId": UNIQUE, "MSG_REGION": "DefaultRegion", "TRACE_ON": "true",
    }  # fmt: skip
    assert second.fields["queueOffset"] == "1"
    log_offset = int(first.fields["msgId"][16:], 16)
    assert first.fields["msgId"][:16] == "7F00000100002A9F"
    record = bench.broker.store.record_at(log_offset)
    assert (record.topic, record.body, record.flag, record.born_ms) == (b"orders", b"hello", 5, 99)
    assert decode_properties(record.properties.decode()) == {
        "UNIQ_KEY": UNIQUE, "TAGS": "paid", "MSG_REGION": "DefaultRegion", "TRACE_ON": "true",
        "CLUSTER": "DefaultCluster",
    }  # fmt: skip


def test_the_quick_road_and_the_slow_one_end_in_the_same_record(bench: Bench, link: Link) -> None:
    quick = send(link)
    slow = send(link, properties=f"UNIQ_KEY\x01{UNIQUE}\x02TAGS\x01paid\x02CLUSTER\x01other\x02")
    assert {**quick.fields, "msgId": "", "queueOffset": ""} == {
        **slow.fields, "msgId": "", "queueOffset": "",
    }  # fmt: skip
    one, two = (
        bench.broker.store.record_at(int(answer.fields["msgId"][16:], 16))
        for answer in (quick, slow)
    )
    assert decode_properties(one.properties.decode()) == decode_properties(two.properties.decode())
    assert (one.flag, one.sys_flag, one.born_host) == (two.flag, two.sys_flag, two.born_host)


def test_an_unusual_header_is_served_all_the_same(bench: Bench, link: Link) -> None:
    link.feed(_frame(b'{"opaque":9,"extFields":{"b":"orders","e":0,"i":""},"code": 310}', b"x"))
    assert link.answers[9].code == ResponseCode.TOPIC_NOT_EXIST  # No template was named.
    bench.topic("orders")
    link.feed(_frame(b'{"opaque":10,"extFields":{"b":"orders","e":0,"i":""},"code": 310}', b"x"))
    assert link.answers[10].code == 0


def _frame(header: bytes, body: bytes) -> bytes:
    size = 4 + len(header) + len(body)
    return size.to_bytes(4, "big") + len(header).to_bytes(4, "big") + header + body


def test_a_missing_unique_id_is_made(bench: Bench, link: Link) -> None:
    answer = send(link, properties="TAGS\x01a\x02")
    assert len(answer.fields["transactionId"]) == 32
    assert answer.fields["transactionId"] != send(link, properties="").fields["transactionId"]


def test_one_way_sends_are_stored_and_not_answered(bench: Bench, link: Link) -> None:
    send(link)
    link.tell(Command(310, 5, flag=2, body=b"x", fields={
        "b": "orders", "e": "0", "i": f"UNIQ_KEY\x01{UNIQUE}\x02", "c": "TBW102", "d": "4",
    }))  # fmt: skip
    assert not link.answers
    queue = bench.broker.store.queue(b"orders", 0)
    assert queue is not None and queue.max_offset == 2


def test_unknown_topics_are_made_after_the_template(bench: Bench, link: Link) -> None:
    send(link, "fresh", d=3)
    topic = bench.broker.topics.find("fresh")
    assert topic is not None and topic.write_queue_count == 3 and topic.perm == 6
    send(link, "wide", d=99)
    wide = bench.broker.topics.find("wide")
    assert wide is not None and wide.write_queue_count == 8  # No more than the template has.


def test_without_auto_creation_there_is_no_topic(tmp_path: Path) -> None:
    with Bench(tmp_path, auto_create_topic=False) as bench:
        answer = send(bench.link())
        assert answer.code == ResponseCode.TOPIC_NOT_EXIST
        assert "topic[orders] not exist, apply first please!" in (answer.remark or "")


@pytest.mark.parametrize(
    ("topic", "more", "code"),
    [
        ("bad topic!", {}, ResponseCode.INVALID_PARAMETER),
        ("", {}, ResponseCode.INVALID_PARAMETER),
        ("t" * 128, {}, ResponseCode.INVALID_PARAMETER),
        ("../../etc", {}, ResponseCode.INVALID_PARAMETER),
        ("SCHEDULE_TOPIC_XXXX", {}, ResponseCode.NO_PERMISSION),
        ("RMQ_SYS_TRANS_HALF_TOPIC", {}, ResponseCode.NO_PERMISSION),
        ("orders", {"e": 4}, ResponseCode.INVALID_PARAMETER),
        ("orders", {"body": b""}, ResponseCode.MESSAGE_ILLEGAL),
        ("orders", {"body": b"x" * (64 * 1024 + 1)}, ResponseCode.MESSAGE_ILLEGAL),
        ("orders", {"properties": "k\x01" + "v" * 32768}, ResponseCode.MESSAGE_ILLEGAL),
        ("orders", {"properties": "TRAN_MSG\x01true\x02"}, ResponseCode.NO_PERMISSION),
        ("orders", {"properties": "TIMER_DELAY_SEC\x015\x02"}, ResponseCode.SYSTEM_ERROR),
        ("orders", {"m": "true", "body": b"not a batch"}, ResponseCode.MESSAGE_ILLEGAL),
    ],
)
def test_refusals(
    bench: Bench, link: Link, topic: str, more: dict[str, Any], code: ResponseCode
) -> None:
    bench.topic("orders", 4)
    answer = send(link, topic, **more)
    assert answer.code == code and answer.remark
    assert bench.broker.store.log.end == 0, "a refused send must store nothing"


def test_the_largest_message_passes(bench: Bench, link: Link) -> None:
    assert send(link, body=b"x" * 64 * 1024).code == 0


def batch(*bodies: bytes) -> bytes:
    data = b""
    for number, body in enumerate(bodies):
        properties = f"UNIQ_KEY\x01U{number}\x02KEYS\x01k{number}".encode()
        size = 22 + len(body) + len(properties)
        data += b"".join(each.to_bytes(4, "big") for each in (size, 0, 0, number, len(body)))
        data += body + len(properties).to_bytes(2, "big") + properties
    return data


@pytest.mark.parametrize("kind", [JSON, BINARY])
def test_a_batch_is_stored_side_by_side(bench: Bench, link: Link, kind: int) -> None:
    bench.topic("orders", 4)
    answer = send(
        link, kind=kind, code=RequestCode.SEND_BATCH_MESSAGE, m="true", e=2, properties="",
        body=batch(b"one", b"two", b"three"),
    )  # fmt: skip
    assert answer.code == 0 and answer.fields["queueOffset"] == "0"
    ids = answer.fields["msgId"].split(",")
    records = [bench.broker.store.record_at(int(each[16:], 16)) for each in ids]
    assert [record.body for record in records] == [b"one", b"two", b"three"]
    assert [record.queue_offset for record in records] == [0, 1, 2]
    assert [record.flag for record in records] == [0, 1, 2]
    assert records[1].properties == b"UNIQ_KEY\x01U1\x02KEYS\x01k1"  # Verbatim, as Java.
    assert bench.broker.store.find("orders", "k2", 0, 2**62, 10) == [records[2].log_offset]


def test_batches_never_cross_a_segment(bench: Bench, link: Link) -> None:
    bench.topic("orders")
    body = batch(*[b"x" * 10_000] * 6)
    for _ in range(40):  # 60 KB each into segments of 1 MiB
        answer = send(link, code=RequestCode.SEND_BATCH_MESSAGE, m="true", properties="", body=body)
        places = [int(each[16:], 16) >> 20 for each in answer.fields["msgId"].split(",")]
        assert len(set(places)) == 1


def test_a_full_disk_refuses_sends_and_serves_readers(bench: Bench, link: Link) -> None:
    place = int(send(link).fields["msgId"][16:], 16)
    bench.broker.store.disk_full = True
    refused = send(link)
    assert refused.code == ResponseCode.SERVICE_NOT_AVAILABLE and "disk" in (refused.remark or "")
    assert bench.broker.store.record_at(place).body == b"hello"
    bench.broker.store.disk_full = False
    assert send(link).fields["queueOffset"] == "1"


@pytest.mark.parametrize("batched", [False, True])
def test_a_disk_that_fills_at_the_roll_refuses_and_keeps_the_connection(
    bench: Bench, link: Link, batched: bool
) -> None:
    def full(base: int) -> Any:
        bench.broker.store.disk_full = True
        raise DiskFull("no room for the next segment")

    bench.topic("orders")
    bench.broker.store.log._make_segment = full  # type: ignore[attr-defined]
    more: dict[str, Any] = {"body": b"x" * 60_000}
    if batched:
        more = {
            "code": RequestCode.SEND_BATCH_MESSAGE, "m": "true", "properties": "",
            "body": batch(b"x" * 60_000),
        }  # fmt: skip
    codes = [send(link, **more).code for _ in range(20)]  # 1.2 MB into a segment of 1 MiB
    assert codes[0] == 0 and codes[-1] == ResponseCode.SERVICE_NOT_AVAILABLE
    queue = bench.broker.store.queue(b"orders", 0)
    assert queue is not None and queue.max_offset == codes.count(0)
