# SPDX-License-Identifier: Apache-2.0
"""A clock whose timers go off when a test moves the time."""

import heapq
import itertools
from collections.abc import Callable
from typing import Any

from .here import FakeClock, FakeTimer


class Alarm(FakeTimer):
    def __init__(self, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.call = call
        self.args = args
        self.off = False

    def cancel(self) -> None:
        self.off = True


class Clockwork(FakeClock):
    def __init__(self) -> None:
        super().__init__()
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._number = itertools.count()

    def call_later_ms(self, ms: float, call: Callable[..., Any], *args: Any) -> Alarm:
        alarm = Alarm(call, args)
        heapq.heappush(self._alarms, (self.ms + ms, next(self._number), alarm))
        return alarm

    def advance(self, ms: int) -> None:
        """Let time pass; what is due on the way goes off at its moment."""
        end = self.ms + ms
        while self._alarms and self._alarms[0][0] <= end:
            at_ms, _, alarm = heapq.heappop(self._alarms)
            self.ms = max(self.ms, int(at_ms))
            if not alarm.off:
                alarm.call(*alarm.args)
        self.ms = end
