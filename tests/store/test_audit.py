# SPDX-License-Identifier: Apache-2.0
"""The audit finds every bit that is flipped where something must agree with it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eruca.cli.main import main
from eruca.store.audit import Report, audit
from eruca.store.disk import Disk
from eruca.store.store import Store

from .places import abandon, close, draft_of, open_store, put, unpacked


def fill(store: Store, count: int) -> list[int]:
    return [
        int(
            put(
                store,
                draft_of(
                    "orders", n % 2, b"b" * 50, {"UNIQ_KEY": f"u{n}", "KEYS": f"k{n}", "TAGS": "t"}
                ),
                1000 * n,
            ).log_offset
        )
        for n in range(count)
    ]


def checked(root: Path) -> Report:
    return audit(Disk(), str(root), f"{root}/commitlog")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = open_store(tmp_path / "store")
    fill(store, 130)
    close(store)
    return tmp_path / "store"


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def first(directory: Path) -> Path:
    return sorted(path for path in directory.rglob("*") if path.is_file())[0]


@pytest.mark.parametrize("is_written_out", [False, True])
def test_a_store_in_use_is_sound(tmp_path: Path, is_written_out: bool) -> None:
    """Keys and entries that wait in memory are not missed, and not taken for damage."""
    store = open_store(tmp_path / "store")
    fill(store, 20)
    if is_written_out and store.index is not None:
        store.index.files[-1].write_out()  # Entries without their slots.
    report = checked(tmp_path / "store")
    assert report.is_sound, report.findings
    assert report.record_count == 20
    close(store)
    assert checked(tmp_path / "store").findings == []


def test_a_sound_store_is_sound(root: Path) -> None:
    report = checked(root)
    assert report.findings == []
    assert (report.record_count, report.entry_count, report.key_count) == (130, 130, 390)
    assert (report.queue_count, report.log_begin) == (2, 0)


SIZE, MAGIC, CRC, QUEUE_ID, QUEUE_OFFSET, OFFSET, BODY_SIZE, BODY, TOPIC, PROPERTIES = (
    3, 7, 11, 15, 27, 35, 87, 100, 140, 165,
)  # fmt: skip


@pytest.mark.parametrize(
    "field", [SIZE, MAGIC, CRC, QUEUE_ID, QUEUE_OFFSET, OFFSET, BODY_SIZE, BODY, TOPIC, PROPERTIES]
)
def test_bits_of_records(root: Path, field: int) -> None:
    third = Disk().read(f"{root}/commitlog/{0:020d}") or b""
    at = 2 * int.from_bytes(third[:4], "big")  # The first records have one size.
    flip(root / "commitlog" / f"{0:020d}", at + field)
    report = checked(root)
    assert not report.is_sound, field


@pytest.mark.parametrize("byte", range(20))
def test_bits_of_queue_entries(root: Path, byte: int) -> None:
    flip(first(root / "consumequeue"), 5 * 20 + byte)
    report = checked(root)
    assert not report.is_sound
    assert any("orders/0 offset 5" in finding.where for finding in report.findings)


@pytest.mark.parametrize("byte", [*range(20)])
def test_bits_of_index_entries(root: Path, byte: int) -> None:
    flip(first(root / "index"), 40 + 4 * 50 + 7 * 20 + byte)
    assert not checked(root).is_sound


def test_bits_of_index_slots(root: Path) -> None:
    path = first(root / "index")
    for slot in range(50):
        flip(path, 40 + 4 * slot + 3)
        assert not checked(root).is_sound
        flip(path, 40 + 4 * slot + 3)


def test_entries_behind_the_end(root: Path) -> None:
    path = first(root / "consumequeue")
    data = path.read_bytes()
    end = sorted(path.parent.iterdir())[-1]
    last = bytearray(end.read_bytes())
    free = next(at for at in range(0, len(last), 20) if not any(last[at : at + 20]))
    last[free : free + 20] = (10**9).to_bytes(8, "big") + data[8:20]
    end.write_bytes(last)
    assert any("leads nowhere" in finding.problem for finding in checked(root).findings)


def test_a_missing_segment(root: Path) -> None:
    sorted((root / "commitlog").iterdir())[1].unlink()
    assert not checked(root).is_sound


def test_a_checkpoint_ahead_of_the_log(root: Path) -> None:
    path = root / "checkpoint"
    data = bytearray(path.read_bytes())
    data[40:48] = (10**9).to_bytes(8, "big")
    path.write_bytes(data)
    assert not checked(root).is_sound


def test_what_a_kill_leaves_is_no_error(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    fill(store, 130)
    abandon(store)
    report = checked(tmp_path)
    assert report.is_sound and report.note_count > 0
    close(open_store(tmp_path))
    assert checked(tmp_path).findings == []


@pytest.mark.parametrize("name", ["golden-store", "golden-store-unclean", "golden-store-ext"])
def test_recorded_stores_are_sound(tmp_path: Path, name: str) -> None:
    recorded = unpacked(name, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in recorded.root.rglob("*")}
    report = checked(recorded.root)
    assert report.findings == []
    assert report.record_count == len(recorded.manifest["messages"])
    assert {path: path.stat().st_mtime_ns for path in recorded.root.rglob("*")} == before


# The command.


def test_check_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "check", str(root)]) == 0
    assert capsys.readouterr().out.startswith("sound: 130 records in ")
    flip(root / "commitlog" / f"{0:020d}", 100)
    assert main(["store", "check", str(root), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["sound"] is False
    assert answer["findings"][0]["kind"] == "error"


def test_the_store_is_found_below_the_data_directory(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["store", "check", str(root.parent)]) == 0
    assert capsys.readouterr().out.startswith("sound: 130 records in ")
    for action in ("check", "dump"):
        assert main(["store", action, str(root / "nowhere")]) == 1
        assert "name the directory that has `commitlog` in it" in capsys.readouterr().err
    (root / "nowhere" / "commitlog").mkdir(parents=True)
    assert main(["store", "dump", str(root / "nowhere")]) == 1
    assert "no log there" in capsys.readouterr().err


def test_dump_prints_records(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "dump", str(root), "--count", "3"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["offset"] for line in lines] == [0, 0, 1]
    assert lines[0]["properties"] == {"UNIQ_KEY": "u0", "KEYS": "k0", "TAGS": "t"}
    assert lines[0]["body"] == "b" * 50
    second = str(lines[1]["log_offset"])
    assert main(["store", "dump", str(root), "--from", second, "--topic", "orders"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 129
    assert main(["store", "dump", str(root), "--topic", "other"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["store", "dump", str(root), "--from", "5"]) == 1


def test_its_help_has_an_example() -> None:
    command = [sys.executable, "-m", "eruca", "store", "check", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=60)
    assert done.returncode == 0 and "example:" in done.stdout
