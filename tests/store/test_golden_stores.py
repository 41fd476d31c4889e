# SPDX-License-Identifier: Apache-2.0
"""Stores that Java wrote are served as they are: every message, every queue, every key."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from eruca.store.store import Store
from eruca.wire.properties import decode_properties
from eruca.wire.record import Record

from .places import Recorded, close, contents_of, records_of, unpacked

NAMES = ["golden-store", "golden-store-unclean", "golden-store-ext"]


@pytest.fixture(params=NAMES)
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Recorded:
    return unpacked(request.param, tmp_path)


def assert_same(record: Record, message: Any) -> None:
    assert record.log_offset == message["physicalOffset"]
    assert record.size == message["size"]
    assert record.topic.decode() == message["topic"]
    assert record.queue_id == message["queueId"]
    assert record.queue_offset == message["queueOffset"]
    assert record.sys_flag == message["sysFlag"]
    assert record.flag == message["flag"]
    assert record.born_ms == message["bornTimestamp"]
    assert record.store_ms == message["storeTimestamp"]
    assert record.reconsume_count == message["reconsumeTimes"]
    assert record.prepared_offset == message["preparedTransactionOffset"]
    assert record.body_crc == message["bodyCRC"]
    assert hashlib.sha1(record.body).hexdigest() == message["bodySha1"]
    properties = {key: value for key, value in message["properties"].items() if value}
    assert decode_properties(record.properties.decode()) == properties


def assert_whole(store: Store, manifest: Any) -> None:
    messages = {message["physicalOffset"]: message for message in manifest["messages"]}
    assert store.log.end == manifest["files"]["maxPhysicalOffset"]
    for offset, message in messages.items():
        assert_same(store.record_at(offset), message)
    expected = {
        (topic, int(queue_id)): (bounds["min"], bounds["max"])
        for topic, queues in manifest["queues"].items()
        for queue_id, bounds in queues.items()
    }
    served = {
        (topic.decode(), queue_id): (queue.min_offset, queue.max_offset)
        for topic, queues in store.writer.topics.items()
        for queue_id, queue in queues.queues.items()
    }
    assert served == expected
    places = {
        (topic, queue_id, offset): message
        for message in messages.values()
        for topic, queue_id, offset in message.get("consumeQueues", [])
    }
    for topic, queue_id in expected:
        offset = expected[topic, queue_id][0]
        for record in records_of(store, topic, queue_id):
            assert_same(record, places.pop((topic, queue_id, offset)))
            offset += 1
    assert not places


def assert_indexed(store: Store, manifest: Any) -> None:
    for message in manifest["messages"]:
        properties = message["properties"]
        keys = properties.get("KEYS", "").split()
        if "UNIQ_KEY" in properties:
            keys.append(properties["UNIQ_KEY"])
        if "TAGS" in properties:
            keys.append("T#" + properties["TAGS"])
        for key in keys:
            found = store.find(message["topic"], key, 0, 2**62, 10_000)
            assert message["physicalOffset"] in found, (key, message["physicalOffset"])


def test_every_message_is_served(recorded: Recorded) -> None:
    store = recorded.open()
    assert_whole(store, recorded.manifest)
    assert_indexed(store, recorded.manifest)
    close(store)


def test_and_after_being_closed_and_opened_again(recorded: Recorded) -> None:
    store = recorded.open()
    close(store)
    store = recorded.open()
    assert store.index is not None and store.index.waiting == []
    assert_whole(store, recorded.manifest)
    assert_indexed(store, recorded.manifest)
    close(store)


@pytest.mark.parametrize("missing", ["consumequeue", "index", "checkpoint", "both"])
def test_what_is_missing_is_rebuilt_from_the_log(recorded: Recorded, missing: str) -> None:
    for name in ["consumequeue", "index"] if missing == "both" else [missing]:
        path = recorded.root / name
        path.unlink() if path.is_file() else shutil.rmtree(path)
    store = recorded.open()
    assert_whole(store, recorded.manifest)
    assert_indexed(store, recorded.manifest)
    close(store)


def test_what_java_does_not_let_us_touch_stays(tmp_path: Path) -> None:
    recorded = unpacked("golden-store-unclean", tmp_path)
    others = ["batchconsumequeue", "timerwheel", "timerlog", "config"]
    files = [
        file
        for name in others
        for file in [recorded.root / name, *(recorded.root / name).rglob("*")]
    ]
    before = {file: file.read_bytes() for file in files if file.is_file()}
    store = recorded.open()
    contents_of(store)
    close(store)
    assert {file: file.read_bytes() for file in before} == before
