# SPDX-License-Identifier: Apache-2.0
"""Where records come to lie, and what does not fit."""

from pathlib import Path

import pytest

from eruca.errors import CorruptRecord, MessageTooLarge
from eruca.wire.record import MAGIC_BLANK, RECORD_SIZE_MIN

from .places import close, draft_of, open_store, put

SEGMENT_SIZE = 8192


def sized(size: int) -> bytes:
    """A body that makes a record of topic `a` have `size` bytes."""
    return b"x" * (size - RECORD_SIZE_MIN - 1)


@pytest.mark.parametrize("left", [0, 1, 7, 8, 9, 50])
def test_a_record_needs_room_for_the_blank_behind_it(tmp_path: Path, left: int) -> None:
    """Java: eight bytes more than it has itself must be left, or it goes to the next segment."""
    store = open_store(tmp_path, message_size_max=7000)
    first = put(store, draft_of("a", 0, sized(4000)))
    assert (first.log_offset, first.size) == (0, 4000)
    second = put(store, draft_of("a", 0, sized(SEGMENT_SIZE - 4000 - left)))
    if left >= 8:
        assert second.log_offset == 4000
    else:
        assert second.log_offset == SEGMENT_SIZE
        blank = store.log.read(4000, 8)
        assert int.from_bytes(blank[:4], "big") == SEGMENT_SIZE - 4000
        assert int.from_bytes(blank[4:], "big", signed=True) == MAGIC_BLANK
    third = put(store, draft_of("a", 0, sized(200)))
    assert third.log_offset == (SEGMENT_SIZE if left >= 8 else second.log_offset + second.size)
    close(store)
    store = open_store(tmp_path)
    queue = store.queue(b"a", 0)
    assert queue is not None and queue.max_offset == 3
    assert [queue.log_offset_of(number) for number in range(3)] == [
        0, second.log_offset, third.log_offset,
    ]  # fmt: skip
    close(store)


def test_a_batch_is_never_split(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, draft_of("a", 0, sized(4000)))
    store.log.reserve(3 * 2000)
    offsets = [int(put(store, draft_of("a", 0, sized(2000))).log_offset) for _ in range(3)]
    assert offsets == [8192, 10192, 12192]
    with pytest.raises(MessageTooLarge):
        store.log.reserve(SEGMENT_SIZE - 7)
    close(store)


def test_what_is_too_large_changes_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path, message_size_max=3000)
    put(store, draft_of("a", 0, b"1"))
    end = int(store.log.end)
    with pytest.raises(MessageTooLarge):
        put(store, draft_of("a", 0, bytes(SEGMENT_SIZE)))
    with pytest.raises(MessageTooLarge):
        put(store, draft_of("a", 0, bytes(3000 + 64 * 1024)))
    assert store.log.end == end
    assert put(store, draft_of("a", 0, b"2")).queue_offset == 1
    close(store)


def test_reads_outside_are_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for _ in range(100):
        put(store, draft_of("a", 0, sized(300)))
    end = int(store.log.end)
    for offset, size in ((-1, 5), (end, 1), (end - 5, 6), (0, -1), (8190, 10), (2**60, 1)):
        with pytest.raises(CorruptRecord):
            store.log.read(offset, size)
    assert store.log.read(end, 0) == b""
    close(store)


def test_readers_see_what_the_turn_has_gathered(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    draft = draft_of("a", 0, b"not settled")
    store.writer.append(draft, store.writer.queues_of(b"a"), 5)
    assert store.record_at(0).body == b"not settled"
    close(store)
