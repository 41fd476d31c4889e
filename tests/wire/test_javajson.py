# SPDX-License-Identifier: Apache-2.0
"""The dialect of JSON that Java's libraries write and read."""

import json
import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.errors import BadField
from eruca.wire.fields import MessageQueue
from eruca.wire.javajson import dumps, java_double, loads

from .golden import entries

QUEUE = MessageQueue("t", "b", 7)
QUEUE_TEXT = '{"brokerName":"b","queueId":7,"topic":"t"}'


def java_texts() -> list[Any]:
    return [
        pytest.param(text, id=f"{name}-{form}")
        for name, shape in entries("json-shapes.json").items()
        for form, text in shape.items()
    ]


@pytest.mark.parametrize("text", java_texts())
def test_every_shape_of_java_comes_back_unchanged(text: str) -> None:
    assert dumps(loads(text), bare_int_keys=True).decode() == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{0:"a",2:"b"}', {0: "a", 2: "b"}),
        ('{"0":"a"}', {"0": "a"}),
        ("{-1:1}", {-1: 1}),
        (f"{{{QUEUE_TEXT}:5}}", {QUEUE: 5}),
        (f"{{{QUEUE_TEXT}:{{0:1}}}}", {QUEUE: {0: 1}}),
        ("{topic:'x'}", {"topic": "x"}),
        ("{'a':1,}", {"a": 1}),
        ("[1,2,]", [1, 2]),
        ("/* hello */ {/* a */ 1 : /**/ 2 }", {1: 2}),
        ("{1:true,2:false,3:null,4:1.5e3}", {1: True, 2: False, 3: None, 4: 1500.0}),
        (r"{1:'\u00e9\n\'\x41\\'}", {1: "é\n'A\\"}),
        (r"{1:'\ud83d\ude00'}", {1: "\U0001f600"}),
        ("\ufeff[]", []),
        (b"\xef\xbb\xbf{}", {}),
        (b'["\xff"]', ["\ufffd"]),
    ],
)
def test_what_strict_parsers_refuse(text: bytes | str, value: Any) -> None:
    assert loads(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1", "{1:}", "{1 2}", "{1.5:1}", "{'a:1}", "[1 2]", "{} {}", "nul", "{:1}", "-",
     "/*", '{{"topic":"t"}:1}', "[" * 100_000, "{1:" * 100_000, "[" + "9" * 10_000 + "]"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_nonsense_is_a_bad_field(text: str) -> None:
    with pytest.raises(BadField):
        loads(text)


def test_dumps_sorts_leaves_out_none_and_writes_utf8() -> None:
    assert (
        dumps({"b": 1, "a": None, "c": "é\x01\t\x7f"}) == '{"b":1,"c":"é\\u0001\\t\x7f"}'.encode()
    )
    assert dumps([None, {}, [], True]) == b"[null,{},[],true]"


def test_dumps_quotes_int_keys_unless_asked_and_never_queues() -> None:
    value = {"m": {10: "b", 9: "a"}, "q": {QUEUE: 1}}
    assert dumps(value).decode() == f'{{"m":{{"9":"a","10":"b"}},"q":{{{QUEUE_TEXT}:1}}}}'
    assert b'{9:"a",10:"b"}' in dumps(value, bare_int_keys=True)
    assert dumps({1: 2, "a": 3, QUEUE: 4}).decode() == f'{{"a":3,"1":2,{QUEUE_TEXT}:4}}'


def test_doubles_look_like_javas() -> None:
    texts = {
        0.0: "0.0", 1.5: "1.5", -2.0: "-2.0", 0.001: "0.001", 9999999.5: "9999999.5",
        1e7: "1.0E7", 1e10: "1.0E10", 12345678.0: "1.2345678E7", 1.25e-5: "1.25E-5",
        1.7976931348623157e308: "1.7976931348623157E308", math.inf: "null", math.nan: "null",
    }  # fmt: skip
    assert {value: java_double(value) for value in texts} == texts


def test_a_half_surrogate_cannot_break_a_body() -> None:
    assert dumps({"a": "\ud800"}) == b'{"a":"?"}'


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False)
)
QUEUES = st.builds(MessageQueue, st.text(), st.text(), st.integers(0, 2**31))
KEYS = [st.text(), st.integers(-(2**63), 2**63 - 1), QUEUES]
VALUES = st.recursive(
    SCALARS.filter(lambda value: value is not None),
    lambda inner: st.lists(inner) | st.one_of([st.dictionaries(key, inner) for key in KEYS]),
)


@given(VALUES)
def test_what_is_written_can_be_read(value: Any) -> None:
    assert loads(dumps(value, bare_int_keys=True)) == value


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_strict_json_means_the_same(value: Any) -> None:
    text = json.dumps(value)
    assert loads(text) == value
    assert loads("{1:" + text + "}") == {1: value}  # through our own reader


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(BadField):
        loads(text)


@given(VALUES)
def test_quoting_keys_changes_nothing_else(value: Any) -> None:
    quoted = loads(dumps({"": value}))
    bare = loads(dumps({"": value}, bare_int_keys=True))
    assert text_keys(quoted) == text_keys(bare)


def text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): text_keys(each) for key, each in value.items()}
    return [text_keys(each) for each in value] if isinstance(value, list) else value
