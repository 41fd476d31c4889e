# SPDX-License-Identifier: Apache-2.0
"""conf/eruca.toml is the manual: every option is in it, as it is declared, with a word about it."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from eruca.config import Settings
from eruca.configure import BROKER, NAMESERVER, Reader

MANUAL = Path(__file__).parent.parent / "conf" / "eruca.toml"
PARTS = [part.name for part in fields(Settings)]


def test_the_manual_has_exactly_the_options_and_their_defaults() -> None:
    manual = tomllib.loads(MANUAL.read_text())
    declared = {
        part: {each.name: each.default for each in fields(getattr(Settings(), part))}
        for part in PARTS
    }
    assert manual == declared


@pytest.mark.parametrize("part", PARTS)
def test_each_line_names_its_java_key_and_whether_it_is_live(part: str) -> None:
    table = MANUAL.read_text().split(f"[{part}]\n")[1].split("\n[")[0]
    said = dict(re.findall(r"^(\w+) = .*?# ([\w.]+(?:, live)?)$", table, re.MULTILINE))
    declared = {
        each.name: each.metadata["key"] + (", live" if each.metadata["live"] else "")
        for each in fields(getattr(Settings(), part))
    }
    assert said == declared


def test_each_option_has_a_comment_in_its_paragraph() -> None:
    above = ""
    for line in MANUAL.read_text().splitlines():
        assert len(line) <= 110
        if re.match(r"\w+ = ", line):
            assert above, f"no comment above {line}"
        above = line


@pytest.mark.parametrize("parts", [BROKER, NAMESERVER])
def test_reading_the_manual_gives_the_defaults(parts: tuple[str, ...]) -> None:
    reader = Reader(parts)
    reader.toml(MANUAL.read_text())
    assert reader.settings() == Settings()
    assert reader.warnings == []
