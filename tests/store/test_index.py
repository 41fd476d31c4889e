# SPDX-License-Identifier: Apache-2.0
"""Chains, times and full files."""

import struct
from pathlib import Path

from eruca.store.index import HEADER_SIZE, Index, key_hash
from eruca.store.store import Store

from .places import StillClock, close, draft_of, open_store, put


def index_of(store: Store) -> Index:
    assert store.index is not None
    return store.index


def test_hashes_have_no_sign() -> None:
    assert key_hash(5) == 5
    assert key_hash(0xFFFFFFFF) == 1
    assert key_hash(0x80000001) == 0x7FFFFFFF
    assert key_hash(0x80000000) == 0  # Java: the one value without an absolute one.


def test_newest_first_across_files(tmp_path: Path) -> None:
    store = open_store(tmp_path, index_slot_count=3, index_entry_count=7)
    for number in range(50):
        put(store, draft_of("t", 0, b"", {"KEYS": "same"}), 1000 * number)
    assert len(index_of(store).files) == 9  # Six in each: entry 0 is never used.
    offsets = [int(store.queue(b"t", 0).log_offset_of(n)) for n in range(50)]  # type: ignore[union-attr]
    assert store.find("t", "same", 0, 10**6, 100) == offsets[::-1]
    assert store.find("t", "same", 0, 10**6, 3) == offsets[:-4:-1]
    assert store.find("t", "same", 10_000, 12_000, 100) == offsets[12:9:-1]
    assert store.find("t", "same", 50_000, 60_000, 100) == []
    close(store)
    store = open_store(tmp_path, index_slot_count=3, index_entry_count=7)
    assert store.find("t", "same", 0, 10**6, 100) == offsets[::-1]
    close(store)


def test_times_are_whole_seconds_but_nothing_is_missed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for ms in (500, 1499, 1500, 2499):
        put(store, draft_of("t", 0, b"", {"KEYS": "k"}), ms)
    for ms in (500, 1499, 1500, 2499):
        assert store.find("t", "k", ms, ms, 9)
    close(store)


def test_a_clock_that_steps_back_is_no_harm(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, draft_of("t", 0, b"", {"KEYS": "k"}), 100_000)
    put(store, draft_of("t", 0, b"", {"KEYS": "k"}), 50_000)
    assert len(store.find("t", "k", 0, 200_000, 9)) == 2
    close(store)


def test_files_are_named_in_order_whatever_the_clock_says(tmp_path: Path) -> None:
    clock = StillClock()
    store = open_store(tmp_path, clock=clock, index_entry_count=4)
    for _ in range(20):
        put(store, draft_of("t", 0, b"", {"KEYS": "a b c"}))
        clock.ms -= 3_600_000
    names = [file.path for file in index_of(store).files]
    assert len(names) == 20 and names == sorted(names)
    close(store)


def test_a_damaged_chain_is_no_circle(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for _ in range(5):
        put(store, draft_of("t", 0, b"", {"KEYS": "k"}))
    close(store)
    path = next((tmp_path / "index").iterdir())
    data = bytearray(path.read_bytes())
    for number in range(1, 6):  # Every entry leads to the last one.
        struct.pack_into(">i", data, HEADER_SIZE + 4 * 50 + 20 * number + 16, 5)
    store = open_store(tmp_path)
    path.write_bytes(data)
    assert len(store.find("t", "k", 0, 2**62, 99)) <= 5
    close(store)


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    store = open_store(tmp_path, index=False)
    put(store, draft_of("t", 0, b"", {"KEYS": "k"}))
    assert store.find("t", "k", 0, 2**62, 9) == []
    close(store)
    assert not (tmp_path / "index").exists()
    store = open_store(tmp_path)  # And on again: what is in the log is found.
    assert len(store.find("t", "k", 0, 2**62, 9)) == 1
    close(store)
