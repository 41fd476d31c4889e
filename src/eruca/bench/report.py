# SPDX-License-Identifier: Apache-2.0
"""The figures of a run, as a table and as JSON that a later run can be compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from eruca.bench.run import Result
from eruca.bench.workload import WORKLOADS
from eruca.errors import BadField

HEAD: Final = (
    "workload", "messages/s", "p50 ms", "p99 ms", "server us", "generator us", "busy %", "own MiB",
)  # fmt: skip
LEGEND: Final = (
    "server us, generator us: processor time per message of the broker and of this program;\n"
    "busy: how much of one core this program used; own MiB: the broker's, without mapped files"
)


@dataclass(frozen=True, slots=True)
class Report:
    """`about` says what the figures depend on."""

    about: Mapping[str, object]
    results: Sequence[Result]
    start_seconds: float | None = None

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"about": dict(self.about)}
        if self.start_seconds is not None:
            found["start_seconds"] = self.start_seconds
        found["results"] = [result.as_dict() for result in self.results]
        return found


def report_from(value: object) -> Report:
    """What `as_dict` made. Raises BadField."""
    if not isinstance(value, dict) or not isinstance(value.get("results"), list):
        raise BadField("--against", "is not a file that --save wrote")
    known = {each.name for each in fields(Result)}
    results = []
    for each in value["results"]:
        if isinstance(each, dict) and each.get("name") in WORKLOADS:
            results.append(Result(**{name: each[name] for name in each if name in known}))
    return Report(value.get("about") or {}, results, value.get("start_seconds"))


def rows(report: Report, against: Report | None = None) -> tuple[list[str], list[list[object]]]:
    """Head and rows of the table; with `against` a column that says how many times better."""
    earlier = {result.name: result for result in against.results} if against else {}
    head = [*HEAD, *(("times better",) if against else ())]
    table: list[list[object]] = []
    for result in report.results:
        idle = WORKLOADS[result.name].kind == "idle"
        row: list[object] = [
            result.name,
            None if idle or result.problem else result.per_second,
            result.p50_ms,
            result.p99_ms,
            None if idle else result.server_us,
            None if idle else result.generator_us,
            None if result.generator_busy is None else result.generator_busy * 100,
            result.server_own_mib,
        ]
        if against:
            row.append(times_better(result, earlier.get(result.name)))
        table.append(row)
    return head, table


def remarks(report: Report) -> list[str]:
    """What does not fit into the table."""
    lines = []
    for result in report.results:
        if result.problem:
            lines.append(f"{result.name} FAILED: {result.problem}")
        if result.failed:
            lines.append(f"{result.name}: {result.failed} FAILED, {result.messages} went well")
        if result.kib_each is not None:
            lines.append(f"{result.name}: {result.kib_each:.1f} KiB per connection")
        if result.create_seconds is not None:
            lines.append(f"{result.name}: topics created in {result.create_seconds:.1f} s")
        if result.generator_bound:
            lines.append(f"{result.name}: this program was busy throughout: the broker may do more")
    if report.start_seconds is not None:
        lines.append(f"the broker listened {report.start_seconds:.2f} s after it was started")
    return lines


def times_better(result: Result, earlier: Result | None) -> float | None:
    if earlier is None or not result.figure or not earlier.figure:
        return None
    ratio = result.figure / earlier.figure
    return ratio if WORKLOADS[result.name].better else 1 / ratio


def about_line(about: Mapping[str, object]) -> str:
    build = "compiled" if about.get("compiled") else "interpreted"
    return (
        f"Python {about.get('python')}, {build}, {about.get('loop')} loop, "
        f"{about.get('cores')} cores ({about.get('machine')})"
    )
