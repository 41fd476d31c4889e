# SPDX-License-Identifier: Apache-2.0
"""`eruca bench` against a broker of its own, for a moment."""

import asyncio
from pathlib import Path

import pytest

from cli.commands import Ended, eruca
from eruca.bench.workload import WORKLOADS

SMALL = ("--set", "mappedFileSizeCommitLog=67108864", "--seconds", "0.3")
QUICK = ("send", "send-sync", "send-1", "send-json", "batch", "pull", "e2e")


def test_quick_workloads_run(tmp_path: Path) -> None:
    saved, picture = str(tmp_path / "r.json"), tmp_path / "r.svg"
    words = ("--save", saved, "--plot", str(picture))
    results_of(asyncio.run(eruca("bench", *QUICK, "--json", *words, *SMALL)), QUICK)
    assert picture.read_text().startswith("<svg")

    again = asyncio.run(eruca("bench", "send", "--against", saved, *SMALL))
    assert again.code == 0, again.err
    assert "times better" in again.out


@pytest.mark.long
def test_every_workload_runs() -> None:
    results_of(asyncio.run(eruca("bench", "--json", *SMALL)), tuple(WORKLOADS))


def results_of(ended: Ended, names: tuple[str, ...]) -> None:
    assert ended.code == 0, ended.err + ended.out
    results = {each["name"]: each for each in ended.json["results"]}
    assert tuple(results) == names
    for name, each in results.items():
        assert each["messages"] > 0, name
        assert each["failed"] == 0, name
        assert each[WORKLOADS[name].figure] > 0, name
        assert each["server_own_mib"] > 0, name


def test_nobody_to_measure_is_one_line() -> None:
    ended = asyncio.run(eruca("bench", "--nameserver", "127.0.0.1:1"))
    assert ended.code == 1
    assert "Traceback" not in ended.err


def test_a_bad_setting_is_one_line() -> None:
    ended = asyncio.run(eruca("bench", "send", "--against", "/nowhere.json"))
    assert (ended.code, ended.err) == (1, "eruca: /nowhere.json: no such file\n")
