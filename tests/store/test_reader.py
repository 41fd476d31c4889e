# SPDX-License-Identifier: Apache-2.0
"""What a pull gets, at every edge."""

from pathlib import Path

import pytest

from eruca.store.reader import (
    FOUND,
    MESSAGE_WAS_REMOVING,
    NO_MATCHED_MESSAGE,
    NO_MESSAGE_IN_QUEUE,
    OFFSET_OVERFLOW_BADLY,
    OFFSET_OVERFLOW_ONE,
    OFFSET_TOO_SMALL,
    Limits,
    Slice,
    read_slice,
    store_ms_at,
)
from eruca.store.store import Store
from eruca.wire.properties import java_hash

from .places import close, draft_of, open_store, put


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Queue a/0: ten records of 100 bytes, every second one tagged `odd`."""
    store = open_store(tmp_path)
    for number in range(10):
        put(
            store,
            draft_of("a", 0, b"%d" % number, {"TAGS": "odd" if number % 2 else "not"}),
            number,
        )
    return store


def pull(
    store: Store,
    offset: int,
    count: int = 32,
    size: int = 1 << 20,
    tags: list[str] | None = None,
    limits: Limits | None = None,
    visible: int | None = None,
) -> Slice:
    codes = None if tags is None else frozenset(java_hash(tag) for tag in tags)
    queue = store.writer.queue(store.writer.queues_of(b"a"), 0)
    seen = int(store.log.end) if visible is None else visible
    return read_slice(store.log, queue, offset, count, size, codes, limits or store.limits, seen)


def test_statuses(store: Store) -> None:
    end = int(store.log.end)
    assert (pull(store, 10).status, pull(store, 10).next_offset) == (OFFSET_OVERFLOW_ONE, 10)
    assert (pull(store, 11).status, pull(store, 11).next_offset) == (OFFSET_OVERFLOW_BADLY, 10)
    assert (pull(store, -1).status, pull(store, -1).next_offset) == (OFFSET_TOO_SMALL, 0)
    empty = store.writer.queue(store.writer.queues_of(b"b"), 0)
    found = read_slice(store.log, empty, 5, 1, 1, None, store.limits, end)
    assert (found.status, found.next_offset) == (NO_MESSAGE_IN_QUEUE, 0)
    close(store)


def test_records_come_as_they_lie_in_the_log(store: Store) -> None:
    found = pull(store, 0)
    assert (found.status, found.count, found.next_offset) == (FOUND, 10, 10)
    assert found.body == store.log.read(0, int(store.log.end))
    assert not found.far_behind
    close(store)


def test_tags_are_compared_by_hash(store: Store) -> None:
    found = pull(store, 0, tags=["odd"])
    assert (found.count, found.next_offset) == (5, 10)
    found = pull(store, 0, count=2, tags=["not"])
    assert (found.count, found.next_offset) == (2, 3)
    found = pull(store, 0, tags=["other"])
    assert (found.status, found.count, found.next_offset) == (NO_MATCHED_MESSAGE, 0, 10)
    assert pull(store, 0, tags=["odd", "not"]).count == 10
    close(store)


def test_limits(store: Store) -> None:
    record = int(store.log.end) // 10
    assert pull(store, 0, count=3).count == 3
    assert pull(store, 0, size=1).count == 1  # The first one always comes.
    assert pull(store, 0, size=3 * record).count == 3
    assert pull(store, 0, size=3 * record - 1).count == 2
    near = Limits(5 * record, 100, 2 * record, 100, 1 << 30)
    assert pull(store, 0, limits=near).count == 5
    assert pull(store, 0, limits=Limits(1 << 20, 4, 1, 1, 1 << 30)).count == 4
    far = Limits(1 << 20, 100, 2 * record, 100, 0)
    assert pull(store, 0, limits=far).count == 2
    assert pull(store, 0, limits=far).far_behind
    assert pull(store, 0, limits=Limits(1 << 20, 100, 1 << 20, 3, 0)).count == 3
    close(store)


def test_nothing_is_shown_before_it_is_durable(store: Store) -> None:
    record = int(store.log.end) // 10
    found = pull(store, 0, visible=4 * record)
    assert (found.count, found.next_offset) == (4, 4)
    found = pull(store, 4, visible=4 * record + record // 2)
    assert (found.status, found.next_offset, found.body) == (OFFSET_OVERFLOW_ONE, 4, b"")
    close(store)


def test_damaged_entries_are_passed_over(store: Store, tmp_path: Path) -> None:
    close(store)
    path = next((tmp_path / "consumequeue" / "a" / "0").iterdir())
    data = bytearray(sound := path.read_bytes())
    data[0:20] = bytes(20)
    data[20:32] = (2**40).to_bytes(8, "big") + (100).to_bytes(4, "big")
    data[40:52] = (0).to_bytes(8, "big") + (0x7FFFFFFF).to_bytes(4, "big")
    store = open_store(tmp_path)
    path.write_bytes(data)
    found = pull(store, 0, count=2)
    assert (found.status, found.count, found.next_offset) == (MESSAGE_WAS_REMOVING, 0, 2)
    found = pull(store, 0)
    assert (found.status, found.count, found.next_offset) == (FOUND, 7, 10)
    close(store)
    path.write_bytes(sound)
    store = open_store(tmp_path)
    path.unlink()  # All of them.
    found = pull(store, 0)
    assert (found.status, found.count, found.next_offset) == (MESSAGE_WAS_REMOVING, 0, 10)
    close(store)


def test_store_times(store: Store) -> None:
    queue = store.writer.queue(store.writer.queues_of(b"a"), 0)
    assert [int(store_ms_at(store.log, queue, number)) for number in (0, 7, 10)] == [0, 7, -1]
    close(store)


def test_long_queues_cross_tail_and_files(tmp_path: Path) -> None:
    """2100 entries: 70 files, and what is not written yet."""
    store = open_store(tmp_path, segment_size=1 << 20)
    for number in range(2100):
        put(store, draft_of("a", 0, b"%d" % number))
    queue = store.writer.queue(store.writer.queues_of(b"a"), 0)
    assert 0 < queue.tail_from < 2100
    for offset in range(0, 2100, 7):
        found = pull(store, offset, count=32)
        assert found.next_offset == min(offset + 32, 2100)
        first = int(queue.log_offset_of(offset))
        assert found.body == store.log.read(first, len(found.body))
    close(store)
