# SPDX-License-Identifier: Apache-2.0
"""Remoting frames: the outermost layer of every byte Eruca sends or receives.

    0          4                    8               8 + h           4 + length
    | length   | kind:8 | h:24      | header (h)    | body          |

All integers are big-endian. `length` does not count its own four bytes. `kind` says how the
header is written (see header.py); this module never looks inside the header or the body.
"""

from typing import Final, final

from librt.strings import read_i32_be
from mypy_extensions import i64

from eruca.errors import FrameError

PREFIX_SIZE: Final = 8
FRAME_SIZE_MAX: Final = 16 * 1024 * 1024  # As Java's remoting layer: more closes the connection.


@final
class Inbox:
    """A cursor over the frames of a byte stream, however the network chopped it.

    `feed` takes a chunk; `advance` moves to the next whole frame and tells whether there is one.
    The current frame is `data[header_at:body_at]` and `data[body_at:end]`: no object per frame,
    since a chunk may hold hundreds. A frame that spans chunks is joined once, when it is whole.
    """

    __slots__ = (
        "_at",
        "_chunks",
        "_have",
        "_want",
        "body_at",
        "data",
        "end",
        "header_at",
        "kind",
        "size_max",
    )  # fmt: skip

    def __init__(self, size_max: int = FRAME_SIZE_MAX) -> None:
        self._chunks: list[bytes] = []
        self._have: i64 = 0  # bytes in _chunks
        self._want: i64 = PREFIX_SIZE  # bytes that would bring us further
        self._at: i64 = 0  # where the next frame begins in `data`
        self.size_max: i64 = size_max
        self.data: bytes = b""
        self.kind: i64 = 0
        self.header_at: i64 = 0
        self.body_at: i64 = 0
        self.end: i64 = 0

    def feed(self, data: bytes) -> None:
        """Take a chunk. Call `advance` until it is False before feeding the next one."""
        if self._have == 0:
            self.data = data
            return
        self._chunks.append(data)
        self._have += len(data)
        if self._have >= self._want:
            self.data = b"".join(self._chunks)
            self._chunks = []
            self._have = 0

    def advance(self) -> bool:
        """Move to the next whole frame; False when more bytes are needed.

        Raises FrameError when no further byte could help; the caller closes the connection.
        """
        data = self.data
        at = self._at
        left: i64 = len(data) - at
        if left == 0:
            self.data = b""
            self._at = 0
            return False
        want: i64 = PREFIX_SIZE
        if left >= PREFIX_SIZE:
            length = i64(read_i32_be(data, at))
            mark = i64(read_i32_be(data, at + 4))
            header_size = mark & 0xFFFFFF
            if length < 4 + header_size or 4 + length > self.size_max:
                raise FrameError(f"frame length {length}, header {header_size}")
            want = 4 + length
            if left >= want:
                self.kind = (mark >> 24) & 0xFF
                self.header_at = at + PREFIX_SIZE
                self.body_at = at + PREFIX_SIZE + header_size
                self.end = at + want
                self._at = at + want
                return True
        self._chunks = [data[at:]]
        self._have = left
        self._want = want
        self.data = b""
        self._at = 0
        return False
