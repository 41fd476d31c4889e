# SPDX-License-Identifier: Apache-2.0
"""The next segment, made before it is needed.

Having the disk reserve room for a segment blocks, so a thread of its own does it as soon as the
one before it is taken. A log that rolls before that is done makes the segment by itself.
"""

import asyncio
import logging
from typing import Final, final

from eruca.clock import Clock, Timer
from eruca.errors import DiskFull
from eruca.store.commitlog import CommitLog
from eruca.store.files import SegmentFiles
from eruca.store.flush import DiskThread
from eruca.store.segment import Segment

log = logging.getLogger("eruca.store")

RETRY_MS: Final = 1000


@final
class Ahead:
    """Keeps one segment ready."""

    def __init__(self, files: SegmentFiles, clock: Clock) -> None:
        self._files = files
        self._clock = clock
        self._thread = DiskThread("ahead")
        self._log: CommitLog | None = None  # None: not begun yet, or stopped.
        self._ready: Segment | None = None
        self._work: asyncio.Task[None] | None = None
        self._retry: Timer | None = None

    @property
    def is_ready(self) -> bool:
        return self._ready is not None

    def start(self, commit_log: CommitLog) -> None:
        """Begin; needs a running loop."""
        self._log = commit_log
        self._begin()

    def take(self, base: int) -> Segment | None:
        """The segment that begins at `base`, if it is ready."""
        segment = self._ready
        if segment is None or segment.base != base:
            return None
        self._ready = None
        self._begin()
        return segment

    async def close(self) -> None:
        """Stop; a segment that nobody took is removed."""
        self._log = None
        if self._retry is not None:
            self._retry.cancel()
        if self._work is not None:
            await asyncio.wait((self._work,))
        self._thread.close()
        if self._ready is not None:
            self._files.remove(self._ready)

    def _begin(self) -> None:
        if self._log is not None and self._work is None:
            self._work = asyncio.get_running_loop().create_task(self._make(self._log))

    async def _make(self, commit_log: CommitLog) -> None:
        try:
            while self._ready is None:
                made: Segment = await self._thread.run(self._files.make, _following(commit_log))
                if made.base == _following(commit_log):
                    self._ready = made
                else:  # The log rolled by itself in the meantime; its own map stays.
                    self._files.release(made)
        except (OSError, DiskFull) as error:
            log.warning("the next segment cannot be made yet error=%s", error)
            self._retry = self._clock.call_later_ms(RETRY_MS, self._begin)
        finally:
            self._work = None


def _following(commit_log: CommitLog) -> int:
    """Where the segment behind the last one begins."""
    last = commit_log.segments[-1]
    return int(last.base + last.size)
