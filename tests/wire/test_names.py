# SPDX-License-Identifier: Apache-2.0
"""Names that may be, and names that must never become a directory."""

import pytest

from eruca.wire import names

NEVER = ["", " ", "a b", "../x", "..", "/etc", "a/b", "a\\b", "a\0b", "orders\n", "é", "a@b", "."]


@pytest.mark.parametrize("name", ["orders", "a-b_c%d|e", "%RETRY%g", "x" * 127, "0"])
def test_topics_that_may_be(name: str) -> None:
    assert names.topic_problem(name) is None
    assert names.is_safe(name)


@pytest.mark.parametrize("name", [*NEVER, "x" * 128, "orders.eu", "a+b", "%RETRY%" + "g" * 249])
def test_topics_that_may_not_be(name: str) -> None:
    problem = names.topic_problem(name)
    assert problem is not None
    assert len(problem) < 400


@pytest.mark.parametrize("name", [*NEVER, "x" * 256, ".hidden"])
def test_names_that_are_not_safe(name: str) -> None:
    assert not names.is_safe(name)


def test_derived_topics_may_be_longer() -> None:
    assert names.topic_problem(names.retry_topic("g" * 120)) is None
    assert names.topic_problem(names.dead_letter_topic("g" * 250)) is None
    assert names.is_safe(names.pop_retry_topics("t" * 120, "g" * 120)[1])


def test_groups_have_their_own_limit() -> None:
    assert names.group_problem("g" * 120) is None
    assert names.group_problem("g" * 121) is not None
