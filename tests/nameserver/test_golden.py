# SPDX-License-Identifier: Apache-2.0
"""Frames recorded from a Java name server: each request gives the recorded answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from eruca.wire import javajson, registration
from eruca.wire.bodies import DataVersion, TopicConfig
from eruca.wire.fields import to_json
from eruca.wire.header import Command, decode_frame, encode

from .here import Bench

VECTORS = Path(__file__).parent.parent / "golden" / "vectors" / "namesrv.json"
FRAMES = {entry["name"]: entry for entry in json.loads(VECTORS.read_text())}
NAMES = [name.removesuffix(".req") for name in FRAMES if name.endswith(".req")]

UNORDERED = {"topics", "systopics"}  # Java: the order of a hash set.


def frame(name: str) -> Command:
    return decode_frame(bytes.fromhex(FRAMES[name]["frame_hex"]))


def as_it_was() -> Bench:
    """A name server that has heard what the recorded one had."""
    bench = Bench(order_topics=True)
    first = frame("java-register-broker.req")
    assert bench.answer(first).code == 0
    # Topics were added after the recorded registration; this one repeats it with all of them.
    body = registration.decode(first.body)
    for name in javajson.loads(FRAMES["topics.rsp"]["body_text"])["topicList"]:
        body.topics.topics.setdefault(name, TopicConfig(name, 4, 4))
    body.topics.data_version = DataVersion(0, 1795031165089, 9)
    first.body = javajson.dumps(to_json(body))
    first.fields["bodyCrc32"] = str(registration.crc_of(first.body))
    assert bench.answer(first).code == 0
    bench.answer(frame("kvput.req"))
    return bench


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_java_s(name: str) -> None:
    bench = Bench() if name == "java-register-broker" else as_it_was()
    mine, java = bench.answer(frame(f"{name}.req")), frame(f"{name}.rsp")
    mine = decode_frame(encode(mine))
    for member in ("code", "opaque", "flag", "language", "version", "kind", "fields"):
        assert getattr(mine, member) == getattr(java, member), member
    if name == "nsupd":  # Ours goes on to say which key it was.
        assert mine.remark is not None and java.remark is not None
        assert mine.remark.startswith(java.remark) and "kvConfigPath" in mine.remark
    else:
        assert mine.remark == java.remark
    if name in UNORDERED:
        assert unordered(mine.body) == unordered(java.body)
    else:
        assert mine.body == java.body


def unordered(body: bytes) -> Any:
    value = javajson.loads(body)
    value["topicList"] = sorted(value["topicList"])
    return value
