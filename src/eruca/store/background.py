# SPDX-License-Identifier: Apache-2.0
"""What the store does beside serving: queue tails to their files, checkpoints, retention.

Tails are written in rounds. A round takes the queues that are dirty when it begins, has a thread
make the files that are missing, which costs most, and writes the tails a few milliseconds at a
time, so a million of them stop nobody. Many rounds of half-empty tails
would gain nothing, since the log has the entries, too: so after each one we rest for fifty times
what it cost. When it is over, every record that was there at its beginning stands in its queue's
file: that is what the next checkpoint says, once log, queues and index are synced, in this order.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, final

from eruca.clock import Timer
from eruca.errors import DiskFull
from eruca.store.checkpoint import Checkpoint
from eruca.store.consumequeue import ConsumeQueue

if TYPE_CHECKING:
    from eruca.store.store import Store

log = logging.getLogger("eruca.store")

CHECKPOINT_INTERVAL_MS: Final = 60_000  # As Java's thorough flush of the queues.
STEP_MS: Final = 2
STEP_INTERVAL_MS: Final = 8
REST_PER_WORK: Final = 50


@final
class Background:
    """The store's timers."""

    def __init__(self, store: "Store", checkpoint: Checkpoint) -> None:
        self._store = store
        self.checkpoint = checkpoint
        self._round: deque[ConsumeQueue] = deque()
        self._round_begin = self._now_reached()
        self._round_ns = 0  # What it has cost so far.
        self._written = checkpoint  # What the next checkpoint may say once all is synced.
        self._checkpoint_ms = store.clock.mono_ms()
        self._index_synced: set[str] = set()
        self._timers: dict[Callable[[], None], Timer] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed = False  # A sync failed: no checkpoint any more, the next start recovers.
        self._closed = False

    def start(self) -> None:
        self._later(self._store.settings.queue_flush_interval_ms, self._write_out_some)
        self._later(self._store.settings.clean_interval_ms, self._clean)

    async def close(self) -> bool:
        """Write, sync and checkpoint everything; whether the next start may trust it."""
        store = self._store
        self._closed = True
        store.retention.stop()
        for timer in self._timers.values():
            timer.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        store.writer.settle()
        await store.flusher.close()
        reached = self._now_reached()
        dirty = [*self._round, *store.queue_files.dirty]
        is_written = all(queue.write_out() for queue in dirty)
        if store.index is not None and store.index.is_behind:
            is_written = False
        if not is_written or store.flusher.failed is not None:
            log.error("not everything could be written, the next start recovers")
            return False
        self._written = reached
        return await self._make_checkpoint()

    def _later(self, ms: int, call: Callable[[], None]) -> None:
        if not self._closed:
            self._timers[call] = self._store.clock.call_later_ms(ms, call)

    def _spawn(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Tails.

    def _write_out_some(self) -> None:
        store = self._store
        if not self._round:
            self._round_begin = self._now_reached()
            self._round_ns = 0
            self._round.extend(store.queue_files.dirty)
            store.queue_files.dirty.clear()
            fresh = [queue for queue in self._round if store.queue_directory.begins_file(queue)]
            if fresh:
                self._spawn(self._make_files(fresh))
                return
        begin_ns = store.clock.mono_ns()
        stop_ns = begin_ns + STEP_MS * 1_000_000
        while self._round and store.clock.mono_ns() < stop_ns:
            if not self._round[0].write_out():
                self._later(store.settings.queue_flush_interval_ms, self._write_out_some)
                return
            self._round.popleft()
        self._round_ns += store.clock.mono_ns() - begin_ns
        if self._round:
            self._later(STEP_INTERVAL_MS, self._write_out_some)
            return
        self._written = self._round_begin
        rest_ms = min(self._round_ns * REST_PER_WORK // 1_000_000, CHECKPOINT_INTERVAL_MS)
        self._later(max(store.settings.queue_flush_interval_ms, rest_ms), self._write_out_some)
        now_ms = store.clock.mono_ms()
        if now_ms - self._checkpoint_ms >= CHECKPOINT_INTERVAL_MS:
            self._checkpoint_ms = now_ms
            self._spawn(self._checkpoint())

    async def _make_files(self, queues: list[ConsumeQueue]) -> None:
        """Make the files that the tails of `queues` go to, then go on with the round."""
        store = self._store
        try:
            paths = [store.queue_directory.next_file(queue) for queue in queues]
            await store.lazy_thread.run(store.queue_directory.make_files, paths)
        except (OSError, DiskFull):
            pass  # Writing the tails will find the same, and say so.
        for queue in queues:
            store.queue_directory.has_grown(queue)
            if store.queue(queue.topic, int(queue.queue_id)) is None:  # Deleted meanwhile.
                store.queue_directory.remove_queue(queue)
        self._later(0, self._write_out_some)

    # Retention.

    def _clean(self) -> None:
        self._spawn(self._clean_and_again())

    async def _clean_and_again(self) -> None:
        try:
            await self._store.retention.run()
        except OSError as error:
            log.error("cleaning failed error=%s", error)
        self._later(self._store.settings.clean_interval_ms, self._clean)

    # Checkpoints.

    def _now_reached(self) -> Checkpoint:
        """What a checkpoint would say if everything written by now were synced."""
        commit_log = self._store.log
        if commit_log.last_offset < 0:
            return self.checkpoint
        last_ms = int(commit_log.last_ms)
        return replace(
            self.checkpoint,
            log_ms=last_ms,
            queue_ms=last_ms,
            record_offset=int(commit_log.last_offset),
        )

    async def _checkpoint(self) -> None:
        await self._make_checkpoint()

    async def _make_checkpoint(self) -> bool:
        """Sync log, queues and index, in this order, and only then say so; whether it was said."""
        store = self._store
        reached = self._written
        if self._failed or (store.index is not None and store.index.is_behind):
            return False
        await store.flusher.catch_up()
        if store.flusher.failed is not None:
            return False
        paths = store.queue_directory.take_unsynced()
        try:
            await store.lazy_thread.run(store.queue_directory.sync_paths, paths)
            index_ms = await self._sync_index()
        except OSError as error:
            self._failed = True
            log.error("no checkpoint any more, the next start recovers error=%s", error)
            return False
        reached = replace(reached, index_ms=max(index_ms, reached.index_ms))
        path = f"{store.settings.root}/checkpoint"
        if reached == self.checkpoint and store.disk.exists(path):
            return True
        try:
            await store.lazy_thread.run(store.disk.replace, path, reached.encode())
        except OSError as error:
            log.error("the checkpoint stays where it was error=%s", error)
            return False
        self.checkpoint = reached
        return True

    async def _sync_index(self) -> int:
        """Sync the files that may have changed; the end time of the last full one."""
        store = self._store
        end_ms = 0
        for file in [] if store.index is None else list(store.index.files):
            if store.index is None or file not in store.index.files:
                continue  # Retention removed it in the meantime.
            is_full, file_ms = file.is_full, int(file.end_ms)
            if file.path not in self._index_synced:
                file.seal() if is_full else file.write_out()
                await store.lazy_thread.run(store.index_files.sync, file)
            if is_full:
                self._index_synced.add(file.path)
                end_ms = file_ms
        return end_ms
