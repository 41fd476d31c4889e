# SPDX-License-Identifier: Apache-2.0
"""Answers that were written too early are corrected, and only those."""

import pytest

from eruca.wire.answers import with_flush_timeout
from eruca.wire.codes import ResponseCode
from eruca.wire.header import BINARY, JSON, Command, decode_frame, encode


def answer(kind: int, code: int = 0, body: bytes = b"", **fields: str) -> bytes:
    return encode(Command(code, 42, kind=kind, flag=1, fields=fields, body=body))


@pytest.mark.parametrize("kind", [JSON, BINARY])
def test_a_success_becomes_a_timeout(kind: int) -> None:
    (sent,) = [decode_frame(with_flush_timeout(answer(kind, msgId="ID", queueOffset="3")))]
    assert sent.code == ResponseCode.FLUSH_DISK_TIMEOUT
    assert sent.fields == {"msgId": "ID", "queueOffset": "3"}
    assert (sent.opaque, sent.flag, sent.kind) == (42, 1, kind)


@pytest.mark.parametrize("kind", [JSON, BINARY])
def test_everything_else_stays(kind: int) -> None:
    others = answer(kind, nextBeginOffset="1", body=b"records") + answer(kind, 2, msgId="refused")
    assert with_flush_timeout(others) == others
    assert with_flush_timeout(b"") == b""
    mixed = with_flush_timeout(others + answer(kind, msgId="ID") + others)
    assert mixed.startswith(others) and mixed.endswith(others)
