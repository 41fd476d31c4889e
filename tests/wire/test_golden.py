# SPDX-License-Identifier: Apache-2.0
"""Every recorded frame, read and written again; every header field, through its dataclass."""

from typing import Any

import pytest

from eruca.errors import BadField
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import parse, written
from eruca.wire.header import JSON, decode_frame, encode

from .golden import ANSWERS, REQUESTS, exchanges, frames

# Fields that any request may have: namespace, oneway, static topic, signature, lite pull.
EVERYWHERE = {"ns", "nsd", "oway", "lo", "AccessKey", "SecurityToken", "Signature", "ReqT"}

PARTS = ("code", "language", "version", "opaque", "flag", "remark", "fields", "body", "kind")

# Requests recorded because they are wrong, or that name a field nobody defined.
WRONG = {"missing-field.req", "regcrc.req"}


@pytest.mark.parametrize("entry", frames())
def test_frames_are_written_as_they_were_read(entry: Any) -> None:
    frame = bytes.fromhex(entry["frame_hex"])
    command = decode_frame(frame)
    again = encode(command)
    if command.kind == JSON and b'"language":"PYTHON"' in frame:  # made by hand, members unsorted
        second = decode_frame(again)
        assert all(getattr(second, name) == getattr(command, name) for name in PARTS)
    else:
        # Java writes an empty object for a header class with no values; we leave it out.
        assert again[8:] == frame[8:].replace(b'"extFields":{},', b"", 1)


@pytest.mark.parametrize("entry", frames())
def test_frames_hold_what_the_recording_says(entry: Any) -> None:
    if "header" not in entry:
        pytest.skip("a computed frame without a description")
    command = decode_frame(bytes.fromhex(entry["frame_hex"]))
    header = entry["header"]
    assert (command.code, command.opaque) == (header["code"], header["opaque"])
    assert (command.flag, command.version) == (header["flag"], header["version"])
    assert command.remark == header.get("remark")
    assert command.fields == (header.get("extFields") or {})
    assert len(command.body) == entry["body_len"]


def same_fields(kind: type[Any], fields: dict[str, str]) -> None:
    sent = {name: text for name, text in fields.items() if name not in EVERYWHERE}
    header = parse(kind, sent)
    back = written(header)
    defaults = {name: text for name, text in back.items() if name not in sent}
    assert back == sent | defaults
    assert parse(kind, back) == header


def test_request_headers_go_through_their_classes() -> None:
    tried = set()
    for param in frames():
        entry = param.values[0]
        command = decode_frame(bytes.fromhex(entry["frame_hex"]))
        if command.is_response or command.code not in REQUESTS or entry["name"] in WRONG:
            continue
        tried.add(command.code)
        same_fields(REQUESTS[command.code], command.fields)
    assert len(tried) > 45  # Fewer means that the recordings were not found.


def test_answer_headers_go_through_their_classes() -> None:
    tried = set()
    for request, answer in exchanges():
        code = decode_frame(bytes.fromhex(request["frame_hex"])).code
        command = decode_frame(bytes.fromhex(answer["frame_hex"]))
        if code in ANSWERS and command.code == ResponseCode.SUCCESS:
            tried.add(code)
            same_fields(ANSWERS[code], command.fields)
    assert len(tried) > 15


def test_a_recorded_request_without_its_queue_names_the_field() -> None:
    entry = next(p.values[0] for p in frames() if p.values[0]["name"] == "missing-field.req")
    command = decode_frame(bytes.fromhex(entry["frame_hex"]))
    with pytest.raises(BadField) as caught:
        parse(REQUESTS[command.code], command.fields)
    assert caught.value.name == "queueId"
    assert command.code == RequestCode.GET_MAX_OFFSET
