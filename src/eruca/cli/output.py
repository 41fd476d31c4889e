# SPDX-License-Identifier: Apache-2.0
"""What commands print: tables for people, JSON for programs, one line for what failed."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any


def fail(problem: str) -> int:
    """Say what is wrong; the exit code for it."""
    print(f"eruca: {problem}", file=sys.stderr, flush=True)
    return 1


def warn(text: str) -> None:
    print(f"eruca: {text}", file=sys.stderr, flush=True)


def say(text: str = "") -> None:
    print(text, flush=True)


def show_json(value: object, *, flush: bool = True) -> None:
    """One value on one line; dataclasses become objects with their own names."""
    print(json.dumps(value, default=_plain, ensure_ascii=False), flush=flush)


def show_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns as wide as they need to be, numbers to the right."""
    texts = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(head), *texts]) for i in range(len(head))]
    numeric = [
        bool(rows) and all(isinstance(row[i], int | float | None) for row in rows)
        for i in range(len(head))
    ]
    for line in [list(head), *texts]:
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ]
        print("  ".join(cells).rstrip())
    sys.stdout.flush()


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def _plain(value: Any) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    raise TypeError(f"{type(value).__name__} has no JSON form")
