# SPDX-License-Identifier: Apache-2.0
"""Listen; look up the handler in a table; answer.

A handler is a plain function of (state, peer, request) that returns a `Response`, or None when it
parked the request and will `respond` later. An exception that leaves a handler is a bug of ours:
it is logged once with its request, answered as a system error and counted.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from eruca.clock import Clock, Timer
from eruca.errors import BadField
from eruca.net.peer import Hold, Peer
from eruca.net.turn import Hot
from eruca.wire.codes import ResponseCode
from eruca.wire.fields import written
from eruca.wire.header import LANGUAGE_JAVA, RESPONSE_FLAG, Command, encode

log = logging.getLogger("eruca.net")

IDLE_SWEEP_MS = 10_000
BACKLOG = 1024

State = TypeVar("State")


@dataclass(slots=True)
class Response:
    """What a handler answers. `answer` is a dataclass of wire fields, or a ready dictionary."""

    code: int = ResponseCode.SUCCESS
    answer: object = None
    body: bytes = b""
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class Handler(Generic[State]):
    """One line of a request table."""

    run: Callable[[State, Peer, Command], Response | None]


def encode_response(request: Command, response: Response) -> bytes:
    """The frame of `response`, in the encoding of `request`; nothing for a one-way request."""
    if request.is_oneway:
        return b""
    answer = response.answer
    fields = answer if isinstance(answer, dict) else {} if answer is None else written(answer)
    return encode(
        Command(
            int(response.code),
            request.opaque,
            kind=request.kind,
            flag=RESPONSE_FLAG,
            language=LANGUAGE_JAVA,
            remark=response.remark,
            fields=fields,
            body=response.body,
        )
    )


def respond(peer: Peer, request: Command, response: Response) -> None:
    """Answer a request that was parked."""
    peer.write(encode_response(request, response))


class Server(Generic[State]):
    """The listening side: its connections, and the table that serves them."""

    def __init__(
        self,
        state: State,
        table: Mapping[int, Handler[State]],
        clock: Clock,
        *,
        hot: Hot | None = None,
        hold: Hold | None = None,
        idle_max_ms: int = 120_000,
    ) -> None:
        self._state = state
        self._table = table
        self._clock = clock
        self._hot = hot if hot is not None else Hot()
        self._hold = hold
        self._idle_sweeps_max = max(1, idle_max_ms // IDLE_SWEEP_MS)
        self._sweep_timer: Timer | None = None
        self._listeners: list[asyncio.Server] = []
        self.peers: set[Peer] = set()
        self.on_connect: Callable[[Peer], None] | None = None
        self.error_count = 0
        self._deaf = False

    async def listen(self, host: str, port: int) -> int:
        """Accept connections on `port` (0: any free one); the port it is."""
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(self._accept, host, port, backlog=BACKLOG)
        self._listeners.append(listener)
        if self._sweep_timer is None:
            self._sweep_timer = self._clock.call_later_ms(IDLE_SWEEP_MS, self._sweep)
        bound: int = listener.sockets[0].getsockname()[1]
        return bound

    def stop_accepting(self) -> None:
        """Take no more connections."""
        for listener in self._listeners:
            listener.close()

    def stop_reading(self) -> None:
        """Take no more requests either; what was taken is answered."""
        self.stop_accepting()
        self._deaf = True
        for peer in list(self.peers):
            peer.stop_reading()

    async def close(self) -> None:
        """Take nothing more, and close every connection once its answers have left."""
        self.stop_reading()
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        for peer in list(self.peers):
            peer.close()

    def answer(self, peer: Peer, request: Command) -> bytes:
        """The frame that answers `request`, or nothing yet."""
        handler = self._table.get(request.code)
        if handler is None:
            response: Response | None = Response(
                ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
                remark=f" request type {request.code} not supported",
            )
        else:
            response = self._run(handler, peer, request)
        return b"" if response is None else encode_response(request, response)

    def _run(self, handler: Handler[State], peer: Peer, request: Command) -> Response | None:
        try:
            return handler.run(self._state, peer, request)
        except BadField as error:  # Java: code 1 for whatever a header lacks.
            return Response(ResponseCode.SYSTEM_ERROR, remark=str(error))
        except Exception as error:
            self.error_count += 1
            log.exception("handler failed code=%d peer=%s", request.code, peer.address)
            return Response(ResponseCode.SYSTEM_ERROR, remark=f"{type(error).__name__}: {error}")

    def _accept(self) -> Peer:
        return Peer(self.answer, hot=self._hot, hold=self._hold, opened=self._opened)

    def _opened(self, peer: Peer) -> None:
        if self._deaf:
            peer.abort()
            return
        peer.on_close.append(self.peers.discard)
        self.peers.add(peer)
        if self.on_connect is not None:
            self.on_connect(peer)

    def _sweep(self) -> None:
        """Close what has been silent for too long."""
        for peer in list(self.peers):
            peer.quiet_sweeps += 1
            if peer.quiet_sweeps > self._idle_sweeps_max:
                log.info("closing idle connection peer=%s", peer.address)
                peer.close()
        self._sweep_timer = self._clock.call_later_ms(IDLE_SWEEP_MS, self._sweep)
