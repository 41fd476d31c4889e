# SPDX-License-Identifier: Apache-2.0
"""One file of the commit log: a run of bytes that begins at log offset `base`.

It is read through its map, and written with one system call for each round of the loop. Writing
through the map would be no cheaper: the first touch of a fresh page makes the kernel fill it with
zeros, each sync makes the next touch fault again and interrupts every core for it, and whoever
touches a page on its way to the disk may wait 20 ms for it.
"""

from collections.abc import Callable
from mmap import mmap
from typing import final

from mypy_extensions import i64

WriteAt = Callable[[int, int, bytes], None]


@final
class Segment:
    """`size` bytes of the log from `base` on. Offsets given to it count from its own start."""

    __slots__ = ("_map", "_write_at", "base", "file_id", "path", "size")

    def __init__(
        self, base: int, size: int, path: str, mapped: mmap, file_id: int, write_at: WriteAt
    ) -> None:
        self.base: i64 = base
        self.size: i64 = size
        self.path = path
        self.file_id = file_id
        self._map = mapped
        self._write_at = write_at

    def read(self, at: i64, end: i64) -> bytes:
        return self._map[at:end]

    def write(self, at: i64, data: bytes) -> None:
        assert at >= 0 and at + len(data) <= self.size
        self._write_at(self.file_id, int(at), data)

    def release(self) -> None:
        """Let go of the map; the segment is not used any more."""
        self._map.close()
