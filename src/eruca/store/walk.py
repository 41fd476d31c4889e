# SPDX-License-Identifier: Apache-2.0
"""The records of a log directory in order, without a broker and without writing.

For tools: nothing is mapped, nothing is trusted, sizes are those of the files found. A record in
doubt is reported, and the walk goes on in the next segment.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eruca.store.disk import Disk
from eruca.store.files import is_offset_name
from eruca.wire.record import BLANK, BLANK_SIZE_MIN, check

WINDOW_SIZE: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogFile:
    base: int
    size: int
    path: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes of the log: a sound record at `data[at : at + size]`, or a place where there is none.

    `size` is 0 where the log, or what is left of it, ends: `is_end` when only zeros follow.
    """

    log_offset: int
    data: bytes
    at: int
    size: int
    is_end: bool = False


def log_files(disk: Disk, directory: str) -> list[LogFile]:
    names = [name for name in disk.names(directory) if is_offset_name(name)]
    paths = [f"{directory}/{name}" for name in names]
    return [
        LogFile(int(name), disk.size(path), path) for name, path in zip(names, paths, strict=True)
    ]


def walk(disk: Disk, files: list[LogFile], begin: int, *, verify: bool = True) -> Iterator[Stretch]:
    """Every record from log offset `begin` on, which is where a record or a file begins."""
    for file in files:
        if file.base + file.size > begin:
            yield from _walk_file(disk, file, max(begin - file.base, 0), verify)


def _walk_file(disk: Disk, file: LogFile, start: int, verify: bool) -> Iterator[Stretch]:
    window = WINDOW_SIZE
    while file.size - start >= BLANK_SIZE_MIN:
        data = disk.peek(file.path, start, window)
        at = 0
        while (size := check(data, at, len(data), file.base + start + at, verify)) > 0:
            yield Stretch(file.base + start + at, data, at, size)
            at += size
        if size == BLANK:
            return
        left = file.size - start - at
        wanted = int.from_bytes(data[at : at + 4], "big", signed=True)
        is_cut = len(data) < file.size - start  # The file goes on behind the window.
        if is_cut and (len(data) - at < BLANK_SIZE_MIN or len(data) - at < wanted <= left):
            window = max(WINDOW_SIZE, wanted + BLANK_SIZE_MIN)
            start += at
            continue
        yield Stretch(
            file.base + start + at, data, at, 0, is_end=_only_zeros(disk, file, start + at)
        )
        return


def _only_zeros(disk: Disk, file: LogFile, at: int) -> bool:
    return not any(any(chunk) for chunk in disk.chunks(file.path, at))
