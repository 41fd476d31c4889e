# SPDX-License-Identifier: Apache-2.0
"""When bytes become durable, and answers may leave: one write and one sync for many.

A promise to a producer is a log position. The answers of a turn are kept until the round of the
loop is over: then everything that its turns appended is written at once. Those whose promise is
kept by then leave; the others wait, ordered by position, and leave together when
`CommitLog.flushed` has passed them. While the disk thread syncs, further answers gather; the next
sync serves them all (group commit). With asynchronous flush the promise lies a window behind the
end of the log, so answers wait only when the disk falls that far behind.

A sync that fails is final: the system may have dropped the dirty pages, so nothing written since
may be promised. The store stops writing and the next start recovers.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar, final

from eruca.clock import Clock, Timer
from eruca.errors import DiskFull
from eruca.store.commitlog import CommitLog
from eruca.store.files import SegmentFiles
from eruca.store.segment import Segment
from eruca.store.writer import Writer

log = logging.getLogger("eruca.store")

T = TypeVar("T")


class Receiver(Protocol):
    """Whoever waits for answers: a connection."""

    def release(self, data: bytes) -> None: ...


@final
class DiskThread:
    """Where calls that block on the disk run, one after the other."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    def run(self, call: Callable[..., T], *args: object) -> "asyncio.Future[T]":
        return asyncio.get_running_loop().run_in_executor(self._pool, call, *args)

    def close(self) -> None:
        self._pool.shutdown(wait=True)


@final
class Flusher:
    """Moves `flushed` forward and lets answers go."""

    def __init__(
        self,
        writer: Writer,
        files: SegmentFiles,
        thread: DiskThread,
        clock: Clock,
        *,
        interval_ms: int,
        dirty_size_max: int,
        timeout_ms: int,
        late_answers: Callable[[bytes], bytes],
    ) -> None:
        self._writer = writer
        self._log: CommitLog = writer.log
        self._files = files
        self._thread = thread
        self._clock = clock
        self._interval_ms = interval_ms
        self._dirty_size_max = dirty_size_max
        self._timeout_ms = timeout_ms
        self._late_answers = late_answers  # Says in answers that the flush took too long.
        self._round: list[tuple[int, Receiver, bytes]] = []
        self._held: deque[tuple[int, int, Receiver, bytes]] = deque()
        self._running: asyncio.Task[None] | None = None
        self._timer: Timer | None = None
        self._asked_again = False
        self.failed: Exception | None = None
        self.on_failure: Callable[[], None] = lambda: None
        self.on_flush: Callable[[], None] = lambda: None

    def start(self) -> None:
        self._timer = self._clock.call_later_ms(self._interval_ms, self._tick)

    def hold(self, promise: int, peer: Receiver, answers: bytes) -> None:
        """Release `answers` to `peer` once all is written, and durable up to `promise`."""
        if not self._round:
            self._clock.call_later_ms(0, self.end_round)
        self._round.append((promise, peer, answers))

    def end_round(self) -> None:
        """Write what the turns of this round appended, and let their answers go or wait."""
        ended, self._round = self._round, []
        if not ended:
            return
        try:
            self._writer.settle()
        except (OSError, DiskFull) as error:
            self._fail(error)
        flushed = self._log.flushed
        waiting = []
        for promise, peer, answers in ended:
            if promise <= flushed and self.failed is None:
                peer.release(answers)
            else:
                waiting.append((promise, peer, answers))
        if waiting:
            deadline_ms = self._clock.mono_ms() + self._timeout_ms
            self._held.extend(
                (promise, deadline_ms, peer, answers) for promise, peer, answers in waiting
            )
            self.request()

    def request(self) -> None:
        """Have everything written so far synced soon."""
        self._asked_again = True
        if self._running is None and self._log.flushed < self._log.end and self.failed is None:
            self._running = asyncio.get_running_loop().create_task(self._run())

    async def catch_up(self) -> None:
        """Return when everything written by now is durable, or the disk has failed."""
        target = self._log.end
        while self._log.flushed < target and self.failed is None:
            self.request()
            if self._running is not None:
                await asyncio.wait((self._running,))

    async def close(self) -> None:
        """Sync what is left, so that every answer held has left. Then nothing runs any more."""
        if self._timer is not None:
            self._timer.cancel()
        self.end_round()
        await self.catch_up()
        if self._running is not None:
            await asyncio.wait((self._running,))

    def _tick(self) -> None:
        self.request()
        now_ms = self._clock.mono_ms()
        while self._held and self._held[0][1] <= now_ms:
            _, _, peer, answers = self._held.popleft()
            peer.release(self._late_answers(answers))
        self._timer = self._clock.call_later_ms(self._interval_ms, self._tick)

    async def _run(self) -> None:
        try:
            while True:
                self._asked_again = False
                self._log.settle()
                target = self._log.end
                dirty = self._dirty_segments()
                await self._thread.run(self._sync, dirty)
                self._log.flushed = max(self._log.flushed, target)
                self._release()
                self.on_flush()
                if not self._held and not self._asked_again and not self._is_far_behind():
                    return
        except (OSError, DiskFull) as error:
            self._fail(error)
        finally:
            self._running = None

    def _fail(self, error: Exception) -> None:
        self.failed = error
        log.error("the log cannot be written, sends are refused until a restart error=%s", error)
        self.on_failure()

    def _is_far_behind(self) -> bool:
        return self._log.end - self._log.flushed > self._dirty_size_max // 2

    def _dirty_segments(self) -> list[Segment]:
        flushed = self._log.flushed
        return [
            s for s in self._log.segments if s.base + s.size > flushed and s.base < self._log.end
        ]

    def _sync(self, dirty: list[Segment]) -> None:
        for segment in dirty:
            self._files.sync(segment)

    def _release(self) -> None:
        flushed = self._log.flushed
        held = self._held
        while held and held[0][0] <= flushed:
            _, _, peer, answers = held.popleft()
            peer.release(answers)
