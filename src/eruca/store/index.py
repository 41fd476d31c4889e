# SPDX-License-Identifier: Apache-2.0
"""The index: which records carry a key, newest first.

    header (40 bytes)
        | begin time:64 | end time:64 | begin log offset:64 | end log offset:64
        | used slots:32 | next entry:32 |
    slots      | newest entry of the chain:32 |  (0: empty)       5,000,000 by default
    entries    | key hash:32 | log offset:64 | seconds since begin:32 | older entry:32 |

Entry 0 is never used. A key is only its hash here, so whoever asks compares the key itself. While a
file grows its slots live in memory, and reach the file when it is full or closed; entries are
gathered and written in blocks. So nothing in a file can be trusted after a crash unless it was
full: the store rebuilds the last file from the log then.
"""

import sys
from collections.abc import Callable
from mmap import mmap
from typing import Final, final

from librt.strings import (
    BytesWriter,
    read_i32_be,
    read_i64_be,
    write_i32_be,
    write_i64_be,
)
from librt.vecs import vec
from mypy_extensions import i32, i64

from eruca.store.segment import WriteAt

HEADER_SIZE: Final = 40
SLOT_SIZE: Final = 4
ENTRY_SIZE: Final = 20
SECONDS_MAX: Final = 0x7FFFFFFF
GATHERED_SIZE_MAX: Final = 16 * 1024
NATIVE_IS_BIG: Final = sys.byteorder == "big"


def index_file_size(slot_count: int, entry_max: int) -> int:
    return HEADER_SIZE + SLOT_SIZE * slot_count + ENTRY_SIZE * entry_max


def key_hash(h: i64) -> i64:
    """What the index keeps of Java's hash of a key: its absolute value, as a signed 32-bit one."""
    if h == 0x80000000:
        return 0  # Java: the one value without an absolute one.
    return 0x100000000 - h if h > 0x80000000 else h


def _swapped(v: i64) -> i64:
    """A 32-bit number between the file's byte order and the machine's."""
    if NATIVE_IS_BIG:
        return v
    u = v & 0xFFFFFFFF
    u = (u & 0xFF) << 24 | (u & 0xFF00) << 8 | (u >> 8) & 0xFF00 | u >> 24
    return u - 0x100000000 if u >= 0x80000000 else u


@final
class IndexFile:
    """One file, mapped. `next_entry` is 1 in an empty one."""

    __slots__ = (
        "_gathered",
        "_gathered_from",
        "_map",
        "_slots",
        "_write_at",
        "begin_ms",
        "begin_offset",
        "end_ms",
        "end_offset",
        "entry_max",
        "file_id",
        "next_entry",
        "path",
        "slot_count",
        "used_slots",
    )  # fmt: skip

    def __init__(
        self,
        path: str,
        mapped: mmap,
        file_id: int,
        write_at: WriteAt,
        slot_count: int,
        entry_max: int,
    ) -> None:
        self.path = path
        self.file_id = file_id
        self._write_at = write_at
        self.slot_count: i64 = slot_count
        self.entry_max: i64 = entry_max
        self._map = mapped
        self._slots = vec[i32]()  # In the file's byte order; empty until the file grows.
        header = mapped[:HEADER_SIZE]
        self.begin_ms: i64 = read_i64_be(header, 0)
        self.end_ms: i64 = read_i64_be(header, 8)
        self.begin_offset: i64 = read_i64_be(header, 16)
        self.end_offset: i64 = read_i64_be(header, 24)
        self.used_slots: i64 = i64(read_i32_be(header, 32))
        self.next_entry: i64 = i64(read_i32_be(header, 36))
        if self.next_entry < 1:
            self.next_entry = 1
        self._gathered = BytesWriter()
        self._gathered_from: i64 = self.next_entry

    @property
    def is_full(self) -> bool:
        return self.next_entry >= self.entry_max

    def put(self, hashed: i64, log_offset: i64, store_ms: i64) -> None:
        """Add one key; the file is not full."""
        if len(self._slots) == 0:
            self._load_slots()
        slot = hashed % self.slot_count
        older = _swapped(i64(self._slots[slot]))
        if older <= 0 or older >= self.next_entry:
            older = 0
            self.used_slots += 1
        if self.next_entry <= 1:
            self.begin_ms = store_ms
            self.begin_offset = log_offset
        seconds = (store_ms - self.begin_ms) // 1000
        if seconds < 0:
            seconds = 0
        elif seconds > SECONDS_MAX:
            seconds = SECONDS_MAX
        entry = self._gathered
        write_i32_be(entry, i32(hashed))
        write_i64_be(entry, log_offset)
        write_i32_be(entry, i32(seconds))
        write_i32_be(entry, i32(older))
        self._slots[slot] = i32(_swapped(self.next_entry))
        self.next_entry += 1
        self.end_ms = store_ms
        self.end_offset = log_offset

    def settle(self) -> None:
        """End a turn: write out what was gathered once it is worth a system call."""
        if len(self._gathered) >= GATHERED_SIZE_MAX:
            self.write_out()

    def write_out(self) -> None:
        """Write what was gathered, and the header."""
        entries = self._gathered.getvalue()
        if len(entries) > 0:
            self._write_at(self.file_id, int(self._entry_at(self._gathered_from)), entries)
            self._gathered = BytesWriter()
            self._gathered_from = self.next_entry
            self._write_header()

    def _write_header(self) -> None:
        header = BytesWriter()
        write_i64_be(header, self.begin_ms)
        write_i64_be(header, self.end_ms)
        write_i64_be(header, self.begin_offset)
        write_i64_be(header, self.end_offset)
        write_i32_be(header, i32(self.used_slots))
        write_i32_be(header, i32(self.next_entry))
        self._map[:HEADER_SIZE] = header.getvalue()

    def find(
        self, hashed: i64, begin_ms: i64, end_ms: i64, count_max: i64, found: list[int]
    ) -> None:
        """Append to `found` the log offsets of the newest records with this hash and time."""
        self.write_out()
        number = self._newest(hashed % self.slot_count)
        while 0 < number < self.next_entry and len(found) < count_max:
            at = self._entry_at(number)
            entry = self._map[at : at + ENTRY_SIZE]
            time_ms = self.begin_ms + i64(read_i32_be(entry, 12)) * 1000
            is_in_time = begin_ms <= time_ms + 999 and time_ms <= end_ms
            if is_in_time and i64(read_i32_be(entry, 0)) == hashed:
                found.append(int(read_i64_be(entry, 4)))
            if time_ms + 999 < begin_ms:
                return  # Chains run back in time.
            older = i64(read_i32_be(entry, 16))
            if older >= number:
                return  # A damaged chain must not become a circle.
            number = older

    def write_slots(self) -> None:
        """Bring the slots in the file up to date."""
        if len(self._slots) > 0:
            self._map[HEADER_SIZE : self._entry_at(0)] = memoryview(self._slots).cast("B")

    def seal(self) -> None:
        """Write everything; the file, if it grows no more, then needs no memory of ours."""
        self.write_out()
        self.write_slots()
        self._slots = vec[i32]()

    def _load_slots(self) -> None:
        with memoryview(self._map) as whole, whole[HEADER_SIZE : self._entry_at(0)] as slots:
            self._slots = vec[i32](slots.cast("i"))

    def _newest(self, slot: i64) -> i64:
        """The newest entry in the chain of a slot."""
        if len(self._slots) > 0:
            return _swapped(i64(self._slots[slot]))
        at = HEADER_SIZE + SLOT_SIZE * slot
        return i64(read_i32_be(self._map[at : at + SLOT_SIZE], 0))

    def last_keys_of(self, log_offset: i64) -> int:
        """How many of the newest entries belong to the record at `log_offset`."""
        self.write_out()
        count = 0
        number = self.next_entry - 1
        while number > 0:
            at = self._entry_at(number)
            if read_i64_be(self._map[at : at + ENTRY_SIZE], 4) != log_offset:
                break
            count += 1
            number -= 1
        return count

    def _entry_at(self, number: i64) -> i64:
        return HEADER_SIZE + SLOT_SIZE * self.slot_count + ENTRY_SIZE * number


@final
class Index:
    """All files, oldest first. A new one comes from the `make_file` it was given.

    That one answers None on a full disk; keys then wait in memory for a file, so that a message
    whose record is in the log already need not be refused.
    """

    __slots__ = ("_make_file", "files", "waiting")

    def __init__(self, files: list[IndexFile], make_file: Callable[[], IndexFile | None]) -> None:
        self.files = files
        self._make_file = make_file
        self.waiting: list[tuple[int, int, int]] = []

    @property
    def end_offset(self) -> int:
        """The log offset of the last record indexed; -1 when there is none."""
        return int(self.files[-1].end_offset) if self.files else -1

    @property
    def is_behind(self) -> bool:
        """Whether keys wait for room on the disk."""
        return len(self.waiting) > 0

    def put(self, unsigned_hash: i64, log_offset: i64, store_ms: i64) -> None:
        """Add a key by Java's hash of it."""
        hashed = key_hash(unsigned_hash)
        if len(self.files) > 0 and len(self.waiting) == 0:
            last = self.files[-1]
            if not last.is_full:
                last.put(hashed, log_offset, store_ms)
                return
        if self._has_room():
            self.files[-1].put(hashed, log_offset, store_ms)
        else:
            self.waiting.append((int(hashed), int(log_offset), int(store_ms)))

    def settle(self) -> None:
        if len(self.files) > 0:
            self.files[-1].settle()

    def find(self, unsigned_hash: int, begin_ms: int, end_ms: int, count_max: int) -> list[int]:
        """Log offsets of records that may carry the key, newest first."""
        found: list[int] = []
        hashed = key_hash(unsigned_hash)
        for file in reversed(self.files):
            if len(found) >= count_max:
                break
            if file.next_entry > 1 and file.begin_ms <= end_ms and file.end_ms >= begin_ms:
                file.find(hashed, begin_ms, end_ms, count_max, found)
        return found

    def _has_room(self) -> bool:
        """Put the keys that wait into files, as far as there are any; True when all are in."""
        waiting = self.waiting
        self.waiting = []
        for i in range(len(waiting)):
            if not self._roll():
                self.waiting = waiting[i:]
                return False
            hashed, log_offset, store_ms = waiting[i]
            self.files[-1].put(hashed, log_offset, store_ms)
        return self._roll()

    def _roll(self) -> bool:
        """Have a last file that is not full."""
        if len(self.files) > 0 and not self.files[-1].is_full:
            return True
        file = self._make_file()
        if file is None:
            return False
        if len(self.files) > 0:
            full = self.files[-1]
            full.seal()
            file.begin_ms, file.begin_offset = full.end_ms, full.end_offset
            file.end_ms, file.end_offset = full.end_ms, full.end_offset
        self.files.append(file)
        return True
