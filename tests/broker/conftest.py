# SPDX-License-Identifier: Apache-2.0
"""The broker that most tests of its requests share: fresh, empty, closed at the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .here import Bench, Link


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as bench:
        yield bench


@pytest.fixture
def link(bench: Bench) -> Link:
    return bench.link()
