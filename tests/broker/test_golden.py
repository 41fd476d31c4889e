# SPDX-License-Identifier: Apache-2.0
"""Requests recorded from Java clients: the broker answers what Java's broker answered.

The recorded broker had seen more than this one, so numbers and times differ, and the order of what
Java keeps in hash tables. Compared are the code, the names of the fields, and the shape of bodies:
every member by name and type.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from eruca.broker.requests import TABLE
from eruca.wire import javajson
from eruca.wire.fields import MessageQueue
from eruca.wire.header import Command, decode_frame

from .here import Bench, Link, consumer, records

VECTORS = Path(__file__).parent.parent / "golden" / "vectors"
FILES = ("broker-data", "client-java", "admin", "binary")
ELSEWHERE = {10, 11, 310, 320, 361, 223}  # Sends and pulls; what a client answers: test_relays.py.
NOT_HERE_YET = {"java-check-client": "the recorded broker had expressions enabled"}


def recorded() -> dict[str, Any]:
    entries = {}
    for file in FILES:
        for entry in json.loads((VECTORS / f"{file}.json").read_text()):
            entries[entry["name"]] = entry
    return entries


FRAMES = recorded()


def frame(name: str) -> Command:
    return decode_frame(bytes.fromhex(FRAMES[name]["frame_hex"]))


def names() -> list[Any]:
    """The recorded requests that the table serves, and one that nobody does."""
    found = []
    for name in FRAMES:
        stem = name.removesuffix(".req")
        if name.endswith(".req") and f"{stem}.rsp" in FRAMES:
            code = frame(name).code
            if (code in TABLE and code not in ELSEWHERE) or code == 9999:
                reason = NOT_HERE_YET.get(stem)
                marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
                found.append(pytest.param(stem, marks=marks))
    return found


# Members whose value is a table: its keys are data, not names.
TABLES = {
    "offsetTable", "pullOffsetTable", "topicConfigTable", "subscriptionGroupTable", "data",
    "groupTopicMap", "forbiddenTable", "subscriptionTable",
}  # fmt: skip


def shape(value: Any, name: str = "") -> Any:
    """The value without its data: names and types."""
    if isinstance(value, dict):
        kinds = {key_kind(key) for key in value}
        if name in TABLES or (kinds and "text" not in kinds):
            return ["table", sorted(kinds), sorted({repr(shape(each)) for each in value.values()})]
        return {key: shape(each, key) for key, each in sorted(value.items())}
    if isinstance(value, list):
        return ["list", sorted({repr(shape(each)) for each in value})]
    return type(value).__name__


def key_kind(key: Any) -> str:
    if isinstance(key, MessageQueue):
        return "queue"
    return "number" if str(key).isdigit() else "text"


def as_it_was(bench: Bench) -> Link:
    """Bring the broker to where the recorded one was, as far as the requests look."""
    bench.topic("GoldenTopic", 4)
    bench.topic("RpcTopic", 4)
    offsets = bench.broker.offsets
    for queue_id, count in enumerate((6, 4, 2, 2)):
        for number in range(count):
            key = f"pk{number}" if queue_id == 0 else f"other{number}"
            unique = f"7F00000100002A9F18B4{queue_id:04X}{number:08X}"
            tags = {"TAGS": "TagA", "KEYS": key, "UNIQ_KEY": unique}
            bench.put("GoldenTopic", b"hello", queue_id, after_ms=10, **tags)
        for group in ("g_push", "g_lite", "g_order", "py_cons", "py_pop"):
            offsets.commit(group, "GoldenTopic", queue_id, queue_id % 2)
            offsets.commit_pull(group, "GoldenTopic", queue_id, queue_id % 2 + 1)
    bench.broker.delays.offsets.update({1: 1, 3: 1})
    link = bench.link()
    link.say(frame("hb.req"))
    link.beat(consumer("g_push", "GoldenTopic"), client_id="192.0.2.2@push1")
    return link


def prepared(bench: Bench, link: Link, name: str) -> Command:
    """The recorded request, where it must name something of this broker."""
    request = frame(f"{name}.req")
    match name:
        case "view-msg" | "sendback" | "java-send-back":
            request.fields["offset"] = str(bench.put("GoldenTopic"))
        case "query-key" | "query-uniq":
            request.fields["endTimestamp"] = str(bench.clock.ms)
        case "qoff-none" | "java-query-offset":
            bench.broker.offsets.remove_group(request.fields["consumerGroup"])
        case "java-query-offset-miss":
            bench.broker.offsets.remove_group(request.fields["consumerGroup"])
            request.fields["topic"] = "RpcTopic"
        case "hbV2-nosub":
            link.say(frame("hbV2-first.req"))
    return request


@pytest.mark.parametrize("name", names())
def test_answers_are_java_s(bench: Bench, name: str) -> None:
    link = as_it_was(bench)
    mine, java = link.say(prepared(bench, link, name)), frame(f"{name}.rsp")
    for member in ("code", "opaque", "flag", "language", "version", "kind"):
        assert getattr(mine, member) == getattr(java, member), (member, mine.remark)
    assert mine.fields.keys() == java.fields.keys()
    if java.body[:1] == b"{":
        assert shape(javajson.loads(mine.body)) == shape(javajson.loads(java.body))
    elif java.body:
        assert len(records(mine.body)) == len(records(java.body))
    else:
        assert not mine.body
