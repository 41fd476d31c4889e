# SPDX-License-Identifier: Apache-2.0
"""One file of the commit log, in memory: a run of bytes that begins at log offset `base`.

Small writes go through the map, since a system call would cost more than they do. Large ones are
written: touching a fresh page through a map makes the kernel fill it with zeros first, which was
measured at four times the price of writing it. Where a sync follows every write all are written:
after each sync the first touch of a page faults again, and the sync interrupts every core for it.
"""

from collections.abc import Callable
from mmap import mmap
from typing import Final, final

from mypy_extensions import i64

PAGE_SIZE: Final = 4096  # From here on a system call is cheaper than its faults.

WriteAt = Callable[[int, int, bytes], None]


@final
class Segment:
    """`size` bytes of the log from `base` on. Offsets given to it count from its own start."""

    __slots__ = ("_map", "_write_at", "_write_size_min", "base", "file_id", "path", "size")

    def __init__(
        self,
        base: int,
        size: int,
        path: str,
        mapped: mmap,
        file_id: int,
        write_at: WriteAt,
        write_size_min: int = PAGE_SIZE,
    ) -> None:
        self.base: i64 = base
        self.size: i64 = size
        self.path = path
        self.file_id = file_id
        self._map = mapped
        self._write_at = write_at
        self._write_size_min: i64 = write_size_min

    def read(self, at: i64, end: i64) -> bytes:
        return self._map[at:end]

    def write(self, at: i64, data: bytes) -> None:
        assert at >= 0 and at + len(data) <= self.size
        if len(data) >= self._write_size_min:
            self._write_at(self.file_id, int(at), data)
        else:
            self._map[at : at + len(data)] = data

    def release(self) -> None:
        """Let go of the map; the segment is not used any more."""
        self._map.close()
