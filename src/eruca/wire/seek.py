# SPDX-License-Identifier: Apache-2.0
"""Where in a text the next byte of some kind stands, looked for four bytes at a time.

Most of reading a header is looking for its quotes, and most of reading properties for their
separators. A word w has a byte below n exactly when (w - n * ONES) & ~w & HIGHS is not zero;
a byte equal to c when w ^ c * ONES has one below 1. All of it fits into 64 bits, so it is the
same interpreted and compiled.
"""

from typing import Final

from librt.strings import read_i32_be
from mypy_extensions import i64

WORD: Final = 0xFFFFFFFF
ONES: Final = 0x01010101
HIGHS: Final = 0x80808080
QUOTES: Final = 0x22222222
BACKSLASHES: Final = 0x5C5C5C5C
SPACES: Final = 0x20202020
THREES: Final = 0x03030303

QUOTE: Final = 0x22
BACKSLASH: Final = 0x5C


def has_quote(data: bytes, at: i64) -> bool:
    """Whether one of the four bytes at `at` is a quote or a backslash."""
    w = i64(read_i32_be(data, at)) & WORD
    quote = w ^ QUOTES
    escape = w ^ BACKSLASHES
    return ((quote - ONES) & ~quote | (escape - ONES) & ~escape) & HIGHS != 0


def quote_at(data: bytes, at: i64, end: i64) -> i64:
    """Where the next quote or backslash is; `end` when there is none before it."""
    while at + 4 <= end and not has_quote(data, at):
        at += 4
    while at < end:
        c = i64(data[at])
        if c == QUOTE or c == BACKSLASH:
            return at
        at += 1
    return end


def separator_at(data: bytes, at: i64, end: i64) -> i64:
    """Where the next byte below 3 is, as separates properties; `end` when there is none."""
    while at + 4 <= end:
        w = i64(read_i32_be(data, at)) & WORD
        if (w - THREES) & ~w & HIGHS != 0:
            break
        at += 4
    while at < end:
        if i64(data[at]) < 3:
            return at
        at += 1
    return end


def is_plain(data: bytes, at: i64, end: i64) -> bool:
    """Whether `data[at:end]` can stand inside a JSON string as it is."""
    while at + 4 <= end:
        w = i64(read_i32_be(data, at)) & WORD
        quote = w ^ QUOTES
        escape = w ^ BACKSLASHES
        odd = (quote - ONES) & ~quote | (escape - ONES) & ~escape
        odd |= (w - SPACES) & ~w | w | w + ONES  # Below a space, beyond ASCII, or 127.
        if odd & HIGHS != 0:
            return False
        at += 4
    while at < end:
        c = i64(data[at])
        if c < 32 or c > 126 or c == QUOTE or c == BACKSLASH:
            return False
        at += 1
    return True
