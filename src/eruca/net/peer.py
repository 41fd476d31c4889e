# SPDX-License-Identifier: Apache-2.0
"""One connection, in either direction: frames in, frames out, answers matched by opaque.

A connection is symmetric: whoever dialled, both sides may ask. `serve` answers the requests of the
other side; `call` and `send_oneway` are ours. A slow reader on the other side stops us reading,
so what waits to be written is bounded by what one turn can produce.
"""

import asyncio
import ipaddress
import logging
from collections.abc import Callable
from typing import cast, final

from eruca.errors import OutcomeUnknown, Unreachable
from eruca.net.turn import NO_PROMISE, Hot, Turn
from eruca.wire.fields import written
from eruca.wire.header import JSON, LANGUAGE_PYTHON, ONEWAY_FLAG, Command, encode

log = logging.getLogger("eruca.net")

WRITE_BUFFER_SIZE_MAX = 8 * 1024 * 1024
NO_HOT = Hot()

Serve = Callable[["Peer", Command], bytes]
Hold = Callable[[int, "Peer", bytes], None]
Opened = Callable[["Peer"], None]


def serve_nothing(peer: "Peer", command: Command) -> bytes:
    """A client without handlers: whatever the other side asks is not supported."""
    return encode(
        Command(
            3,
            command.opaque,
            kind=command.kind,
            flag=1,
            remark=f" request type {command.code} not supported",
        )
    )


def host_bytes(host: str, port: int) -> bytes:
    """Address and port as records hold them: 4 or 16 bytes, then the port in 4."""
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.packed + port.to_bytes(4, "big")


@final
class Peer(asyncio.Protocol):
    """The other side of a connection, as servers and clients see it."""

    def __init__(
        self,
        serve: Serve = serve_nothing,
        *,
        hot: Hot = NO_HOT,
        hold: Hold | None = None,
        opened: Opened | None = None,
        kind: int = JSON,
    ) -> None:
        self._serve = serve
        self._hot = hot
        self._hold = hold  # Called with a promise; releases the answers once it is kept.
        self._opened = opened
        self._held_count = 0
        self._closing = False
        self._deaf = False
        self._kind = kind  # The encoding of our own requests.
        self._calls: dict[int, asyncio.Future[Command]] = {}
        self._opaque = 0
        self.on_close: list[Callable[[Peer], None]] = []
        self.closed = False
        self.quiet_sweeps = 0  # Counted up by whoever watches for silence, reset by every byte.
        self.language = LANGUAGE_PYTHON
        self.version = 0
        self.host = ""
        self.port = 0
        self.address = ""

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is not derived from it.
        peername = transport.get_extra_info("peername") or ("127.0.0.1", 0)
        self.host, self.port = peername[0], peername[1]
        self.address = f"{self.host}:{self.port}"
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER_SIZE_MAX)
        self._turn = Turn(self._hot, self._cold, host_bytes(self.host, self.port), self)
        if self._opened is not None:
            self._opened(self)

    def data_received(self, data: bytes) -> None:
        turn = self._turn
        self.quiet_sweeps = 0
        answers = turn.feed(data)
        if turn.promise != NO_PROMISE and self._hold is not None:
            self._held_count += 1
            self._hold(turn.promise, self, b"".join(answers))  # One-way sends are waited for, too.
        elif len(answers) == 1:
            self._transport.write(answers[0])
        elif answers:
            self._transport.writelines(answers)
        if turn.broken is not None:
            log.warning("closing connection peer=%s error=%s", self.address, turn.broken)
            self.stop_reading()
            self.close()

    def pause_writing(self) -> None:
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        if not self._deaf:
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        for call in self._calls.values():
            if not call.done():
                call.set_exception(OutcomeUnknown(f"{self.address} closed the connection"))
        self._calls.clear()
        for told in self.on_close:
            told(self)
        self.on_close.clear()

    # What the rest of Eruca calls.

    def release(self, data: bytes) -> None:
        """Send answers that were held back."""
        self._held_count -= 1
        self.write(data)
        if self._closing:
            self.close()

    def write(self, data: bytes) -> None:
        """Send whole frames; silently nothing on a closed connection."""
        if data and not self.closed:
            self._transport.write(data)

    def write_later(self, data: bytes) -> None:
        """Send whole frames with the answers of this turn, so after whatever they promise."""
        self._turn.out.write(data)

    def send_oneway(self, code: int, answer: object = None, body: bytes = b"") -> None:
        """Ask without wanting to hear back."""
        self.write(encode(self._request(code, answer, body, ONEWAY_FLAG)))

    async def call(
        self, code: int, answer: object = None, body: bytes = b"", timeout_ms: float = 3000
    ) -> Command:
        """Ask and wait for the response, whatever its code is."""
        if self.closed:
            raise Unreachable(f"{self.address} is closed")
        request = self._request(code, answer, body, 0)
        waiting: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self._calls[request.opaque] = waiting
        self._transport.write(encode(request))
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await waiting
        except TimeoutError:
            raise OutcomeUnknown(f"{self.address} code {code}: {timeout_ms} ms passed") from None
        finally:
            self._calls.pop(request.opaque, None)

    def stop_reading(self) -> None:
        """Take no more requests; what was taken is answered."""
        self._deaf = True
        if not self.closed:
            self._transport.pause_reading()

    def close(self) -> None:
        """Close once what is written or held back has left."""
        self._closing = True
        if not self.closed and not self._held_count:
            self._transport.close()

    def abort(self) -> None:
        if not self.closed:
            self._transport.abort()

    def _request(self, code: int, answer: object, body: bytes, flag: int) -> Command:
        self._opaque = (self._opaque + 1) & 0x7FFFFFFF
        fields = answer if isinstance(answer, dict) else written(answer) if answer else {}
        return Command(code, self._opaque, kind=self._kind, flag=flag, fields=fields, body=body)

    def _cold(self, command: Command) -> bytes:
        if command.is_response:
            call = self._calls.get(command.opaque)
            if call is not None and not call.done():
                call.set_result(command)
            return b""
        self.language = command.language
        self.version = command.version
        return self._serve(self, command)
