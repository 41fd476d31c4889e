# SPDX-License-Identifier: Apache-2.0
"""Time: the only module that asks the system for it.

Everything else is handed a `Clock`. A simulator hands in another one, whose time moves when all
its tasks sleep; so nothing here may leak the real clock into a decision made elsewhere.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol


class Timer(Protocol):
    """What `call_later_ms` returns: something that can be called off."""

    def cancel(self) -> None: ...


class Clock:
    """The system's time, and the running event loop's timers."""

    def now_ms(self) -> int:
        """Wall clock, milliseconds since the epoch: what is stored and sent."""
        return time.time_ns() // 1_000_000

    def mono_ms(self) -> int:
        """A clock that never steps back: for deadlines inside this process."""
        return time.monotonic_ns() // 1_000_000

    def mono_ns(self) -> int:
        """The same clock, fine enough to measure with."""
        return time.monotonic_ns()

    async def sleep_ms(self, ms: float) -> None:
        await asyncio.sleep(ms / 1000)

    def call_later_ms(self, ms: float, call: Callable[..., Any], *args: Any) -> Timer:
        """Run `call(*args)` on the loop after `ms`; the answer has a `cancel()`."""
        return asyncio.get_running_loop().call_later(ms / 1000, call, *args)
