# SPDX-License-Identifier: Apache-2.0
"""Frames come out the same, however the network chopped them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.errors import FrameError
from eruca.wire.frame import FRAME_SIZE_MAX, Inbox
from eruca.wire.header import BINARY, JSON, Command, decode, decode_frame, encode


def cut(inbox: Inbox, data: bytes) -> list[tuple[int, bytes, bytes]]:
    """Feed a chunk; (kind, header, body) of every frame it completes."""
    inbox.feed(data)
    frames = []
    while inbox.advance():
        header = inbox.data[inbox.header_at : inbox.body_at]
        frames.append((inbox.kind, header, inbox.data[inbox.body_at : inbox.end]))
    return frames


def frame(kind: int, header: bytes, body: bytes) -> bytes:
    size = 4 + len(header) + len(body)
    return size.to_bytes(4, "big") + (kind << 24 | len(header)).to_bytes(4, "big") + header + body


FRAMES = [(0, b"{}", b""), (1, b"x" * 21, b"body"), (0, b"", b"only a body"), (1, b"h", b"b" * 900)]
STREAM = b"".join(frame(*each) for each in FRAMES)


def test_whole() -> None:
    assert cut(Inbox(), STREAM) == FRAMES


def test_byte_by_byte() -> None:
    inbox = Inbox()
    got = [each for i in range(len(STREAM)) for each in cut(inbox, STREAM[i : i + 1])]
    assert got == FRAMES


def test_trailing_bytes_wait_for_the_rest() -> None:
    inbox = Inbox()
    assert cut(inbox, STREAM + STREAM[:5]) == FRAMES
    assert cut(inbox, STREAM[5:]) == FRAMES


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_cutting(places: list[int]) -> None:
    inbox = Inbox()
    marks = [0, *sorted(places), len(STREAM)]
    chunks = [STREAM[a:b] for a, b in pairwise(marks)]
    assert [each for chunk in chunks for each in cut(inbox, chunk)] == FRAMES


@pytest.mark.parametrize(
    "start",
    [
        (3).to_bytes(4, "big") + bytes(4),  # shorter than its own second field
        (10).to_bytes(4, "big") + (7).to_bytes(4, "big"),  # a header longer than the frame
        (FRAME_SIZE_MAX - 3).to_bytes(4, "big") + bytes(4),  # over the limit
        b"\xff" * 8,  # a negative length
        b"GET / HT",
    ],
)
def test_what_no_later_byte_can_mend_is_refused(start: bytes) -> None:
    inbox = Inbox()
    assert cut(inbox, start[:7]) == []  # Not before it can be told.
    inbox.feed(start[7:])
    with pytest.raises(FrameError):
        inbox.advance()


def test_a_frame_at_the_limit_passes() -> None:
    inbox = Inbox(size_max=100)
    assert cut(inbox, frame(0, b"h", b"b" * 91)) == [(0, b"h", b"b" * 91)]
    inbox.feed(frame(0, b"h", b"b" * 92))
    with pytest.raises(FrameError):
        inbox.advance()


TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
WORD = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@given(
    st.sampled_from((JSON, BINARY)),
    st.integers(0, 32767),
    st.integers(-(2**31), 2**31 - 1),
    st.sampled_from((0, 1, 2, 3)),
    st.none() | WORD,
    st.dictionaries(WORD, WORD, max_size=5),
    st.binary(max_size=50),
)
def test_commands_survive_the_wire(
    kind: int,
    code: int,
    opaque: int,
    flag: int,
    remark: str | None,
    fields: dict[str, str],
    body: bytes,
) -> None:
    sent = Command(code, opaque, kind=kind, flag=flag, remark=remark, fields=fields, body=body)
    got = decode_frame(encode(sent))
    for name in ("code", "opaque", "kind", "flag", "language", "version", "remark", "body"):
        assert getattr(got, name) == getattr(sent, name), name
    assert got.fields == fields


@given(st.binary(max_size=200), st.sampled_from((0, 1, 2, 255)))
def test_any_bytes_are_a_command_or_a_frame_error(header: bytes, kind: int) -> None:
    try:
        decode(header, 0, len(header), len(header), kind)
    except FrameError:
        pass


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        (b'{"extFields":{"a":7,"b":true,"c":1.50,"d":{"x":[1,2]},"e":null}}',
         {"a": "7", "b": "true", "c": "1.50", "d": '{"x":[1,2]}'}),
        (b' { "extFields" : { } , "unknown" : 1 } ', {}),
        (b'{"extFields":null}', {}),
    ],
)  # fmt: skip
def test_json_headers_are_read_as_java_reads_them(header: bytes, fields: dict[str, str]) -> None:
    command = decode(header, 0, len(header), len(header), JSON)
    assert command.fields == fields
    assert (command.code, command.language, command.version, command.flag) == (0, 0, 0, 0)


@pytest.mark.parametrize("name", [b'"python"', b'"PYTHON"', b"3"])
def test_languages_go_by_name_or_number(name: bytes) -> None:
    header = b'{"language":' + name + b"}"
    assert decode(header, 0, len(header), len(header), JSON).language == 3
