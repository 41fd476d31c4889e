# SPDX-License-Identifier: Apache-2.0
"""Consumer groups: made at start, by use, by administrators; what they are forbidden."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eruca.broker.groups import Groups
from eruca.config import BrokerSettings
from eruca.errors import BadField
from eruca.wire.bodies import CustomizedRetry, GroupConfig, RetryPolicy, SimpleSubscription
from eruca.wire.codes import ResponseCode
from eruca.wire.names import START_GROUPS

from .state import FakeClock, golden_file, state_file

SETTINGS = BrokerSettings()


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    return made(tmp_path)


def made(directory: Path, settings: BrokerSettings = SETTINGS) -> Groups:
    groups = Groups(settings, state_file(directory), FakeClock())
    groups.load()
    return groups


def test_the_groups_made_at_start(groups: Groups) -> None:
    assert tuple(groups.table) == START_GROUPS
    assert len(START_GROUPS) == 8


@pytest.mark.parametrize("store", ["golden-store", "golden-store-ext"])
def test_javas_file_is_read(tmp_path: Path, store: str) -> None:
    file = golden_file(tmp_path, store, "subscriptionGroup.json")
    raw = json.loads(Path(file.path).read_text())
    groups = Groups(SETTINGS, file, FakeClock())
    groups.load()
    assert groups.table.keys() == raw["subscriptionGroupTable"].keys() | set(START_GROUPS)
    assert groups.version.counter == raw["dataVersion"]["counter"]
    groups.dirty = True
    groups.save_if_dirty()
    again = json.loads(Path(file.path).read_text())
    for name, said in raw["subscriptionGroupTable"].items():
        assert again["subscriptionGroupTable"][name] == said
    assert again["dataVersion"] == raw["dataVersion"]


def test_a_group_is_made_when_it_is_first_asked_for(groups: Groups) -> None:
    version = groups.version
    assert groups.find("billing") is None
    assert groups.ensure("billing") == GroupConfig("billing")
    assert groups.find("billing") is groups.ensure("billing")
    assert groups.version.counter == version.counter + 1
    assert groups.dirty


def test_unless_that_is_switched_off(tmp_path: Path) -> None:
    groups = made(tmp_path, replace(SETTINGS, auto_create_group=False))
    assert groups.ensure("billing") is None
    assert groups.ensure("CID_RMQ_SYS_x") is not None
    groups.settings = replace(groups.settings, auto_create_system_group=False)
    assert groups.ensure("CID_RMQ_SYS_y") is None
    assert groups.ensure("TOOLS_CONSUMER") is not None


@pytest.mark.parametrize("name", ["", "../x", "a b", "g" * 121, "a@b"])
def test_no_group_has_a_bad_name(groups: Groups, name: str) -> None:
    assert groups.ensure(name) is None
    refusal = groups.update([GroupConfig("fine"), GroupConfig(name)])
    assert refusal is not None
    assert refusal.code == ResponseCode.INVALID_PARAMETER
    assert "fine" not in groups.table


def test_groups_have_a_limit(tmp_path: Path) -> None:
    groups = made(tmp_path, replace(SETTINGS, group_count_max=len(START_GROUPS) + 1))
    assert groups.ensure("one") is not None
    assert groups.ensure("two") is None
    assert groups.update([GroupConfig("two")]) is not None
    assert groups.update([GroupConfig("one", retry_count_max=3)]) is None


def test_update_replaces_all_but_the_attributes(groups: Groups) -> None:
    asked = GroupConfig("g", retry_count_max=3, attributes={"+priority.factor": "7"})
    assert groups.update([asked]) is None
    assert groups.update([GroupConfig("g", orderly=True)]) is None
    assert groups.find("g") == GroupConfig("g", orderly=True, attributes={"priority.factor": "7"})
    with pytest.raises(BadField):
        groups.update([GroupConfig("g", attributes={"+no.such": "1"})])


def test_delete_forgets_what_was_forbidden(groups: Groups) -> None:
    groups.ensure("g")
    groups.allow_reading("g", "t", False)
    assert groups.delete("g")
    assert groups.find("g") is None
    assert groups.may_read("g", "t")
    version = groups.version
    assert not groups.delete("g")
    assert groups.version == version


def test_forbidding_is_per_topic(groups: Groups) -> None:
    groups.forbidden = {"g": {"a": 8}}
    groups.allow_reading("g", "a", False)
    groups.allow_reading("g", "b", False)
    assert groups.forbidden == {"g": {"a": 12, "b": 4}}
    assert not groups.may_read("g", "a")
    assert groups.may_read("g", "c")
    assert groups.may_read("h", "a")
    groups.allow_reading("g", "b", True)
    groups.allow_reading("g", "a", True)
    assert groups.forbidden == {"g": {"a": 8}}
    groups.allow_reading("h", "a", True)
    assert "h" not in groups.forbidden


def test_everything_survives_a_restart(tmp_path: Path) -> None:
    groups = made(tmp_path)
    policy = RetryPolicy(customized=CustomizedRetry([1000, 5000]))
    groups.update(
        [
            GroupConfig(
                "g",
                consume_enable=False,
                retry_policy=policy,
                subscriptions=[SimpleSubscription("t", "TAG", "a")],
            )
        ]
    )
    groups.allow_reading("g", "t", False)
    groups.save_if_dirty()
    again = made(tmp_path)
    assert again.table == groups.table
    assert again.forbidden == groups.forbidden
    assert again.version == groups.version
    assert not again.dirty


def test_pages_go_by_name(groups: Groups) -> None:
    groups.allow_reading("CID_ONSAPI_PULL", "t", False)
    first, rest = groups.as_table(0, 5), groups.as_table(5, 5)
    assert [*first.groups, *rest.groups] == sorted(groups.table)
    assert first.forbidden.keys() | rest.forbidden.keys() == {"CID_ONSAPI_PULL"}
    assert groups.as_table(8, 5).groups == {}
