# SPDX-License-Identifier: Apache-2.0
"""Java's own reading of a file full of corner cases, and a round trip."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from eruca.wire.javaproperties import read_properties, written_properties

GOLDEN = Path(__file__).parent.parent / "golden" / "config"


def test_reads_as_java_does() -> None:
    text = (GOLDEN / "java.properties").read_text("latin-1")
    assert read_properties(text) == json.loads((GOLDEN / "java.properties.json").read_text())


def test_line_ends_may_be_of_any_system() -> None:
    for end in ("\n", "\r\n", "\r"):
        assert read_properties(end.join(["a=1", "", "b=2\\", "  3", "c=4"])) == {
            "a": "1",
            "b": "23",
            "c": "4",
        }


def test_an_empty_text_has_no_pairs() -> None:
    assert read_properties("") == read_properties("\\") == read_properties("# x\n\n") == {}


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.dictionaries(words.filter(bool), words, max_size=5))
def test_what_is_written_is_read_back(values: dict[str, str]) -> None:
    assert read_properties(written_properties(values)) == values
