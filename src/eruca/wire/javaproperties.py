# SPDX-License-Identifier: Apache-2.0
r"""Java's properties format: configuration files, and bodies that show and change them.

    # comment          ! comment          key=value          key: value          key value
    a value that is \
        continued                         \t \n \r \f \\ \u6d88   \ before any other letter vanishes

The last of two equal keys wins.
"""

import re
from collections.abc import Mapping
from typing import Final

_PROPERTY: Final = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*(?:[=:][ \t\f]*)?")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.?))")
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(text: str) -> dict[str, str]:
    """The pairs of a properties text."""
    values: dict[str, str] = {}
    logical = ""
    for line in [*re.split(r"\r\n|\r|\n", text), ""]:
        line = line.lstrip(" \t\f")
        if not logical and (not line or line[0] in "#!"):
            continue
        logical += line
        if line and (len(logical) - len(logical.rstrip("\\"))) % 2:
            logical = logical[:-1]
            continue
        found = _PROPERTY.match(logical)
        assert found  # The pattern matches any text.
        values[_unescaped(found[1])] = _unescaped(logical[found.end() :])
        logical = ""
    return values


def written_properties(values: Mapping[str, str]) -> str:
    """The text that read_properties reads back, one line per key, sorted."""
    return "".join(f"{_escaped(key, ' =:#!')}={_escaped(values[key])}\n" for key in sorted(values))


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _ESCAPES.get(found[2], found[2])

    return _ESCAPE.sub(plain, text)


def _escaped(text: str, special: str = "") -> str:
    text = text.replace("\\", "\\\\")
    for letter, plain in _ESCAPES.items():
        text = text.replace(plain, "\\" + letter)
    text = "".join("\\" + each if each in special else each for each in text)
    return "\\" + text if text.startswith(" ") else text
