# SPDX-License-Identifier: Apache-2.0
"""The pages that the log writes next, brought into memory before it comes to them.

Where memory is at hand the kernel finds a page in half a microsecond. On a virtual machine whose
host takes back what is free, each costs ten, which is more than storing the messages in it; so
a thread has them fetched. It measures what that costs: where it is cheap, it looks only now and
then whether it still is.

    | written ...    end | a gap | fetched ...        fetched | a hole        end of the segment |

The gap keeps the two apart: who writes to a page that is being fetched has to wait for it.
"""

import asyncio
from typing import Final, final

from eruca.clock import Clock
from eruca.store.commitlog import CommitLog
from eruca.store.disk import Disk
from eruca.store.flush import DiskThread

GAP_SIZE: Final = 4 * 1024 * 1024
AHEAD_SIZE: Final = 64 * 1024 * 1024
CHEAP_NS_PER_MIB: Final = 1_000_000  # Warm 0.25 ms, cold 2.4 ms, measured.
CHEAP_REST: Final = 16  # So many calls are let pass when it was cheap.


@final
class Pages:
    """Fetches ahead of one log; the store calls `reached` every few megabytes."""

    def __init__(self, disk: Disk, clock: Clock) -> None:
        self._disk = disk
        self._clock = clock
        self._thread = DiskThread("pages")
        self._work: asyncio.Task[None] | None = None
        self._fetched = 0
        self._rest = 0

    def reached(self, log: CommitLog) -> None:
        """The log has grown."""
        if self._work is not None:
            return
        if self._rest > 0:
            self._rest -= 1
            return
        last = log.segments[-1]
        begin = max(int(log.end) + GAP_SIZE, self._fetched)
        end = min(int(log.end) + AHEAD_SIZE, int(last.base + last.size))
        if begin < end:
            self._fetched = end
            fetch = self._fetch(last.path, begin - int(last.base), end - begin)
            self._work = asyncio.get_running_loop().create_task(fetch)

    async def close(self) -> None:
        if self._work is not None:
            await asyncio.wait((self._work,))
        self._thread.close()

    async def _fetch(self, path: str, at: int, size: int) -> None:
        begin_ns = self._clock.mono_ns()
        try:
            await self._thread.run(self._disk.prefetch, path, at, size)
        except OSError:
            self._rest = CHEAP_REST  # It was a courtesy: the log manages without.
        finally:
            self._work = None
        if (self._clock.mono_ns() - begin_ns) * (1 << 20) < CHEAP_NS_PER_MIB * size:
            self._rest = CHEAP_REST
