# SPDX-License-Identifier: Apache-2.0
"""Where groups are: commits, resets, copies, removals, and both of Java's files."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.broker.offsets import NO_OFFSET, Offsets
from eruca.config import BrokerSettings
from eruca.errors import ConfigError
from eruca.wire import javajson
from eruca.wire.fields import to_json

from .state import FakeClock, golden_file, state_file

SETTINGS = BrokerSettings()
PLAIN, LIGHT = "consumerOffset.json", "lmqConsumerOffset.json"


def made(directory: Path, *, lmq: bool = False) -> Offsets:
    files = state_file(directory, PLAIN), state_file(directory, LIGHT)
    offsets = Offsets(replace(SETTINGS, lmq=lmq), *files, FakeClock())
    offsets.load()
    return offsets


@pytest.fixture
def offsets(tmp_path: Path) -> Offsets:
    return made(tmp_path)


def test_commit_and_find(offsets: Offsets) -> None:
    assert offsets.find("g", "t", 0) == NO_OFFSET
    offsets.commit("g", "t", 0, 5)
    offsets.commit("g", "t", 1, 0)
    offsets.commit("g", "t", 0, 4)  # Backwards: whoever asks for it gets it again.
    assert offsets.find("g", "t", 0) == 4
    assert offsets.find("g", "t", 1) == 0
    assert offsets.find("g", "t", 2) == NO_OFFSET
    assert offsets.of("g", "t") == {0: 4, 1: 0}
    assert offsets.of("h", "t") == {}


def test_pull_offsets_are_apart(offsets: Offsets) -> None:
    offsets.commit_pull("g", "t", 0, 9)
    assert offsets.find("g", "t", 0) == NO_OFFSET
    assert offsets.find_pull("g", "t", 0) == 9
    offsets.clear_pull("g", "t")
    assert offsets.find_pull("g", "t", 0) == NO_OFFSET


def test_who_reads_what(offsets: Offsets) -> None:
    for topic, group in (("t", "g"), ("t", "h"), ("u", "g"), ("t", "g@broadcast")):
        offsets.commit(group, topic, 0, 1)
    assert offsets.topics_of("g") == ["t", "u"]
    assert offsets.groups_of("t") == ["g", "h"]
    assert offsets.topics_of("broadcast") == []
    assert offsets.as_table().group_topics == {"g": ["t", "u"], "h": ["t"]}


def test_the_lowest_offset_of_all_groups(offsets: Offsets) -> None:
    for group, queue_id, offset in (("g", 0, 10), ("h", 0, 7), ("i", 0, 2), ("h", 1, 5)):
        offsets.commit(group, "t", queue_id, offset)
    assert offsets.lowest("t", set(), lambda queue_id: 3) == {0: 7, 1: 5}
    assert offsets.lowest("t", {"h"}, lambda queue_id: 3) == {0: 10}
    assert offsets.lowest("u", set(), lambda queue_id: 0) == {}
    assert offsets.find("h", "t", 0) == 7  # Asking removes nothing.


# Resets.


def test_a_reset_is_handed_out_once(offsets: Offsets) -> None:
    offsets.commit("g", "t", 0, 100)
    offsets.reset("g", "t", 0, 10)
    offsets.reset("g", "t", 1, 20)
    assert offsets.has_reset("g", "t", 0)
    assert not offsets.has_reset("h", "t", 0)
    assert offsets.find("g", "t", 0) == 10
    assert offsets.take_reset("g", "t", 0) == 10
    assert offsets.take_reset("g", "t", 0) is None
    assert not offsets.has_reset("g", "t", 0)
    assert offsets.find("g", "t", 0) == 10  # Also without a consumer online.
    assert offsets.take_reset("g", "t", 1) == 20
    assert offsets.resets == {}
    assert offsets.take_reset("g", "t", 1) is None


def test_a_reset_outlives_what_a_consumer_commits_meanwhile(offsets: Offsets) -> None:
    offsets.reset("g", "t", 0, 10)
    offsets.commit("g", "t", 0, 100)
    assert offsets.find("g", "t", 0) == 10
    offsets.settings = replace(SETTINGS, server_side_reset=False)
    assert offsets.find("g", "t", 0) == 100


# Copies and removals.


def test_a_clone_is_a_copy(offsets: Offsets) -> None:
    offsets.commit("g", "t", 0, 5)
    offsets.clone("g", "h", "t")
    offsets.commit("g", "t", 0, 6)
    assert offsets.find("h", "t", 0) == 5
    offsets.clone("nobody", "i", "t")
    assert offsets.groups_of("t") == ["g", "h"]


@pytest.mark.parametrize(
    ("remove", "left"),
    [
        (lambda offsets: offsets.remove_group("g"), {"t@h"}),
        (lambda offsets: offsets.remove_topic("t"), {"u@g"}),
        (lambda offsets: offsets.remove_topic("nothing"), {"t@g", "t@h", "u@g"}),
    ],
)
def test_removal_takes_all_tables(
    offsets: Offsets, remove: Callable[[Offsets], None], left: set[str]
) -> None:
    for topic, group in (("t", "g"), ("t", "h"), ("u", "g")):
        offsets.commit_pull(group, topic, 0, 1)
        offsets.reset(group, topic, 0, 1)
    remove(offsets)
    for table in (offsets.table, offsets.pull_table, offsets.resets):
        assert table.keys() == left


# Keeping.


def test_commits_are_saved_together(tmp_path: Path, offsets: Offsets) -> None:
    offsets.save_if_dirty()
    assert not (tmp_path / PLAIN).exists()
    offsets.commit("g", "t", 10, 7)
    offsets.commit_pull("g", "t", 10, 9)
    offsets.save_if_dirty()
    said = json.loads((tmp_path / PLAIN).read_text())
    assert said["offsetTable"] == {"t@g": {"10": 7}}
    assert said["dataVersion"]["counter"] == 1
    assert made(tmp_path).table == {"t@g": {10: 7}}
    assert not (tmp_path / LIGHT).exists()


def test_the_version_advances_once_in_many_commits(offsets: Offsets) -> None:
    counters = []
    for number in range(1500):
        offsets.commit("g", "t", 0, number)
        if number % 50 == 49:
            offsets.save_if_dirty()
            counters.append(offsets.version.counter)
    assert counters[0] == 1
    assert counters[-1] == 3


@pytest.mark.parametrize("lmq", [True, False])
@pytest.mark.parametrize("store", ["golden-store", "golden-store-ext"])
def test_javas_file_is_read(tmp_path: Path, store: str, lmq: bool) -> None:
    file = golden_file(tmp_path, store, LIGHT)
    raw = javajson.loads(Path(file.path).read_bytes())
    offsets = made(tmp_path, lmq=lmq)
    light = {key: {0: offset} for key, offset in raw["lmqOffsetTable"].items()}
    assert offsets.table == {**raw["offsetTable"], **light}
    assert to_json(offsets.version) | {"counter": 0} == raw["dataVersion"] | {"counter": 0}

    offsets.save_if_dirty()
    assert (tmp_path / PLAIN).exists() != lmq  # What came from the other file is kept in ours.

    offsets.commit("g", "t", 0, 1)
    offsets.save_if_dirty()
    said = json.loads((tmp_path / (LIGHT if lmq else PLAIN)).read_text())
    assert said["offsetTable"]["t@g"] == {"0": 1}
    assert made(tmp_path, lmq=lmq).table == offsets.table
    assert made(tmp_path, lmq=not lmq).table == offsets.table  # The newer file is read.


def test_groups_of_light_queues_have_their_own_part(tmp_path: Path) -> None:
    offsets = made(tmp_path, lmq=True)
    offsets.commit("%LMQ%g", "%LMQ%q", 0, 5)
    offsets.commit("g", "%LMQ%q", 0, 6)
    offsets.save_if_dirty()
    said = json.loads((tmp_path / LIGHT).read_text())
    assert said["lmqOffsetTable"] == {"%LMQ%q@%LMQ%g": 5}
    assert said["offsetTable"] == {"%LMQ%q@g": {"0": 6}}
    assert made(tmp_path, lmq=True).table == offsets.table


def test_two_broken_files_do_not_start_from_nothing(tmp_path: Path) -> None:
    (tmp_path / PLAIN).write_text("{")
    (tmp_path / f"{PLAIN}.bak").write_text("")
    with pytest.raises(ConfigError):
        made(tmp_path)


commits = st.tuples(
    st.sampled_from("gh"), st.sampled_from("tu"), st.integers(0, 3), st.integers(0, 9)
)


@given(st.lists(st.one_of(commits, st.none()), max_size=30))
def test_any_commits_and_restarts(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int, int] | None]
) -> None:
    """None is a save and a restart; a model says what must be there."""
    directory = tmp_path_factory.mktemp("offsets")
    offsets = made(directory)
    model: dict[tuple[str, str, int], int] = {}
    for step in steps:
        if step is None:
            offsets.save_if_dirty()
            offsets = made(directory)
        else:
            group, topic, queue_id, offset = step
            offsets.commit(group, topic, queue_id, offset)
            model[group, topic, queue_id] = offset
        for (group, topic, queue_id), offset in model.items():
            assert offsets.find(group, topic, queue_id) == offset
