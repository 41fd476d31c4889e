# SPDX-License-Identifier: Apache-2.0
"""The scanners see in a header what `decode` sees, or leave it to `decode`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.errors import FrameError
from eruca.wire.header import BINARY, JSON, Command, decode_frame, encode
from eruca.wire.hot import PullAsk, SendAsk
from eruca.wire.scan import json_code, read_binary, read_json, whole

NUMBERS = {"e": "queue_id", "f": "sys_flag", "g": "born_ms", "h": "message_flag"}


def asked(frame: bytes) -> SendAsk | None:
    """What the scanner makes of a frame; None when it leaves it to `decode`."""
    ask = SendAsk()
    body_at = 8 + (int.from_bytes(frame[4:8], "big") & 0xFFFFFF)
    if frame[4] == BINARY:
        read_binary(frame, 8, body_at, ask)
    elif not read_json(frame, 8, body_at, ask):
        return None
    return ask


def send(kind: int, fields: dict[str, str]) -> bytes:
    return encode(Command(310, 77, kind=kind, flag=2, language=0, version=495, fields=fields))


PROPERTIES = st.text(st.characters(codec="utf-8"), max_size=40)


@given(
    st.sampled_from((JSON, BINARY)),
    st.integers(-(10**17), 10**17),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=30),
    PROPERTIES,
)
def test_sees_what_decode_sees(kind: int, number: int, topic: str, properties: str) -> None:
    fields = {"b": topic, "g": str(number), "i": properties, "m": "true", "zz": "ignored"}
    frame = send(kind, fields)
    ask = asked(frame)
    decoded = decode_frame(frame)
    assert ask is not None
    assert ask.topic.decode() == decoded.fields["b"]
    assert ask.properties.decode() == decoded.fields.get("i", "")
    assert (ask.born_ms, ask.is_batch) == (number, True)
    assert (ask.opaque, ask.flag, ask.version, ask.language) == (77, 2, 495, 0)


def test_property_separators_are_unescaped() -> None:
    text = 'UNIQ_KEY\x017F\x02WAIT\x01true\x02TAGS\x01\u00fc \U0001f680 "\\/\b\x02'
    ask = asked(send(JSON, {"b": "t", "i": text}))
    assert ask is not None and ask.properties.decode() == text
    escaped = json.dumps(text).encode()  # As some clients write it: nothing beyond ASCII.
    frame = send(JSON, {"b": "t", "i": "@"}).replace(b'"@"', escaped)
    size = len(frame) - 4
    frame = size.to_bytes(4, "big") + (size - 4).to_bytes(4, "big") + frame[8:]
    ask = asked(frame)
    assert ask is not None and ask.properties.decode() == text


def test_long_names_mean_the_same() -> None:
    fields = {"topic": "t", "queueId": "3", "batch": "true", "maxReconsumeTimes": "5"}
    ask = asked(send(BINARY, fields))
    assert ask is not None
    assert (ask.topic, ask.queue_id, ask.is_batch, ask.reconsume_max) == (b"t", 3, True, 5)


@pytest.mark.parametrize(
    "header",
    [
        b'{ "code":310,"extFields":{"b":"t"},"flag":0}',
        b'{"flag":0,"code":310,"extFields":{"b":"t"}}',
        b'{"code":310,"extFields":{"e":3},"flag":0}',
        b'{"code":310,"flag":0}',
        b'{"code":310,"extFields":{"b":"t"',
        b'{"code":310,"extFields":{"b":"t\\',
        b'{"code":310,"extFields":{"b":"t"},"flag":0',
    ],
)
def test_leaves_other_shapes_to_decode(header: bytes) -> None:
    assert json_code(header, 0, len(header)) in (-1, 310)
    if json_code(header, 0, len(header)) == 310:
        assert not read_json(header, 0, len(header), SendAsk())


@given(st.binary(max_size=120))
def test_any_bytes_are_an_ask_or_a_frame_error(tail: bytes) -> None:
    for header in (b'{"code":310,"extFields":{' + tail, tail):
        try:
            read_json(header, 0, len(header), SendAsk())
        except FrameError:
            pass
    try:
        read_binary(tail, 0, len(tail), PullAsk())
    except FrameError:
        pass


@pytest.mark.parametrize("text", [b"", b"-", b"1x", b" 1", b"+1", b"1" * 19])
def test_numbers_are_numbers(text: bytes) -> None:
    with pytest.raises(FrameError):
        whole(text, 0, len(text))
