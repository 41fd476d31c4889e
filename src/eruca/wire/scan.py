# SPDX-License-Identifier: Apache-2.0
"""Hot request headers, read in one pass and without a dictionary.

`read_binary` and `read_json` walk a header once and hand every field to an `Ask`, which keeps
what it needs (hot.py has one for each hot request). The layouts are those of header.py.
"""

import json
from typing import Final

from librt.strings import BytesWriter, read_i16_be, read_i32_be, write_i32_be
from mypy_extensions import i64

from eruca.errors import FrameError
from eruca.wire.header import BINARY_HEADER_SIZE_MIN, language_named
from eruca.wire.seek import BACKSLASH, QUOTE, has_quote, quote_at


class Ask:
    """What a hot request asks, filled field by field; hot.py has one for each of them."""

    __slots__ = ("flag", "language", "opaque", "version")

    def __init__(self) -> None:
        self.opaque: i64 = 0
        self.flag: i64 = 0
        self.version: i64 = 0
        self.language: i64 = 0

    def put(self, data: bytes, key_at: i64, key_end: i64, value: bytes, at: i64, end: i64) -> None:
        """Take the field `data[key_at:key_end]` with the value `value[at:end]`."""
        raise NotImplementedError


def read_binary(data: bytes, at: i64, end: i64, ask: Ask) -> None:
    """Fill `ask` from the binary header `data[at:end]`; raises FrameError as `decode` does."""
    if end - at < BINARY_HEADER_SIZE_MIN:
        raise FrameError("binary header too short")
    ask.language = i64(data[at + 2])
    ask.version = i64(read_i16_be(data, at + 3))
    ask.opaque = i64(read_i32_be(data, at + 5))
    ask.flag = i64(read_i32_be(data, at + 9))
    remark_size = i64(read_i32_be(data, at + 13))
    if remark_size < 0 or remark_size > end - at - BINARY_HEADER_SIZE_MIN:
        raise FrameError(f"remark of {remark_size} bytes")
    at += 17 + remark_size
    fields_end = at + 4 + i64(read_i32_be(data, at))
    at += 4
    if fields_end < at or fields_end > end:
        raise FrameError("fields longer than the header")
    while at < fields_end:
        key_end = at + 2 + i64(read_i16_be(data, at))
        if key_end < at + 2 or key_end + 4 > fields_end:
            raise FrameError("a field's key is longer than the header")
        value_end = key_end + 4 + i64(read_i32_be(data, key_end))
        if value_end < key_end + 4 or value_end > fields_end:
            raise FrameError("a field's value is longer than the header")
        if value_end > key_end + 4:
            ask.put(data, at + 2, key_end, data, key_end + 4, value_end)
        at = value_end


JSON_START: Final = b'{"code":'
FIELDS_START: Final = b',"extFields":{'
COMMA: Final = 44
COLON: Final = 58
BRACE_CLOSE: Final = 125
MINUS: Final = 45
ZERO: Final = 48
NINE: Final = 57
LETTER_U: Final = 117
DIGITS_0001: Final = 0x30303031
DIGITS_0002: Final = 0x30303032


def json_code(data: bytes, at: i64, end: i64) -> i64:
    """The code of a JSON header written the way Java and its kin write it; -1: decode it."""
    if end - at < 16 or data[at : at + 8] != JSON_START:
        return -1
    code: i64 = 0
    at += 8
    while at < end and ZERO <= data[at] <= NINE and code < 1_000_000:
        code = code * 10 + i64(data[at]) - ZERO
        at += 1
    return code


def read_json(data: bytes, at: i64, end: i64, ask: Ask) -> bool:
    """Fill `ask` from a JSON header in the usual shape; False: some other shape, use `decode`.

    The usual shape is {"code":N,"extFields":{"k":"v",...},"flag":N,...} without white space.
    Whatever else is legal JSON takes the slower road, so nothing here needs to be complete.
    """
    at += len(JSON_START)
    while at < end and data[at] != COMMA:
        at += 1
    if data[at : at + len(FIELDS_START)] != FIELDS_START:
        return False
    at += len(FIELDS_START)
    while at < end and data[at] == QUOTE:
        key_end = at + 2  # Most names are one letter.
        letter = i64(data[at + 1]) if key_end < end else QUOTE
        if letter == QUOTE or letter == BACKSLASH or data[key_end] != QUOTE:
            key_end = _string_end(data, at + 1, end)
        if key_end < 0 or key_end + 2 >= end or data[key_end + 1] != COLON:
            return False
        value_at = key_end + 3
        if data[key_end + 2] != QUOTE:
            return False
        value_end = _string_end(data, value_at, end)
        if value_end >= 0:
            ask.put(data, at + 1, key_end, data, value_at, value_end)
        else:  # It holds escapes, or never ends.
            value, value_end = _unescaped(data, value_at, end)
            if value_end < 0:
                return False
            ask.put(data, at + 1, key_end, value, 0, len(value))
        at = value_end + 1
        if at < end and data[at] == COMMA:
            at += 1
    if at >= end or data[at] != BRACE_CLOSE:
        return False
    return _read_json_tail(data, at + 1, end, ask)


def _read_json_tail(data: bytes, at: i64, end: i64, ask: Ask) -> bool:
    """The members behind extFields: "flag", "language", "opaque", ... up to the last brace."""
    while at < end and data[at] == COMMA:
        key_at = at + 2
        key_end = _string_end(data, key_at, end)
        if key_end < 0 or key_end + 2 >= end:
            return False
        at = key_end + 2
        if data[at] == QUOTE:
            value_end = _string_end(data, at + 1, end)
            if value_end < 0:
                return False
            if data[key_at] == 108:  # language
                name = data[at + 1 : value_end]
                ask.language = 0 if name == b"JAVA" else language_named(name.decode("latin-1"))
            at = value_end + 1
        else:
            value_at = at
            while at < end and data[at] != COMMA and data[at] != BRACE_CLOSE:
                at += 1
            number = whole(data, value_at, at)
            if data[key_at] == 111:  # opaque
                ask.opaque = number
            elif data[key_at] == 102:  # flag
                ask.flag = number
            elif data[key_at] == 118:  # version
                ask.version = number
    return at == end - 1 and data[at] == BRACE_CLOSE


def whole(data: bytes, at: i64, end: i64) -> i64:
    """The decimal number in `data[at:end]`; raises FrameError when it is not one."""
    negative = at < end and data[at] == MINUS
    if negative:
        at += 1
    if at >= end or end - at > 18:
        raise FrameError(f"not a number: {data[at:end]!r}")
    number: i64 = 0
    while at < end:
        digit = i64(data[at]) - ZERO
        if digit < 0 or digit > 9:
            raise FrameError(f"not a number: {data[at:end]!r}")
        number = number * 10 + digit
        at += 1
    return -number if negative else number


def _string_end(data: bytes, at: i64, end: i64) -> i64:
    """Where the closing quote is; -1 when there is an escape before it, or none at all."""
    at = quote_at(data, at, end)
    if at < end and i64(data[at]) == QUOTE:
        return at
    return -1


def _unescaped(data: bytes, start: i64, end: i64) -> tuple[bytes, i64]:
    """The UTF-8 of the JSON string from `start` on, and where its closing quote is (-1: nowhere).

    \\u0001 and \\u0002, of which property texts are full, are met here; any other escape is left
    to the library.
    """
    out = BytesWriter()
    at = start
    is_simple = True
    while at < end:
        if at + 4 <= end and not has_quote(data, at):
            write_i32_be(out, read_i32_be(data, at))
            at += 4
            continue
        c = i64(data[at])
        if c == QUOTE:
            return out.getvalue() if is_simple else _decoded(data[start - 1 : at + 1]), at
        if c != BACKSLASH:
            out.append(int(c))
            at += 1
        elif at + 6 <= end and data[at + 1] == LETTER_U and _is_separator(data, at + 2):
            out.append(int(i64(data[at + 5]) - ZERO))
            at += 6
        else:
            is_simple = False
            at += 2
    return b"", -1


def _is_separator(data: bytes, at: i64) -> bool:
    digits = read_i32_be(data, at)
    return digits == DIGITS_0001 or digits == DIGITS_0002


def _decoded(quoted: bytes) -> bytes:
    try:
        return str(json.loads(quoted)).encode("utf-8", "replace")
    except ValueError:
        raise FrameError("a string of the header is not JSON") from None
