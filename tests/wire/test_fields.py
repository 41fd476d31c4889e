# SPDX-License-Identifier: Apache-2.0
"""Dataclasses as headers and as JSON: what is read, what is refused, what is written."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.errors import BadField
from eruca.wire import javajson
from eruca.wire.fields import Int32, MessageQueue, from_json, parse, to_json, wire, written


class Mode(Enum):
    PULL = "pull"
    POP = "pop"


@dataclass(frozen=True, slots=True)
class Part:
    name: str = wire("theName", "none")


@dataclass(frozen=True, slots=True)
class Whole:
    group: str = wire("consumerGroup")
    queue_id: Int32 = wire("queueId")
    offset: int = wire("commitOffset", -1)
    force: bool = wire("isForce", False)
    ratio: float | None = wire("ratio", None)
    mode: Mode | None = wire("mode", None)
    parts: list[Part] | None = wire("partList", None)
    ids: dict[int, str] | None = wire("idTable", None)
    offsets: dict[MessageQueue, int] | None = wire("offsetTable", None)
    raw: object = wire("raw", None)
    seen: int = 0  # not on the wire


def test_a_header_is_read_and_written() -> None:
    texts = {"consumerGroup": "g", "queueId": "3", "isForce": "TRUE", "mode": "pop"}
    header = parse(Whole, texts | {"other": "x"})
    assert header == Whole("g", 3, -1, True, mode=Mode.POP)
    assert written(header) == texts | {"commitOffset": "-1", "isForce": "true", "mode": "POP"}


def test_a_dict_is_its_own_header() -> None:
    assert written({"a": "b"}) == {"a": "b"}


@pytest.mark.parametrize(
    ("queue_id", "problem"),
    [(None, "is missing"), ("", "not a number"), ("x", "not a number"), ("1_0", "not a number"),
     (" 1", "not a number"), ("1.5", "not a whole number"), ("2147483648", "32 bits"),
     ("nan", "not a whole number"), ("1e400", "not a whole number"), ("9" * 5000, "not a")],
    ids=lambda text: str(text)[:12],
)  # fmt: skip
def test_a_bad_number_names_its_field(queue_id: str | None, problem: str) -> None:
    texts = {"consumerGroup": "g"} | ({} if queue_id is None else {"queueId": queue_id})
    with pytest.raises(BadField, match=problem) as caught:
        parse(Whole, texts)
    assert caught.value.name == "queueId"


def test_numbers_are_bounded_by_their_java_types() -> None:
    ends = {"consumerGroup": "g", "queueId": str(-(2**31)), "commitOffset": str(2**63 - 1)}
    assert parse(Whole, ends).offset == 2**63 - 1
    with pytest.raises(BadField, match="64 bits"):
        parse(Whole, ends | {"commitOffset": str(2**63)})


def test_json_is_read_as_java_reads_it() -> None:
    body = from_json(
        Whole,
        javajson.loads(
            '{consumerGroup:7,queueId:"6",commitOffset:6.0,isForce:"true",mode:"Pop",ratio:"1.5",'
            'partList:[{"theName":null},null,{"theName":"x","more":1}],idTable:{0:"a","1":"b"},'
            'offsetTable:{{"topic":"t","brokerName":"b","queueId":1}:"9"},raw:{1:[2]},unknown:{}}'
        ),
    )
    assert body == Whole(
        "7", 6, 6, True, 1.5, Mode.POP, [Part(), Part("x")], {0: "a", 1: "b"},
        {MessageQueue("t", "b", 1): 9}, {1: [2]},
    )  # fmt: skip


def test_enums_also_come_as_ordinals_and_unknown_ones_count_as_missing() -> None:
    base = {"consumerGroup": "g", "queueId": 0}
    assert from_json(Whole, base | {"mode": 1}).mode is Mode.POP
    assert from_json(Whole, base | {"mode": 2}).mode is None
    assert from_json(Whole, base | {"mode": "PUSH"}).mode is None


def test_older_libraries_quote_queues_as_keys() -> None:
    key = '{"brokerName":"b","queueId":1,"topic":"t"}'
    body = from_json(Whole, {"consumerGroup": "g", "queueId": 0, "offsetTable": {key: 9}})
    assert body.offsets == {MessageQueue("t", "b", 1): 9}


@pytest.mark.parametrize(
    ("name", "value"),
    [("partList", {}), ("partList", ["x"]), ("idTable", []), ("idTable", {"x": "y"}),
     ("offsetTable", {"x": 1}), ("offsetTable", {7: 1}), ("queueId", []), ("queueId", 1.5),
     ("consumerGroup", {}), ("ratio", "x"), ("ratio", {})],
)  # fmt: skip
def test_a_member_of_the_wrong_shape_is_refused(name: str, value: Any) -> None:
    with pytest.raises(BadField):
        from_json(Whole, {"consumerGroup": "g", "queueId": 0} | {name: value})


def test_bodies_leave_out_none_and_keep_java_doubles() -> None:
    body = to_json(Whole("g", 1, ratio=2, parts=[Part("x")]))
    assert javajson.dumps(body) == (
        b'{"commitOffset":-1,"consumerGroup":"g","isForce":false,"partList":[{"theName":"x"}],'
        b'"queueId":1,"ratio":2.0}'
    )


INT64 = st.integers(-(2**63), 2**63 - 1)
WHOLES = st.builds(
    Whole,
    st.text(),
    st.integers(-(2**31), 2**31 - 1),
    INT64,
    st.booleans(),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.sampled_from(Mode),
    st.none() | st.lists(st.builds(Part, st.text())),
    st.none() | st.dictionaries(INT64, st.text()),
    st.none() | st.dictionaries(st.builds(MessageQueue, st.text(), st.text(), st.just(1)), INT64),
)


@given(WHOLES)
def test_json_comes_back(whole: Whole) -> None:
    for bare in (False, True):
        text = javajson.dumps(to_json(whole), bare_int_keys=bare)
        assert from_json(Whole, javajson.loads(text)) == whole


@given(st.text(), st.integers(-(2**31), 2**31 - 1), INT64, st.booleans())
def test_headers_come_back(group: str, queue_id: int, offset: int, force: bool) -> None:
    whole = Whole(group, queue_id, offset, force)
    assert parse(Whole, written(whole)) == whole


@given(st.dictionaries(st.sampled_from(["consumerGroup", "queueId", "isForce", "mode"]), st.text()))
def test_any_header_is_read_or_refused(texts: dict[str, str]) -> None:
    try:
        parse(Whole, texts)
    except BadField as error:
        assert error.name in ("consumerGroup", "queueId")
