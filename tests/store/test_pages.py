# SPDX-License-Identifier: Apache-2.0
"""Pages are fetched ahead of the log where that takes long, and left alone where it does not."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from eruca.store.commitlog import CommitLog
from eruca.store.disk import Disk
from eruca.store.pages import AHEAD_SIZE, CHEAP_NS_PER_MIB, CHEAP_REST, GAP_SIZE, Pages

from .places import StillClock

SEGMENT_SIZE = 4 * AHEAD_SIZE
BASE = SEGMENT_SIZE  # The second segment of a log.


class Segment:
    base, size, path = BASE, SEGMENT_SIZE, "segment"


class Log:
    """What Pages looks at."""

    def __init__(self) -> None:
        self.segments = [Segment()]
        self.end = BASE


class Memory(StillClock):
    """A disk, and a clock that stands unless something is fetched: that takes time."""

    def __init__(self, ns_per_mib: int) -> None:
        super().__init__()
        self.ns = 0
        self.ns_per_mib = ns_per_mib
        self.fetched: list[tuple[int, int]] = []
        self.error: OSError | None = None

    def mono_ns(self) -> int:
        return self.ns

    def prefetch(self, path: str, at: int, size: int) -> None:
        assert path == Segment.path
        if self.error is not None:
            raise self.error
        self.fetched.append((at, at + size))
        self.ns += self.ns_per_mib * size // (1 << 20)


async def grown(pages: Pages, log: Log, size: int) -> None:
    log.end += size
    pages.reached(cast(CommitLog, log))
    while pages._work is not None:
        await asyncio.wait((pages._work,))


def scene(memory: Memory, sizes: list[int]) -> None:
    async def run() -> None:
        pages, log = Pages(cast(Disk, memory), memory), Log()
        for size in sizes:
            await grown(pages, log, size)
        await pages.close()

    asyncio.run(run())


def test_dear_pages_are_fetched_once_each_and_a_gap_ahead() -> None:
    memory = Memory(2 * CHEAP_NS_PER_MIB)
    scene(memory, [0] + [GAP_SIZE] * 200)
    begins, ends = zip(*memory.fetched, strict=True)
    assert begins[0] == GAP_SIZE
    assert begins[1:] == ends[:-1]
    assert ends[-1] == SEGMENT_SIZE  # And nothing beyond the segment.


def test_a_log_that_was_faster_is_not_followed_but_overtaken() -> None:
    memory = Memory(2 * CHEAP_NS_PER_MIB)
    scene(memory, [0, 2 * AHEAD_SIZE])
    assert memory.fetched[1][0] == 2 * AHEAD_SIZE + GAP_SIZE


def test_cheap_pages_are_only_looked_at_now_and_then() -> None:
    memory = Memory(CHEAP_NS_PER_MIB // 4)
    scene(memory, [1 << 20] * (CHEAP_REST + 1) * 3)
    assert len(memory.fetched) == 3


def test_the_log_manages_without() -> None:
    memory = Memory(2 * CHEAP_NS_PER_MIB)
    memory.error = OSError(5, "input/output error")
    scene(memory, [0, GAP_SIZE])


@pytest.mark.parametrize("size", [1, 128 * 1024, 10 << 20])
def test_fetching_changes_nothing(tmp_path: Path, size: int) -> None:
    disk = Disk()
    file = disk.map(str(tmp_path / "file"), 32 << 20)
    disk.write_at(file.file_id, 5000, b"written")
    disk.prefetch(file.path, 4096, size)
    disk.prefetch(file.path, 30 << 20, size)  # Over the end: what there is.
    assert file.map[5000:5007] == b"written"
    assert disk.size(file.path) == 32 << 20
    disk.unmap(file)
