# SPDX-License-Identifier: Apache-2.0
"""Answers leave when the log is durable, all that wait together, and never before."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from eruca.clock import Clock
from eruca.config import FlushMode
from eruca.store.disk import Disk
from eruca.store.store import Store
from eruca.wire.header import Command, decode_frame, encode

from .forgetful import ForgetfulDisk
from .places import HOST, MEMORY, draft_of, put, small_settings


class Gate:
    """Holds back syncs of a disk until it is opened, and counts them."""

    def __init__(self, disk: ForgetfulDisk) -> None:
        self.entered = 0
        self.count = 0
        self.error: OSError | None = None
        self._loop_open = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._sync = disk.sync
        disk.sync = self.sync  # type: ignore[method-assign]

    def open(self) -> None:
        self._loop_open.set()

    def sync(self, file_id: int) -> None:
        self.entered += 1
        asyncio.run_coroutine_threadsafe(self._loop_open.wait(), self._loop).result(10)
        self.count += 1
        if self.error is not None:
            raise self.error
        self._sync(file_id)


class Receiver:
    def __init__(self) -> None:
        self.got: list[bytes] = []

    def release(self, data: bytes) -> None:
        self.got.append(data)


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen in 5 s")


def open_store(disk: Any, **changes: Any) -> Store:
    return Store(small_settings(Path("/store"), **changes), HOST, disk, Clock(), MEMORY)


def test_one_sync_serves_all_who_wait() -> None:
    async def scene() -> None:
        disk = ForgetfulDisk()
        store = open_store(disk)
        gate = Gate(disk)
        first, others = Receiver(), Receiver()
        put(store, draft_of("a"))
        store.flusher.hold(int(store.log.end), first, b"first")
        await until(lambda: gate.entered == 1)  # Its sync is under way.
        for number in range(10):
            put(store, draft_of("a"))
            store.flusher.hold(int(store.log.end), others, b"%d" % number)
        await asyncio.sleep(0.05)
        assert first.got == [] and others.got == []
        gate.open()
        await until(lambda: len(others.got) == 10)
        assert first.got == [b"first"]
        assert others.got == [b"%d" % number for number in range(10)]
        assert gate.count == 2  # The one under way, and one for all who came meanwhile.
        assert store.log.flushed == store.log.end
        await store.close()

    asyncio.run(scene())


@pytest.mark.parametrize("flush", FlushMode)
def test_one_write_serves_a_round_and_answers_come_after_it(flush: FlushMode) -> None:
    async def scene() -> None:
        disk = ForgetfulDisk()
        store = open_store(disk, flush_mode=flush)
        written: list[int] = []
        write_at = disk.write_at

        def count(file_id: int, at: int, data: bytes) -> None:
            written.append(len(data))
            write_at(file_id, at, data)

        store.log.segments[0]._write_at = count
        peer = Receiver()
        for waits in ("true", "false", "true"):
            draft = draft_of("a", properties={"WAIT": waits})
            store.writer.append(draft, store.writer.queues_of(b"a"), 1)
            store.flusher.hold(int(store.writer.take_promise()), peer, waits.encode())
            assert not written and not peer.got
        await until(lambda: len(peer.got) == 3)
        assert written == [store.log.end]
        await store.close()

    asyncio.run(scene())


def test_a_failed_write_is_final_and_nobody_is_answered() -> None:
    async def scene() -> None:
        disk = ForgetfulDisk()
        store = open_store(disk)

        def fail(file_id: int, at: int, data: bytes) -> None:
            raise OSError(5, "input/output error")

        store.log.segments[0]._write_at = fail
        peer = Receiver()
        store.writer.append(draft_of("a"), store.writer.queues_of(b"a"), 1)
        store.flusher.hold(int(store.writer.take_promise()), peer, b"answer")
        await until(lambda: store.flusher.failed is not None)
        assert not store.writable
        with suppress(OSError):
            await store.close()
        assert peer.got == []
        assert disk.exists("/store/abort")

    asyncio.run(scene())


def test_what_is_durable_already_does_not_wait() -> None:
    async def scene() -> None:
        disk = ForgetfulDisk()
        store = open_store(disk)
        put(store, draft_of("a"))
        await store.flusher.catch_up()
        peer = Receiver()
        gate = Gate(disk)
        store.flusher.hold(int(store.log.end), peer, b"now")
        await until(lambda: peer.got == [b"now"])
        assert gate.entered == 0
        await store.close()

    asyncio.run(scene())


def test_who_waits_too_long_is_told() -> None:
    async def scene() -> None:
        disk = ForgetfulDisk()
        store = open_store(disk, sync_flush_ms_max=20, flush_interval_ms=10)
        store.start()
        gate = Gate(disk)
        peer = Receiver()
        put(store, draft_of("a"))
        sent = Command(0, 7, kind=1, flag=1, fields={"msgId": "X", "queueOffset": "0"})
        pulled = Command(0, 8, kind=0, flag=1, fields={"nextBeginOffset": "3"}, body=b"records")
        store.flusher.hold(int(store.log.end), peer, encode(sent) + encode(pulled))
        await until(lambda: bool(peer.got))
        answers = peer.got[0]
        assert decode_frame(answers[: len(answers) - len(encode(pulled))]).code == 10
        assert answers.endswith(encode(pulled))
        gate.open()
        await store.close()
        assert len(peer.got) == 1

    asyncio.run(scene())


def test_a_failed_sync_is_final() -> None:
    async def scene() -> None:
        disk = ForgetfulDisk()
        store = open_store(disk)
        gate = Gate(disk)
        gate.error = OSError(5, "input/output error")
        gate.open()
        peer = Receiver()
        put(store, draft_of("a"))
        store.flusher.hold(int(store.log.end), peer, b"answer")
        await until(lambda: store.flusher.failed is not None)
        assert not store.writable
        gate.error = None  # The disk says that all is well again: the pages are lost all the same.
        store.flusher.hold(int(store.log.end), peer, b"answer")
        await store.close()
        assert peer.got == []
        assert disk.exists("/store/abort")

    asyncio.run(scene())


@pytest.mark.parametrize("flush", FlushMode)
def test_closing_lets_every_answer_go(tmp_path: Path, flush: FlushMode) -> None:
    async def scene() -> None:
        settings = small_settings(tmp_path / "store", flush_mode=flush)
        store = Store(settings, HOST, Disk(), Clock(), MEMORY)
        store.start()
        peer = Receiver()
        for _ in range(100):
            put(store, draft_of("a"))
            store.flusher.hold(int(store.log.end), peer, b"answer")
        await store.close()
        assert len(peer.got) == 100

    asyncio.run(scene())


def test_the_disk_begins_before_anybody_waits() -> None:
    async def scene() -> None:
        disk = ForgetfulDisk()
        store = open_store(disk, flush_interval_ms=1_000_000, dirty_size_max=4000)
        store.start()
        gate = Gate(disk)
        put(store, draft_of("a"))
        store.writer.settle()
        await asyncio.sleep(0)
        assert gate.entered == 0
        while store.log.end < 1000:  # A quarter of what may be dirty.
            put(store, draft_of("a"))
            store.writer.settle()
        await until(lambda: gate.entered == 1)
        gate.open()
        await until(lambda: store.log.flushed == store.log.end)
        await store.close()

    asyncio.run(scene())
