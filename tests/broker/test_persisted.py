# SPDX-License-Identifier: Apache-2.0
"""One file of state and its .bak: what a crash, a Java broker or a bad disk may leave there."""

import json
from pathlib import Path
from typing import cast

import pytest

from eruca.broker.persisted import StateFile
from eruca.errors import ConfigError
from eruca.store.disk import Disk
from eruca.wire.bodies import GroupConfig, GroupTable
from eruca.wire.kept import KeptOffsets

from .state import FakeClock, read_only, state_file

OLD = KeptOffsets({"t@g": {0: 1}})
NEW = KeptOffsets({"t@g": {0: 2, 11: 5}})


def test_nothing_there_is_a_fresh_start(tmp_path: Path) -> None:
    assert state_file(tmp_path).load(KeptOffsets) is None


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    file = state_file(tmp_path)
    assert file.save(NEW)
    assert state_file(tmp_path).load(KeptOffsets) == NEW


def test_the_text_is_what_java_reads(tmp_path: Path) -> None:
    state_file(tmp_path).save(NEW)
    assert json.loads((tmp_path / "state.json").read_text())["offsetTable"] == {
        "t@g": {"0": 2, "11": 5}
    }


def test_the_previous_version_stays_beside_it(tmp_path: Path) -> None:
    file = state_file(tmp_path)
    file.save(OLD)
    file.save(NEW)
    (tmp_path / "state.json").unlink()  # Java has a moment with only the .bak.
    again = state_file(tmp_path)
    assert again.load(KeptOffsets) == OLD
    assert again.fallback_count == 0


@pytest.mark.parametrize(
    "garbage", [b"", b"{", b"\0" * 512, b"[1]", b"null", b"\xff\xfe", b"[" * 99999]
)
def test_garbage_falls_back_to_the_previous_version(tmp_path: Path, garbage: bytes) -> None:
    file = state_file(tmp_path)
    file.save(OLD)
    file.save(NEW)
    (tmp_path / "state.json").write_bytes(garbage)
    again = state_file(tmp_path)
    assert again.load(KeptOffsets) == OLD
    assert again.fallback_count == 1


def test_a_fallback_never_overwrites_its_only_sound_version(tmp_path: Path) -> None:
    file = state_file(tmp_path)
    file.save(OLD)
    file.save(NEW)
    (tmp_path / "state.json").write_bytes(b"garbage")
    again = state_file(tmp_path)
    again.load(KeptOffsets)
    again.save(NEW)
    assert json.loads((tmp_path / "state.json.bak").read_text())["offsetTable"] == {"t@g": {"0": 1}}
    again.save(OLD)
    assert "11" in (tmp_path / "state.json.bak").read_text()


@pytest.mark.parametrize(
    "names", [["state.json"], ["state.json.bak"], ["state.json", "state.json.bak"]]
)
def test_nothing_sound_refuses_the_start_and_names_the_files(
    tmp_path: Path, names: list[str]
) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"{broken")
    with pytest.raises(ConfigError) as refused:
        state_file(tmp_path).load(KeptOffsets)
    for name in names:
        assert name in str(refused.value)


def test_javas_bare_integer_keys_are_read(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"offsetTable":{"t@g":{0:110,1:83}}}')
    found = state_file(tmp_path).load(KeptOffsets)
    assert found == KeptOffsets({"t@g": {0: 110, 1: 83}})


def test_a_bad_entry_is_left_out_and_counted(tmp_path: Path) -> None:
    text = {
        "subscriptionGroupTable": {
            "good": {"groupName": "good"},
            "bad": {"groupName": "bad", "retryMaxTimes": "many"},
            "worse": 7,
        },
        "forbiddenTable": {"good": {"t": 4}, "bad": "x"},
        "somethingNew": {"a": 1},
    }
    (tmp_path / "state.json").write_text(json.dumps(text))
    file = state_file(tmp_path)
    found = file.load(GroupTable)
    assert found is not None
    assert found.groups == {"good": GroupConfig("good")}
    assert found.forbidden == {"good": {"t": 4}}
    assert file.skipped_count == 3


def test_a_refusing_disk_is_counted_and_tried_again(tmp_path: Path) -> None:
    file = state_file(tmp_path)
    with read_only(tmp_path):
        assert not file.save(NEW)
    assert file.failed_count == 1
    assert file.save(NEW)
    assert state_file(tmp_path).load(KeptOffsets) == NEW


def test_a_save_is_followed_by_a_rest_as_its_cost_demands(tmp_path: Path) -> None:
    class SlowDisk:
        def replace(self, path: str, data: bytes, *, keep_backup: bool) -> None:
            clock.ms += 10

    clock = FakeClock()
    file = StateFile(cast(Disk, SlowDisk()), "state.json", clock)
    rested = [file.is_rested]
    file.save(NEW)
    for pause_ms in (89, 1):
        clock.ms += pause_ms
        rested.append(file.is_rested)
    assert rested == [True, False, True]


def test_a_failure_is_not_tried_again_at_once(tmp_path: Path) -> None:
    clock = FakeClock()
    file = state_file(tmp_path, clock=clock)
    with read_only(tmp_path):
        file.save(NEW)
    rested = [file.is_rested]
    clock.ms += 1000
    rested.append(file.is_rested)
    assert rested == [False, True]
