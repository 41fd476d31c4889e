# SPDX-License-Identifier: Apache-2.0
"""From where to where a consume queue goes, read off its files without mapping them.

Entries fill a file from its start; behind them are zeros. After a crash there may be more behind
them: entries that were never synced, some of their sectors old, some new. So then an entry counts
only if it leads below `cut_at`, up to where the queues were known to be synced. Blocks of 128
entries are compared by their first one, which never crosses a sector; inside a block entries
count as long as they lead upwards.
"""

from dataclasses import dataclass
from itertools import pairwise
from struct import Struct
from typing import Final

from eruca.store.consumequeue import ENTRY_SIZE
from eruca.store.disk import Disk
from eruca.store.files import is_offset_name

ENTRY: Final = Struct(">qiq")
BLOCK_COUNT: Final = 128
BLOCK_SIZE: Final = BLOCK_COUNT * ENTRY_SIZE
GAP_SIZE: Final = 0x7FFFFFFF
NO_CUT: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Extent:
    """Queue offsets [min, max), and the log offset of the last entry.

    Damaged: behind the last entry that can be had there are others.
    """

    min_offset: int
    max_offset: int
    last_log_offset: int
    is_damaged: bool = False


def extent_of(
    disk: Disk, directory: str, file_size: int, log_begin: int, cut_at: int = NO_CUT
) -> Extent | None:
    """What the queue in `directory` holds; None when it has no file."""
    bases = [int(name) for name in disk.names(directory) if is_offset_name(name)]
    if not bases:
        return None
    files = [_QueueFile(disk, f"{directory}/{base:020d}", base, file_size) for base in bases]
    is_damaged = False
    for file in reversed(files):
        count = file.count_below(cut_at)
        is_damaged = is_damaged or file.has_entries_behind(count, cut_at)
        if count > 0:
            last = file.log_offset_of(count - 1)
            max_offset = file.base // ENTRY_SIZE + count
            first = max_offset
            if last >= log_begin:
                first = _min_offset(files, max_offset, log_begin)
            return Extent(first, max_offset, last, is_damaged)
    first = bases[0] // ENTRY_SIZE
    return Extent(first, first, -1, is_damaged)


def _min_offset(files: list["_QueueFile"], max_offset: int, log_begin: int) -> int:
    """The first offset whose record the log still has."""
    for file in files:
        first = file.base // ENTRY_SIZE
        count = min(file.entry_count, max_offset - first)
        if file.leads_into(count - 1, log_begin):
            low, high = 0, count - 1
            while low < high:
                middle = (low + high) // 2
                if file.leads_into(middle, log_begin):
                    high = middle
                else:
                    low = middle + 1
            return first + low
    return max_offset


class _QueueFile:
    """One file of a queue, read block by block."""

    def __init__(self, disk: Disk, path: str, base: int, file_size: int) -> None:
        self.base = base
        self.entry_count = file_size // ENTRY_SIZE
        self._disk = disk
        self._path = path
        self._block_at = -1
        self._block = b""

    def count_below(self, cut_at: int) -> int:
        """How many entries from the first one on are sound and lead below `cut_at`."""
        low, high = 0, (self.entry_count - 1) // BLOCK_COUNT
        if self._count_in_block(0, cut_at) < min(BLOCK_COUNT, self.entry_count):
            high = 0
        while low < high:
            middle = (low + high + 1) // 2
            log_offset, size = self._entry(middle * BLOCK_COUNT)
            if size > 0 and 0 <= log_offset < cut_at:
                low = middle
            else:
                high = middle - 1
        return low * BLOCK_COUNT + self._count_in_block(low, cut_at)

    def has_entries_behind(self, count: int, cut_at: int) -> bool:
        """Whether sound entries follow close behind the first `count`.

        After a crash one alone may be two halves of sectors, one old and one new.
        """
        number = count // BLOCK_COUNT
        if count >= self.entry_count:
            return False
        behind = self._block_of(number)[(count % BLOCK_COUNT + 1) * ENTRY_SIZE :]
        behind = behind[: len(behind) // ENTRY_SIZE * ENTRY_SIZE]
        if not behind.strip(b"\0"):
            return False
        sound = [
            size > 0 and 0 <= log_offset < cut_at
            for log_offset, size, _ in ENTRY.iter_unpack(behind)
        ]
        if cut_at == NO_CUT:
            return any(sound)
        return any(one and other for one, other in pairwise(sound))

    def leads_into(self, number: int, log_begin: int) -> bool:
        log_offset, size = self._entry(number)
        return log_offset >= log_begin and size != GAP_SIZE

    def log_offset_of(self, number: int) -> int:
        return self._entry(number)[0]

    def _entry(self, number: int) -> tuple[int, int]:
        block = self._block_of(number // BLOCK_COUNT)
        at = number % BLOCK_COUNT * ENTRY_SIZE
        if at + ENTRY_SIZE > len(block):
            return -1, 0
        log_offset, size, _ = ENTRY.unpack_from(block, at)
        return log_offset, size

    def _count_in_block(self, block_number: int, cut_at: int) -> int:
        block = self._block_of(block_number)
        count, previous = 0, -1
        for log_offset, size, _ in ENTRY.iter_unpack(
            block[: len(block) // ENTRY_SIZE * ENTRY_SIZE]
        ):
            if size <= 0 or not 0 <= log_offset < cut_at:
                break
            if cut_at != NO_CUT and size != GAP_SIZE:
                if log_offset <= previous:
                    break
                previous = log_offset
            count += 1
        return count

    def _block_of(self, number: int) -> bytes:
        if number != self._block_at:
            size = min(BLOCK_SIZE, self.entry_count * ENTRY_SIZE - number * BLOCK_SIZE)
            self._block = self._disk.peek(self._path, number * BLOCK_SIZE, size)
            self._block_at = number
        return self._block
