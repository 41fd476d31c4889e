# SPDX-License-Identifier: Apache-2.0
"""Answers that were written too early, corrected.

A turn's answers are written as if every promise were kept. When the disk does not keep one in
time, they are read back here and say so. Rare, so nothing in it is fast.
"""

from librt.strings import read_i32_be

from eruca.wire.codes import ResponseCode
from eruca.wire.header import decode_frame, encode


def with_flush_timeout(frames: bytes) -> bytes:
    """The same frames, in which every send that succeeded now says that the flush took too long.

    Java: such a message is stored and has its id; the client may send it again or not.
    """
    corrected = []
    at = 0
    while at < len(frames):
        end = at + 4 + int(read_i32_be(frames, at))
        command = decode_frame(frames[at:end])
        if command.code == ResponseCode.SUCCESS and "msgId" in command.fields:
            command.code = ResponseCode.FLUSH_DISK_TIMEOUT
            corrected.append(encode(command))
        else:
            corrected.append(frames[at:end])
        at = end
    return b"".join(corrected)
