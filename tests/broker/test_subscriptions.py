# SPDX-License-Identifier: Apache-2.0
"""Tag expressions and the hashes that messages are tested with."""

import pytest

from eruca.broker.subscriptions import Subscription, from_heartbeat, subscription
from eruca.errors import BadField
from eruca.wire.bodies import SubscriptionData

TAG_A, TAG_B = 2598919, 2598920  # Java: "TagA".hashCode(), "TagB".hashCode()


@pytest.mark.parametrize("expression", [None, "", "*"])
def test_everything(expression: str | None) -> None:
    found = subscription("t", expression)
    assert found == Subscription("t", "*")
    assert found.wants(0)
    assert found.wants(TAG_A)


@pytest.mark.parametrize("expression", ["TagA||TagB", " TagA || TagB ", "TagA||||TagB||TagA||"])
def test_tags(expression: str) -> None:
    found = subscription("t", expression, version=7)
    assert found.tags == ("TagA", "TagB")
    assert found.codes == frozenset({TAG_A, TAG_B})
    assert found.wants(TAG_A)
    assert not found.wants(0)  # A message without a tag.
    data = found.as_data()
    assert (data.expression, data.version) == (expression, 7)
    assert data.codes == [TAG_A, TAG_B]


def test_a_star_among_tags_is_a_tag() -> None:
    assert subscription("t", "a || *").tags == ("a", "*")


@pytest.mark.parametrize("expression", ["||", " ", " || "])
def test_only_separators(expression: str) -> None:
    with pytest.raises(BadField):
        subscription("t", expression)
    found = from_heartbeat(SubscriptionData("t", expression))
    assert not found.wants(0)
    assert not found.wants(TAG_A)


def test_sql_is_not_looked_into() -> None:
    found = subscription("t", "price > 10", "SQL92", 3)
    assert not found.is_tags
    assert found.wants(TAG_A)
    assert found.as_data().expression_type == "SQL92"


def test_hashes_are_computed_not_believed() -> None:
    data = SubscriptionData("t", "TagA", tags=["x"], codes=[1], version=5, expression_type="")
    assert from_heartbeat(data).codes == frozenset({TAG_A})


def test_hashes_of_what_java_holds_in_two_units() -> None:
    found = subscription("t", "消息")
    assert found.codes == frozenset({31 * ord("消") + ord("息")})
