# SPDX-License-Identifier: Apache-2.0
"""A turn: one chunk of bytes in, all its frames served, all its answers out.

    chunk -> Inbox -> for each frame:  hot code  -> Hot.serve writes its answer into `out`
                                       any other -> cold(command) returns its answer, or b""
          -> Hot.end_turn -> the answers, and the log position that they promise

Nothing here knows a socket: `net.peer` feeds chunks and writes what comes back. One `Turn` belongs
to one connection; turns never overlap, since everything runs on one loop.
"""

from collections.abc import Callable
from typing import Final, final

from librt.strings import BytesWriter, read_i16_be, read_i32_be
from mypy_extensions import i64

from eruca.errors import FrameError
from eruca.wire.frame import Inbox
from eruca.wire.header import BINARY, JSON, RESPONSE_FLAG, Command, decode
from eruca.wire.scan import json_code

NO_PROMISE: Final = -1  # Nothing was written: the answers may leave at once.
ATTACHED_SIZE_MIN: Final = 2048  # Below that a copy is cheaper than one more part.


class Hot:
    """The compiled half of a server: the request codes that must not cost a dictionary."""

    def serve(self, turn: "Turn", code: i64) -> bool:
        """Serve the current frame of `turn.inbox`; False leaves it to the ordinary road."""
        return False

    def end_turn(self) -> i64:
        """The log position that the answers of this turn promise, or NO_PROMISE."""
        return NO_PROMISE


@final
class Turn:
    """What one connection needs to be served."""

    __slots__ = (
        "_parts",
        "born_host",
        "broken",
        "cold",
        "hot",
        "inbox",
        "out",
        "owner",
        "promise",
    )  # fmt: skip

    def __init__(
        self, hot: Hot, cold: Callable[[Command], bytes], born_host: bytes, owner: object
    ) -> None:
        self.inbox = Inbox()
        self.out = BytesWriter()
        self._parts: list[bytes] = []  # Answers written before `out`.
        self.hot = hot
        self.cold = cold
        self.born_host = born_host
        self.owner = owner
        self.promise: i64 = NO_PROMISE
        self.broken: FrameError | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """Serve every frame that `data` completes and return the answers, to be sent in a row.

        `promise` then holds the log position that must be durable before they leave; 0 stands
        for what must only be written. After a frame that breaks the contract `broken` is set:
        what came before it is served and answered, and the caller closes the connection.
        """
        inbox = self.inbox
        parts: list[bytes] = []
        self._parts = parts
        self.out = BytesWriter()
        try:
            inbox.feed(data)
            while inbox.advance():
                if not self.hot.serve(self, self._code()):
                    answer = self.cold(
                        decode(
                            inbox.data,
                            int(inbox.header_at),
                            int(inbox.body_at),
                            int(inbox.end),
                            int(inbox.kind),
                        )
                    )
                    if len(answer) > 0:
                        self.out.write(answer)
        except FrameError as error:
            self.broken = error
        self.promise = self.hot.end_turn()
        if len(self.out) > 0:
            parts.append(self.out.getvalue())
        return parts

    def attach(self, body: bytes) -> None:
        """Write what ends an answer; when it is long, without copying it."""
        if len(body) < ATTACHED_SIZE_MIN:
            self.out.write(body)
            return
        self._parts.append(self.out.getvalue())
        self._parts.append(body)
        self.out = BytesWriter()

    def _code(self) -> i64:
        """The request code of the current frame, or -1 when only `decode` can tell."""
        inbox = self.inbox
        at = inbox.header_at
        if inbox.kind == JSON:
            return json_code(inbox.data, at, inbox.body_at)
        if inbox.kind != BINARY or inbox.body_at - at < 21:
            return -1
        if i64(read_i32_be(inbox.data, at + 9)) & RESPONSE_FLAG != 0:
            return -1
        return i64(read_i16_be(inbox.data, at))
