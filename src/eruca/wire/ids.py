# SPDX-License-Identifier: Apache-2.0
"""Unique ids of messages, made by whoever sends them, as Java makes them.

    | address: 4 or 16 | pid: 2 | any number: 4 | ms since the month began: 4 | counter: 2 |

in upper-case hex: 32 characters, or 56 for IPv6. Brokers do not read it, but tools take the time
out of it to know where to search. Used by producers; one object per process.
"""

import ipaddress
from collections.abc import Callable
from datetime import datetime
from typing import Final, final

CLOCK_BACK_MS_MAX: Final = 1_000_000  # Java: a smaller step back of the clock reads as 0.


@final
class UniqueIds:
    def __init__(self, address: str, pid: int, mark: int, now_ms: Callable[[], int]) -> None:
        """`mark` tells two senders in one process apart: any 32-bit number."""
        packed = ipaddress.ip_address(address).packed
        head = packed + (pid & 0xFFFF).to_bytes(2, "big") + (mark & 0xFFFFFFFF).to_bytes(4, "big")
        self._head = head.hex().upper()
        self._now_ms = now_ms
        self._counter = -1
        self._month_ms = self._next_month_ms = 0

    def next(self) -> str:
        now_ms = self._now_ms()
        since_ms = now_ms - self._month_ms
        if now_ms >= self._next_month_ms or since_ms <= -CLOCK_BACK_MS_MAX:
            self._month_ms, self._next_month_ms = month_around(now_ms)
            since_ms = now_ms - self._month_ms
        self._counter = (self._counter + 1) & 0xFFFF
        return f"{self._head}{max(since_ms, 0):08X}{self._counter:04X}"


def month_around(now_ms: int) -> tuple[int, int]:
    """When the month of `now_ms` began, and when the next one does, in local time."""
    first = datetime.fromtimestamp(now_ms / 1000).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0
    )
    year, month = (first.year + 1, 1) if first.month == 12 else (first.year, first.month + 1)
    after = first.replace(year=year, month=month)
    return int(first.timestamp()) * 1000, int(after.timestamp()) * 1000
