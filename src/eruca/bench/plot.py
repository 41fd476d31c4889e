# SPDX-License-Identifier: Apache-2.0
"""The figures of a run as one picture: an SVG file that needs nothing else.

Three parts: throughput, with the rate over time at the right (a dent is a stall); latency, from
the median to the 99th percentile on a logarithmic scale; processor time per message. What an
earlier run had is drawn grey beneath.
"""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from eruca.bench.report import Report, about_line
from eruca.bench.run import Result
from eruca.bench.workload import WORKLOADS

WIDTH: Final = 960
LEFT: Final = 350  # where bars begin
BAR_WIDTH: Final = 300  # of the longest bar
SPARK_AT: Final = 740
SPARK_WIDTH: Final = 200
ROW: Final = 40
THICK: Final = 15
THIN: Final = 4

INK: Final = "#1f2933"
SOFT: Final = "#7b8794"
GRID: Final = "#e4e7eb"
EARLIER: Final = "#c3cad2"
RATE: Final = "#2f7d5b"
TAIL: Final = "#b0562a"
SERVER: Final = "#2c5d8f"
GENERATOR: Final = "#a9c4de"


def plot(report: Report, against: Report | None = None) -> str:
    """The text of the picture."""
    earlier = {result.name: result for result in against.results} if against else {}
    good = [result for result in report.results if not result.problem]
    sheet = _Sheet()
    sheet.text(20, 34, "eruca bench", INK, 20, bold=True)
    sheet.text(20, 54, about_line(report.about), SOFT, 12)
    sheet.y = 62
    rated = [each for each in good if WORKLOADS[each.name].figure == "per_second"]
    if rated:
        _throughput(sheet, rated, earlier)
    timed = [each for each in good if each.p50_ms and each.p99_ms]
    if timed:
        _latency(sheet, timed, earlier)
    costed = [each for each in rated if each.server_us is not None]
    if costed:
        _costs(sheet, costed, earlier)
    for result in good:
        if result.kib_each is not None:
            sheet.line(f"Idle connections: {result.kib_each:.1f} KiB of the broker's memory each.")
    if against:
        sheet.line("Grey: the earlier run.")
    return sheet.svg()


class _Sheet:
    """Shapes, and how far down the page they reach."""

    def __init__(self) -> None:
        self.y = 0.0
        self._shapes: list[str] = []
        self._known: set[str] = set()

    def text(
        self, x: float, y: float, text: str, color: str, size: int, *,
        bold: bool = False, anchor: str = "start",
    ) -> None:  # fmt: skip
        weight = ' font-weight="600"' if bold else ""
        self._shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" font-size="{size}"{weight} '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def bar(self, x: float, y: float, width: float, height: float, color: str) -> None:
        self._shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height:.1f}" '
            f'fill="{color}" rx="2"/>'
        )

    def stroke(self, points: Sequence[tuple[float, float]], color: str, width: float) -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._shapes.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}" '
            'stroke-linejoin="round"/>'
        )

    def dot(self, x: float, y: float, color: str) -> None:
        self._shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{color}"/>')

    def line(self, text: str) -> None:
        self.y += 22
        self.text(20, self.y, text, SOFT, 12)

    def part(self, title: str, unit: str) -> None:
        self.y += 38
        self.text(20, self.y, title, INK, 15, bold=True)
        self.text(LEFT, self.y, unit, SOFT, 12)
        self.y += 14

    def row(self, result: Result) -> float:
        """Name of one workload, its reason the first time; the middle of its row."""
        middle = self.y + ROW / 2
        if result.name in self._known:
            self.text(20, middle + 4, result.name, INK, 13, bold=True)
        else:
            self._known.add(result.name)
            self.text(20, middle - 2, result.name, INK, 13, bold=True)
            self.text(20, middle + 13, WORKLOADS[result.name].why, SOFT, 11)
        self.y += ROW
        return middle

    def svg(self) -> str:
        height = self.y + 24
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            f'width="{WIDTH}" height="{height:.0f}" '
            'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">\n'
            f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>\n'
            + "\n".join(self._shapes)
            + "\n</svg>\n"
        )


def _throughput(sheet: _Sheet, results: Sequence[Result], earlier: dict[str, Result]) -> None:
    sheet.part("Throughput", "messages a second")
    sheet.text(SPARK_AT, sheet.y - 14, "rate over time, from zero", SOFT, 12)
    largest = _largest(results, earlier, lambda each: each.per_second)
    for result in results:
        middle = sheet.row(result)
        before = earlier.get(result.name)
        if before:
            width = before.per_second / largest * BAR_WIDTH
            sheet.bar(LEFT, middle + THICK / 2 + 2, width, THIN, EARLIER)
        width = result.per_second / largest * BAR_WIDTH
        sheet.bar(LEFT, middle - THICK / 2, width, THICK, RATE)
        sheet.text(LEFT + width + 8, middle + 4, f"{result.per_second:,.0f}", INK, 12)
        _spark(sheet, result, middle)


def _spark(sheet: _Sheet, result: Result, middle: float) -> None:
    if len(result.rates) < 2:
        return
    top = max(result.rates) or 1.0
    low, height = middle + 13, ROW - 14
    step = SPARK_WIDTH / (len(result.rates) - 1)
    points = [
        (SPARK_AT + i * step, low - rate / top * height) for i, rate in enumerate(result.rates)
    ]
    sheet.stroke([(SPARK_AT, low), (SPARK_AT + SPARK_WIDTH, low)], GRID, 1)
    sheet.stroke(points, RATE, 1.5)


def _latency(sheet: _Sheet, results: Sequence[Result], earlier: dict[str, Result]) -> None:
    sheet.part("Latency", "milliseconds: median to 99th percentile")
    shown = [*results, *(earlier[each.name] for each in results if each.name in earlier)]
    low = math.floor(math.log10(min(each.p50_ms or 1.0 for each in shown)))
    high = math.ceil(math.log10(max(each.p99_ms or 1.0 for each in shown)))
    high = max(high, low + 1)
    scale = (WIDTH - LEFT - 130) / (high - low)

    def x_of(value_ms: float | None) -> float:
        return LEFT + (math.log10(max(value_ms or 0.0, 10.0**low)) - low) * scale

    top, bottom = sheet.y + 14, sheet.y + 14 + len(results) * ROW
    for power in range(low, high + 1):
        x = LEFT + (power - low) * scale
        sheet.stroke([(x, top), (x, bottom)], GRID, 1)
        sheet.text(x, top - 4, f"{10.0**power:g}", SOFT, 11, anchor="middle")
    sheet.y += 14
    for result in results:
        middle = sheet.row(result)
        before = earlier.get(result.name)
        if before and before.p50_ms:
            points = [(x_of(before.p50_ms), middle + 9), (x_of(before.p99_ms), middle + 9)]
            sheet.stroke(points, EARLIER, 4)
        points = [(x_of(result.p50_ms), middle), (x_of(result.p99_ms), middle)]
        sheet.stroke(points, TAIL, 3)
        sheet.dot(*points[0], TAIL)
        label = f"{result.p50_ms:.3g} to {result.p99_ms:.3g}"
        sheet.text(points[1][0] + 8, middle + 4, label, INK, 12)


def _costs(sheet: _Sheet, results: Sequence[Result], earlier: dict[str, Result]) -> None:
    sheet.part("Processor time", "microseconds per message: the broker; light: this program")
    largest = _largest(
        results, earlier, lambda each: max(each.server_us or 0.0, each.generator_us or 0.0)
    )
    for result in results:
        middle = sheet.row(result)
        before = earlier.get(result.name)
        if before and before.server_us:
            width = before.server_us / largest * BAR_WIDTH
            sheet.bar(LEFT, middle + THICK / 2 + 5, width, THIN, EARLIER)
        server, own = result.server_us or 0.0, result.generator_us or 0.0
        width = server / largest * BAR_WIDTH
        sheet.bar(LEFT, middle - THICK / 2, width, THICK - 3, SERVER)
        sheet.text(LEFT + width + 8, middle + 3, f"{server:.2f}", INK, 12)
        sheet.bar(LEFT, middle + THICK / 2 - 2, own / largest * BAR_WIDTH, THIN + 1, GENERATOR)


def _largest(
    results: Sequence[Result], earlier: dict[str, Result], figure: Callable[[Result], float]
) -> float:
    shown = [*results, *(earlier[each.name] for each in results if each.name in earlier)]
    return max([figure(each) for each in shown], default=1.0) or 1.0
