# SPDX-License-Identifier: Apache-2.0
"""By time, by key, by tag: compared with looking at every message."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eruca.errors import CorruptRecord
from eruca.store.lookup import earliest_ms, find_messages, first_stored_from, last_stored_to
from eruca.store.store import Store

from .forgetful import ForgetfulDisk
from .places import (
    HOST,
    MEMORY,
    StillClock,
    close,
    draft_of,
    open_store,
    put,
    small_settings,
    unpacked,
)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(-2, 200))
@settings(deadline=None, max_examples=50)
def test_by_time(steps: list[int], asked: int) -> None:
    disk = ForgetfulDisk()
    store = Store(small_settings(Path("/store")), HOST, disk, StillClock(), MEMORY)  # type: ignore[arg-type]
    times = []
    now_ms = 0
    for step in steps:
        now_ms += step
        times.append(now_ms)
        put(store, draft_of("a"), now_ms)
    queue = store.queue(b"a", 0)
    assert queue is not None
    later = [number for number, ms in enumerate(times) if ms >= asked]
    assert first_stored_from(store, queue, asked) == (later[0] if later else len(times))
    earlier = [number for number, ms in enumerate(times) if ms <= asked]
    assert last_stored_to(store, queue, asked) == (earlier[-1] if earlier else 0)
    assert earliest_ms(store, queue) == times[0]


def test_in_an_empty_queue(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    queue = store.writer.queue(store.writer.queues_of(b"a"), 0)
    assert (first_stored_from(store, queue, 5), last_stored_to(store, queue, 5)) == (0, 0)
    assert earliest_ms(store, queue) == -1
    close(store)


def test_times_of_a_recorded_store(tmp_path: Path) -> None:
    recorded = unpacked("golden-store", tmp_path)
    store = recorded.open()
    times: dict[tuple[str, int], list[int]] = {}
    for message in recorded.manifest["messages"]:
        for topic, queue_id, _ in message.get("consumeQueues", []):
            times.setdefault((topic, queue_id), []).append(message["storeTimestamp"])
    for (topic, queue_id), stored in times.items():
        queue = store.queue(topic.encode(), queue_id)
        assert queue is not None
        for ms in {*stored, stored[0] - 1, stored[-1] + 1}:
            first = next((n for n, each in enumerate(stored) if each >= ms), len(stored))
            assert first_stored_from(store, queue, ms) == first
    close(store)


def test_by_key_the_messages_themselves_are_compared(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    # Java's hash is the same for "Aa" and "BB": the index cannot tell them apart.
    for number in range(40):
        key = "Aa" if number % 2 else "BB"
        put(store, draft_of("t", 0, b"%d" % number, {"KEYS": f"{key} other", "TAGS": key}), number)
    put(store, draft_of("t", 0, b"unique", {"UNIQ_KEY": "Aa"}), 40)

    def found(key: str, begin: int = 0, end: int = 99, count: int = 99) -> list[bytes]:
        return [record.body for record in find_messages(store, "t", key, begin, end, count)]

    odd = [b"%d" % number for number in range(39, 0, -2)]
    assert found("Aa") == [b"unique", *odd]
    assert found("BB") == [b"%d" % number for number in range(38, -1, -2)]
    assert found("other") == [b"%d" % number for number in range(39, -1, -1)]
    assert found("T#Aa") == odd
    assert found("Aa", count=3) == [b"unique", b"39", b"37"]
    assert found("Aa", begin=10, end=13) == [b"13", b"11"]
    assert found("nothing") == [] and found("T#nothing") == [] and found("") == []
    assert find_messages(store, "u", "Aa", 0, 99, 9) == []
    close(store)


def test_by_place_in_the_log(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    first = put(store, draft_of("t", 0, b"first"))
    second = put(store, draft_of("t", 0, b"second"))
    assert store.record_at(int(first.log_offset)).body == b"first"
    assert store.record_at(int(second.log_offset)).body == b"second"
    for wrong in (-1, 1, int(second.log_offset) + 1, int(store.log.end), 2**40):
        with pytest.raises(CorruptRecord):
            store.record_at(wrong)
    close(store)
