# SPDX-License-Identifier: Apache-2.0
"""One owner, a clean end, and the background work."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from eruca.clock import Clock
from eruca.errors import StoreLocked
from eruca.store.checkpoint import Checkpoint
from eruca.store.disk import Disk
from eruca.store.store import Store

from .places import (
    HOST,
    MEMORY,
    abandon,
    close,
    contents_of,
    draft_of,
    open_store,
    put,
    small_settings,
)


def test_only_one_process_may_have_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    script = f"""
from eruca.errors import StoreLocked
from eruca.store.disk import Disk
try:
    Disk().lock({str(tmp_path / "lock")!r})
except StoreLocked:
    print("held")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "held\n", done.stderr
    assert (tmp_path / "lock").read_bytes() == b"lock"
    close(store)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "", done.stderr


def test_a_failed_start_lets_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        """A disk that cannot read the log."""

        def __init__(self) -> None:
            self.disk = Disk()
            self.closed: list[int] = []

        def __getattr__(self, name: str) -> object:
            return getattr(self.disk, name)

        def map(self, path: str, size: int, *, allocate: bool = True) -> object:
            raise OSError(5, "input/output error")

        def close(self, file_id: int) -> None:
            self.closed.append(file_id)
            self.disk.close(file_id)

    disk = Broken()
    with pytest.raises(OSError):
        Store(small_settings(tmp_path), HOST, disk, Clock(), MEMORY)  # type: ignore[arg-type]
    assert len(disk.closed) == 1
    with pytest.raises(StoreLocked):
        raise StoreLocked("a name that is used above")


def test_abort_tells_whether_it_was_closed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert (tmp_path / "abort").read_text() == str(os.getpid())
    close(store)
    assert not (tmp_path / "abort").exists()
    abandon(open_store(tmp_path))
    assert (tmp_path / "abort").exists()
    close(open_store(tmp_path))
    assert (tmp_path / "abort.bak").exists()  # As Java leaves it.


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen in 10 s")


def test_the_background_writes_and_makes_segments_ahead(tmp_path: Path) -> None:
    async def scene() -> None:
        settings = small_settings(tmp_path, queue_flush_interval_ms=10, flush_interval_ms=10)
        store = Store(settings, HOST, Disk(), Clock(), MEMORY)
        store.start()
        await until(lambda: store.ahead.is_ready)
        assert len(list((tmp_path / "commitlog").iterdir())) == 2
        for number in range(100):
            put(store, draft_of("t", number % 5, b"x" * 100))
        queues = store.writer.topics[b"t"].queues.values()
        await until(lambda: all(queue.tail_from == queue.max_offset for queue in queues))
        await until(lambda: store.log.flushed == store.log.end)
        store._background._checkpoint_ms -= 60_000
        await until(lambda: checkpoint(tmp_path).record_offset == store.log.last_offset)
        await store.close()

    asyncio.run(scene())
    assert len(list((tmp_path / "commitlog").iterdir())) == 3  # None that is empty.
    store = open_store(tmp_path)
    assert sum(len(queue) for queue in contents_of(store).values()) == 100
    close(store)


def checkpoint(root: Path) -> Checkpoint:
    return Checkpoint.decode((root / "checkpoint").read_bytes())


def test_removed_topics_are_gone_and_stay_gone(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, draft_of("old", 0))
    put(store, draft_of("new", 0))
    close(store)
    store = open_store(tmp_path)
    put(store, draft_of("old", 1))
    store.remove_topic(b"old")
    put(store, draft_of("new", 0))
    close(store)
    assert [path.name for path in (tmp_path / "consumequeue").iterdir()] == ["new"]
    store = open_store(tmp_path)
    assert set(contents_of(store)) == {("new", 0)}
    close(store)


def test_thousands_of_queues_need_few_open_files(tmp_path: Path) -> None:
    store = open_store(tmp_path, segment_size=1 << 22)
    for number in range(3000):
        put(store, draft_of(f"topic-{number // 3}", number % 3))
    before = len(os.listdir("/proc/self/fd"))
    for queue in list(store.queue_files.dirty):
        queue.write_out()
    assert len(os.listdir("/proc/self/fd")) - before <= 512
    close(store)
    store = open_store(tmp_path, segment_size=1 << 22)
    assert len(contents_of(store)) == 3000
    close(store)


def test_files_made_for_a_deleted_topic_go_again(tmp_path: Path) -> None:
    async def scene() -> None:
        settings = small_settings(tmp_path, queue_flush_interval_ms=5)
        store = Store(settings, HOST, Disk(), Clock(), MEMORY)
        may_make, began = threading.Event(), threading.Event()
        make_files = store.queue_directory.make_files

        def make_late(paths: list[str]) -> None:
            began.set()
            may_make.wait(10)
            make_files(paths)

        store.queue_directory.make_files = make_late  # type: ignore[method-assign]
        put(store, draft_of("gone"))
        put(store, draft_of("kept"))
        store.start()
        await until(began.is_set)
        store.remove_topic(b"gone")
        may_make.set()
        kept = store.queue(b"kept", 0)
        assert kept is not None
        await until(lambda: kept.tail_from == kept.max_offset)
        await store.close()

    asyncio.run(scene())
    assert not (tmp_path / "consumequeue" / "gone" / "0").exists()
    assert (tmp_path / "consumequeue" / "kept" / "0" / "00000000000000000000").exists()
