# SPDX-License-Identifier: Apache-2.0
"""Signed changes of attributes, one by one."""

import pytest

from eruca.broker.attributes import GROUP_ATTRIBUTES, TOPIC_ATTRIBUTES, altered, read_changes
from eruca.errors import BadField


def test_a_headers_text() -> None:
    assert read_changes("+queue.type=BatchCQ,+a=b=c,-reserve.time") == {
        "+queue.type": "BatchCQ",
        "+a": "b=c",
        "-reserve.time": "",
    }
    assert read_changes("") == read_changes(None) == {}


@pytest.mark.parametrize("text", ["a=b", "a", "+a", "-a=b", "+a=1,+a=2", "=", "+a=1,x"])
def test_texts_that_are_wrong(text: str) -> None:
    with pytest.raises(BadField):
        read_changes(text)


def test_creating_sets() -> None:
    changes = {"+queue.type": "BatchCQ", "+message.type": "FIFO", "+reserve.time": "-1"}
    assert altered(None, changes, TOPIC_ATTRIBUTES) == {
        "queue.type": "BatchCQ",
        "message.type": "FIFO",
        "reserve.time": "-1",
    }


def test_changing_sets_and_removes_and_keeps() -> None:
    before = {"message.type": "FIFO", "reserve.time": "5", "queue.type": "SimpleCQ"}
    after = altered(before, {"+message.type": "DELAY", "-reserve.time": ""}, TOPIC_ATTRIBUTES)
    assert after == {"message.type": "DELAY", "queue.type": "SimpleCQ"}
    assert before["message.type"] == "FIFO"


@pytest.mark.parametrize(
    ("current", "changes"),
    [
        (None, {"-message.type": ""}),
        (None, {"message.type": "FIFO"}),
        (None, {"+no.such": "1"}),
        (None, {"": "1"}),
        (None, {"+message.type": "fifo"}),
        (None, {"+reserve.time": "-2"}),
        (None, {"+reserve.time": "1e3"}),
        (None, {"+reserve.time": "٣"}),
        (None, {"+lite.topic.expiration": "43201"}),
        ({}, {"-reserve.time": ""}),
        ({}, {"+queue.type": "BatchCQ"}),
        ({"queue.type": "BatchCQ"}, {"-queue.type": ""}),
        ({"reserve.time": "1"}, {"-reserve.time": "", "+reserve.time": "2"}),
    ],
)
def test_changes_that_are_wrong(current: dict[str, str] | None, changes: dict[str, str]) -> None:
    with pytest.raises(BadField):
        altered(current, changes, TOPIC_ATTRIBUTES)


def test_attributes_of_groups() -> None:
    changes = {"+priority.factor": "100", "+lite.sub.model": "Exclusive", "+lite.bind.topic": "p"}
    assert len(altered(None, changes, GROUP_ATTRIBUTES)) == 3
    for wrong in ({"+priority.factor": "101"}, {"+lite.sub.client.max.event.cnt": "9"}):
        with pytest.raises(BadField):
            altered(None, wrong, GROUP_ATTRIBUTES)
