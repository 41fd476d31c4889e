# SPDX-License-Identifier: Apache-2.0
"""Looking four bytes at a time finds what looking at each byte finds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.wire.seek import is_plain, quote_at, separator_at

# Few different bytes, so that every pattern of neighbours turns up: borrows run between them.
NEAR = st.lists(st.sampled_from(b'\x00\x01\x02\x03 !"#[\\]~\x7f\x80\xff'), max_size=24).map(bytes)


def first(data: bytes, wanted: bytes, at: int, end: int) -> int:
    return next((i for i in range(at, end) if data[i] in wanted), end)


@given(st.one_of(NEAR, st.binary(max_size=40)), st.integers(0, 8), st.integers(0, 8))
def test_finds_the_first(data: bytes, skipped: int, left: int) -> None:
    at, end = min(skipped, len(data)), max(min(skipped, len(data)), len(data) - left)
    assert quote_at(data, at, end) == first(data, b'"\\', at, end)
    assert separator_at(data, at, end) == first(data, b"\x00\x01\x02", at, end)


@given(st.one_of(NEAR, st.text("ab cd~", max_size=20).map(str.encode)))
def test_plain_is_what_json_leaves_alone(data: bytes) -> None:
    text = data.decode("latin-1")
    untouched = json.dumps(text) == f'"{text}"' and "\x7f" not in text
    assert is_plain(data, 0, len(data)) is untouched


@pytest.mark.parametrize("at", range(9))
def test_stays_inside(at: int) -> None:
    data = b'aaaaaaaa"'
    assert quote_at(data, at, 8) == 8
    assert quote_at(data, at, 9) == 8
