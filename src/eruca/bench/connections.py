# SPDX-License-Identifier: Apache-2.0
"""The connections that load is put on with, and what is counted on them.

Requests are cut out of one long byte string; answers to sends are not parsed but counted by a mark
that they all carry. So the cost per message is a share of one read and one write, whatever the
broker's. Latencies are taken per read: every message of a read has the same.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from eruca.bench.workload import Frames, Marks, Workload, pull_frame
from eruca.clock import Clock
from eruca.errors import OutcomeUnknown, Unreachable
from eruca.net.dial import split_address
from eruca.wire.codes import ResponseCode
from eruca.wire.commands import PullMessageAnswer
from eruca.wire.fields import parse
from eruca.wire.header import Command, decode_frame


@dataclass(slots=True)
class Load:
    """What came of a workload, seen from this side."""

    messages: int = 0
    failed: int = 0
    latencies: list[tuple[int, int]] = field(default_factory=list)  # nanoseconds, messages
    samples: list[tuple[int, int]] = field(default_factory=list)  # nanoseconds, messages so far
    extra: dict[str, float] = field(default_factory=dict)

    def percentile_ms(self, share: float) -> float | None:
        """The latency that `share` of the messages stayed below."""
        wanted = share * sum(count for _, count in self.latencies)
        for latency_ns, count in sorted(self.latencies):
            wanted -= count
            if wanted <= 0:
                return latency_ns / 1e6
        return None

    def rates(self) -> list[float]:
        """Messages a second from sample to sample."""
        steps = pairwise([(0, 0), *self.samples])
        return [
            (count - before) * 1e9 / max(at - since, 1) for (since, before), (at, count) in steps
        ]


class Pipe(asyncio.Protocol):
    """A connection that keeps a window of requests in flight."""

    def __init__(
        self,
        frames: Frames,
        start: int,
        workload: Workload,
        marks: Marks,
        load: Load,
        clock: Clock,
    ) -> None:
        self._frames = frames
        self._number = start
        self._window = workload.in_flight
        self._batch = workload.batch
        self._marks = marks
        self._load = load
        self._clock = clock
        self._written: deque[list[int]] = deque()  # [requests not answered, when written]
        self._every_tail = self._good_tail = b""
        self.stopped = False
        self.idle: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._write = transport.write  # type: ignore[attr-defined]

    def start(self) -> None:
        self._send(self._window)

    def data_received(self, data: bytes) -> None:
        marks = self._marks
        chunk = self._every_tail + data
        count = chunk.count(marks.every)
        self._every_tail = chunk[1 - len(marks.every) :]
        chunk = self._good_tail + data
        good = chunk.count(marks.good)
        self._good_tail = chunk[1 - len(marks.good) :]
        self._load.messages += good * self._batch
        self._load.failed += (count - good) * self._batch
        if count:
            self._answered(count)

    def connection_lost(self, error: Exception | None) -> None:
        end(self.idle)

    def _answered(self, count: int) -> None:
        now_ns = self._clock.mono_ns()
        left = count
        while left and self._written:
            oldest = self._written[0]
            part = min(left, oldest[0])
            self._load.latencies.append((now_ns - oldest[1], part * self._batch))
            left -= part
            oldest[0] -= part
            if not oldest[0]:
                self._written.popleft()
        if not self.stopped:
            self._send(count)
        elif not self._written and not self.idle.done():
            self.idle.set_result(None)

    def _send(self, count: int) -> None:
        self._written.append([count, self._clock.mono_ns()])
        self._write(self._frames.window(self._number, count))
        self._number += count


class Puller(asyncio.Protocol):
    """A connection that reads one queue, one pull at a time."""

    def __init__(
        self,
        workload: Workload,
        queue_id: int,
        wait_ms: int,
        take: Callable[[Command, int], None],
    ) -> None:
        self._workload = workload
        self._queue_id = queue_id
        self._wait_ms = wait_ms
        self._take = take
        self._offset = 0
        self._chunks: list[bytes] = []
        self._have = 0
        self._want = 4
        self.stopped = False
        self.idle: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._write = transport.write  # type: ignore[attr-defined]

    def start(self, offset: int = 0) -> None:
        self._offset = offset
        self._write(pull_frame(self._workload, self._queue_id, offset, self._wait_ms))

    def data_received(self, data: bytes) -> None:
        self._chunks.append(data)
        self._have += len(data)
        if self._have < self._want:
            return
        data = b"".join(self._chunks)
        self._chunks = [data]
        self._want = 4 + int.from_bytes(data[:4], "big")
        if self._have < self._want:
            return
        self._chunks, self._have, self._want = [], 0, 4
        self._answered(decode_frame(data))

    def connection_lost(self, error: Exception | None) -> None:
        end(self.idle)

    def _answered(self, answer: Command) -> None:
        next_offset = parse(PullMessageAnswer, answer.fields).next_offset
        if answer.code == ResponseCode.SUCCESS:
            self._take(answer, next_offset - self._offset)
        if self.stopped or (not self._wait_ms and answer.code != ResponseCode.SUCCESS):
            self.idle.set_result(None)
        else:
            self.start(next_offset)


def end(idle: asyncio.Future[None]) -> None:
    """A connection is lost: whoever waits for its last answer must know."""
    if not idle.done():
        idle.set_exception(OutcomeUnknown("the broker closed a connection"))
        idle.exception()  # Nobody may be waiting any more.


P = TypeVar("P", Pipe, Puller)


@asynccontextmanager
async def opened(address: str, makes: Sequence[Callable[[], P]]) -> AsyncIterator[list[P]]:
    """Connections to one address, closed at the end. Raises Unreachable."""
    host, port = split_address(address)
    connections: list[P] = []
    transports: list[asyncio.BaseTransport] = []
    try:
        for make in makes:
            transport, connection = await asyncio.get_running_loop().create_connection(
                make, host, port
            )
            transports.append(transport)
            connections.append(connection)
        yield connections
    except OSError as error:
        raise Unreachable(f"{address}: {error}") from None
    finally:
        for each in transports:
            each.close()
