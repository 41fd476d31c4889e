# SPDX-License-Identifier: Apache-2.0
"""The table and the picture of a run."""

import json
from xml.etree import ElementTree

import pytest

from eruca.bench.plot import plot
from eruca.bench.report import HEAD, Report, remarks, report_from, rows, times_better
from eruca.bench.run import Result
from eruca.bench.workload import WORKLOADS
from eruca.errors import BadField

ABOUT = {"python": "3.11", "compiled": True, "loop": "uvloop", "cores": 2, "machine": "x86_64"}


def result(name: str, **figures: object) -> Result:
    found = Result(name, 1000, 0, 1.0, 1000.0, 0.5, 2.0, 3.0, 40.0, 1.0, 0.2, rates=[1.0, 2.0, 0.0])
    for key, value in figures.items():
        setattr(found, key, value)
    return found


def a_report() -> Report:
    results = [result(name) for name in WORKLOADS]
    results[-2] = result("idle", kib_each=12.5, p50_ms=None, p99_ms=None)
    return Report(ABOUT, results, 0.42)


def test_a_report_survives_its_file() -> None:
    report = a_report()
    assert report_from(json.loads(json.dumps(report.as_dict()))) == report


@pytest.mark.parametrize("value", [None, [], {"results": 3}, {"other": []}])
def test_what_is_no_report_is_refused(value: object) -> None:
    with pytest.raises(BadField, match="--save"):
        report_from(value)


def test_every_workload_has_a_row() -> None:
    head, table = rows(a_report())
    assert head == list(HEAD)
    assert [row[0] for row in table] == list(WORKLOADS)
    assert {len(row) for row in table} == {len(HEAD)}


def test_better_is_more_or_less() -> None:
    assert times_better(result("send", per_second=2000.0), result("send")) == 2.0
    assert times_better(result("send-1", p50_ms=1.0), result("send-1")) == 0.5
    assert times_better(result("send"), None) is None
    head, table = rows(a_report(), a_report())
    assert head[-1] == "times better"
    assert {row[-1] for row in table} == {1.0}


def test_what_went_wrong_is_said() -> None:
    report = Report(
        ABOUT,
        [
            result("send", failed=7),
            result("pull", problem="nobody there"),
            result("batch", generator_busy=0.97),
        ],
    )
    text = "\n".join(remarks(report))
    assert "send: 7 FAILED" in text
    assert "pull FAILED: nobody there" in text
    assert "batch: this program was busy" in text


@pytest.mark.parametrize("against", [None, a_report()], ids=["alone", "against"])
def test_the_picture_shows_every_workload(against: Report | None) -> None:
    report = a_report()
    picture = ElementTree.fromstring(plot(report, against))
    texts = [each.text or "" for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {result.name for result in report.results if result.name != "idle"} <= set(texts)
    assert any("12.5 KiB" in text for text in texts)
    width, height = float(picture.get("width", "0")), float(picture.get("height", "0"))
    for shape in picture.iter("{http://www.w3.org/2000/svg}rect"):
        right = float(shape.get("x", "0")) + float(shape.get("width", "0"))
        below = float(shape.get("y", "0")) + float(shape.get("height", "0"))
        assert right <= width and below <= height


def test_a_picture_of_nothing_is_a_picture() -> None:
    for results in ([], [Result("send", problem="broken")], [Result("e2e"), Result("idle")]):
        ElementTree.fromstring(plot(Report(ABOUT, results)))
