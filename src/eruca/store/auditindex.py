# SPDX-License-Identifier: Apache-2.0
"""The index, checked against the log: entry by entry, in the order in which both were written.

Nothing in an index file says how many slots it has. Its first entry is known, though, as soon as
the record that it belongs to is: where that entry lies tells the number of slots.
"""

import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from struct import Struct
from typing import Final

from eruca.store.disk import Disk
from eruca.store.index import ENTRY_SIZE, HEADER_SIZE, SECONDS_MAX, SLOT_SIZE, key_hash
from eruca.wire.properties import KEYS, TAGS, UNIQUE_KEY, decode_properties, java_hash
from eruca.wire.record import ROLLED_BACK, TRANSACTION_MASK, Record

HEADER: Final = Struct(">4q2i")
ENTRY: Final = Struct(">iqii")
PROBLEMS_MAX: Final = 100
BLOCK_COUNT: Final = 4096
SLOT_COUNT_USUAL: Final = 5_000_000
SEARCH_SIZE_MAX: Final = 64 * 1024 * 1024


class IndexAudit:
    """Is told every record of the log, in order, and compares."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        record_at: Callable[[int], Record | None],
        slot_count: int = 0,
    ) -> None:
        """`slot_count` is found out from a file whose first record `record_at` still has."""
        self._disk = disk
        self._directory = directory
        names = [name for name in disk.names(directory) if name.isdigit()]
        paths = [f"{directory}/{name}" for name in names]
        self._paths = deque(paths)
        self._last_path = paths[-1] if paths else directory
        self._file: _File | None = None
        self.problems: list[tuple[str, str]] = []
        self.file_count = len(names)
        self.key_count = 0
        self.missing_count = 0
        self._slot_count = slot_count or self._count_slots(paths, record_at)
        if not self._slot_count and paths:
            self._problem(directory, "cannot be read: how many slots have its files?")
            self._paths.clear()

    def is_unfinished(self, where: str) -> bool:
        """Whether the place of a problem is one that is whole only in a store that was closed."""
        return where == self._directory or where.startswith(self._last_path)

    def expect(self, record: Record, properties: dict[str, str]) -> None:
        """The keys of the next record of the log."""
        if record.sys_flag & TRANSACTION_MASK == ROLLED_BACK:
            return
        for hashed in _hashes(record.topic.decode("utf-8", "replace"), properties):
            self._compare(hashed, int(record.log_offset), int(record.store_ms))

    def finish(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the index, now that the log has been told."""
        if self._file is not None:
            self._finish_file(self._file)
        for path in self._paths:
            self._problem(path, "leads behind the end of the log")
        yield from self.problems

    def _compare(self, hashed: int, log_offset: int, store_ms: int) -> None:
        file = self._file_for(hashed, log_offset)
        if file is None or log_offset < file.next_log_offset:
            self.missing_count += 1
            return
        found = file.take()
        self.key_count += 1
        seconds = min(max((store_ms - file.begin_ms) // 1000, 0), SECONDS_MAX)
        older = file.newest[hashed % file.slot_count]
        if found != (hashed, log_offset, seconds, older):
            where = f"{file.path} entry {file.number - 1}"
            self._problem(where, f"is {found}, should be {(hashed, log_offset, seconds, older)}")
        file.newest[hashed % file.slot_count] = file.number - 1

    def _file_for(self, hashed: int, log_offset: int) -> "_File | None":
        """The file whose next entry belongs to this key, if there is one."""
        while self._file is None or self._file.is_done:
            if self._file is not None:
                self._finish_file(self._file)
                self._file = None
            if not self._paths:
                return None
            path = self._paths[0]
            header = self._disk.peek(path, 0, HEADER_SIZE)
            if len(header) < HEADER_SIZE:
                self._problem(path, "has no whole header")
                self._paths.popleft()
                continue
            if HEADER.unpack(header)[2] > log_offset:
                return None
            self._paths.popleft()
            self._file = _File(self._disk, path, header, self._slot_count)
            self._file.skip_below(log_offset)
        return self._file

    def _count_slots(self, paths: list[str], record_at: Callable[[int], Record | None]) -> int:
        """Found by where a first entry lies."""
        usual = HEADER_SIZE + SLOT_SIZE * SLOT_COUNT_USUAL + ENTRY_SIZE
        for path in paths:
            header = self._disk.peek(path, 0, HEADER_SIZE)
            if len(header) < HEADER_SIZE:
                continue
            begin_offset = HEADER.unpack(header)[2]
            record = record_at(begin_offset)
            if record is None:
                continue
            properties = decode_properties(record.properties.decode("utf-8", "replace"))
            for hashed in _hashes(record.topic.decode("utf-8", "replace"), properties):
                first = ENTRY.pack(hashed, begin_offset, 0, 0)
                if self._disk.peek(path, usual, ENTRY_SIZE) == first:
                    return SLOT_COUNT_USUAL
                at = self._disk.peek(path, 0, SEARCH_SIZE_MAX).find(first)
                if at >= 0:
                    return (at - ENTRY_SIZE - HEADER_SIZE) // SLOT_SIZE
        return 0

    def _finish_file(self, file: "_File") -> None:
        if not file.is_done:
            self._problem(file.path, f"entries from {file.number} on lead behind the log")
        for slot in file.wrong_slots():
            self._problem(f"{file.path} slot {slot}", "does not lead to its newest entry")

    def _problem(self, where: str, problem: str) -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append((where, problem))


class _File:
    """Entries of one file, one after the other; `newest` is what its slots should say."""

    def __init__(self, disk: Disk, path: str, header: bytes, slot_count: int) -> None:
        self.path = path
        self.begin_ms, _, _, _, _, entry_end = HEADER.unpack(header)
        self.slot_count = slot_count
        self.number = 1
        self.newest = array("i", bytes(SLOT_SIZE * slot_count))
        self._disk = disk
        self._entries_at = HEADER_SIZE + SLOT_SIZE * slot_count
        self._block_from, self._block = 0, b""
        room = (disk.size(path) - self._entries_at) // ENTRY_SIZE
        self.entry_end: int = min(entry_end, room)

    @property
    def is_done(self) -> bool:
        return self.number >= self.entry_end

    @property
    def next_log_offset(self) -> int:
        return self._at(self.number)[1]

    def take(self) -> tuple[int, int, int, int]:
        found = self._at(self.number)
        self.number += 1
        return found

    def skip_below(self, log_offset: int) -> None:
        """Pass over entries of records that the log has no more."""
        while not self.is_done and self.next_log_offset < log_offset:
            self.newest[self._at(self.number)[0] % self.slot_count] = self.number
            self.number += 1

    def wrong_slots(self) -> Iterator[int]:
        slots = self._disk.peek(self.path, HEADER_SIZE, SLOT_SIZE * self.slot_count)
        found = array("i", slots)
        if sys.byteorder == "little":
            found.byteswap()
        if found != self.newest:
            yield from (i for i in range(self.slot_count) if found[i] != self.newest[i])

    def _at(self, number: int) -> tuple[int, int, int, int]:
        at = (number - self._block_from) * ENTRY_SIZE
        if not 0 <= at < len(self._block):
            at = 0
            self._block_from = number
            place = self._entries_at + number * ENTRY_SIZE
            self._block = self._disk.peek(self.path, place, BLOCK_COUNT * ENTRY_SIZE)
        hashed, log_offset, seconds, older = ENTRY.unpack_from(self._block, at)
        return hashed, log_offset, seconds, older


def _hashes(topic: str, properties: dict[str, str]) -> Iterator[int]:
    """What the index keeps of a record's keys, in the order in which they are entered."""
    keys = [key for key in properties.get(KEYS, "").split(" ") if key]
    if UNIQUE_KEY in properties:
        keys.insert(0, properties[UNIQUE_KEY])
    if TAGS in properties:
        keys.append("T#" + properties[TAGS])
    for key in keys:
        yield int(key_hash(java_hash(f"{topic}#{key}") & 0xFFFFFFFF))
