# SPDX-License-Identifier: Apache-2.0
"""JSON as Java's fastjson writes and reads it.

    {0:"a",2:"b"}                                           keys that are bare numbers
    {{"brokerName":"b","queueId":0,"topic":"t"}:{...}}      keys that are queues

`loads` takes both and what else fastjson tolerates: single quotes, bare words as keys, trailing
commas, `/* */` comments. Bare numbers in key position become int keys, objects become MessageQueue
keys; quoted keys stay text (fields.from_json makes numbers of them where numbers are wanted).

`dumps` writes members sorted, None left out, no spaces, raw UTF-8. Integer keys are quoted unless
asked otherwise: every Java version reads quoted ones, and so does every other language. Queues as
keys are always bare objects: Java 5.5 refuses quoted ones.
"""

import json
import math
import re
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, Final

from eruca.errors import BadField
from eruca.wire.fields import MessageQueue, from_json

__all__ = ["MessageQueue", "dumps", "loads"]


_STRICT: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def loads(text: bytes | str) -> Any:
    """The value of one JSON text; BadField if it is none."""
    if not isinstance(text, str):
        text = text.decode("utf-8", "replace")  # Java: bad bytes become U+FFFD
    text = text.removeprefix("\ufeff")
    try:
        try:
            return json.loads(text)
        except ValueError:
            return _Reader(text).document()
    except ValueError as error:
        raise BadField("JSON", str(error)) from None
    except RecursionError:
        raise BadField("JSON", "is nested too deeply") from None


def dumps(value: object, *, bare_int_keys: bool = False) -> bytes:
    """The JSON text of dicts, lists, strings, numbers, booleans and None."""
    if not bare_int_keys:
        try:  # Ten times faster, and the same text for what is strict JSON without nulls.
            text = _STRICT.encode(value)
        except (TypeError, ValueError):
            pass
        else:
            if ":null" not in text:
                return text.encode("utf-8", "replace")
    out: list[str] = []
    _write(value, out, bare_int_keys)
    return "".join(out).encode("utf-8", "replace")


def _write(value: Any, out: list[str], bare_int_keys: bool) -> None:
    if isinstance(value, str):
        out.append(encode_basestring(value))
    elif value is None:
        out.append("null")
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    elif isinstance(value, int):
        out.append(int.__repr__(value))
    elif isinstance(value, float):
        out.append(java_double(value))
    elif isinstance(value, dict):
        _write_object(value, out, bare_int_keys)
    elif isinstance(value, list | tuple):
        out.append("[")
        for each in value:
            _write(each, out, bare_int_keys)
            out.append(",")
        _close(out, "]")
    else:
        raise TypeError(f"{type(value).__name__} has no JSON form")


def _write_object(value: dict[Any, Any], out: list[str], bare_int_keys: bool) -> None:
    out.append("{")
    for key in sorted(value, key=_rank):
        member = value[key]
        if member is None:
            continue
        if isinstance(key, str):
            out.append(encode_basestring(key))
        elif isinstance(key, MessageQueue):
            out.append(
                f'{{"brokerName":{encode_basestring(key.broker_name)},"queueId":{key.queue_id},'
                f'"topic":{encode_basestring(key.topic)}}}'
            )
        else:
            out.append(str(key) if bare_int_keys else f'"{key}"')
        out.append(":")
        _write(member, out, bare_int_keys)
        out.append(",")
    _close(out, "}")


def _rank(key: Any) -> tuple[int, Any]:
    """Kinds of keys may mix in JSON that was kept as it came."""
    return (0 if isinstance(key, str) else 1 if isinstance(key, int) else 2), key


def _close(out: list[str], end: str) -> None:
    """Put `end` in place of the last member's comma, or behind the opening if there is none."""
    if out[-1] == ",":
        out[-1] = end
    else:
        out.append(end)


def java_double(value: float) -> str:
    """A double as Java prints it: `0.0`, `1.5`, `1.0E10`."""
    if not math.isfinite(value):
        return "null"  # Java: fastjson has no other way to say it
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    # repr is as short as Java's digits; only the notation differs.
    digits, exponent = f"{Decimal(repr(value)).normalize():E}".split("E")
    return f"{digits}{'' if '.' in digits else '.0'}E{int(exponent)}"


_BLANK: Final = re.compile(r"(?:\s|/\*.*?\*/)*", re.DOTALL)
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_QUOTED: Final = re.compile(
    r"""'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)\"""", re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_WORDS: Final = {"true": True, "false": False, "null": None, "NaN": math.nan}


class _Reader:
    """A recursive descent over one text; every problem is a ValueError that says where."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> Any:
        value = self._value()
        if self._next():
            raise self._error("text after the end")
        return value

    def _next(self) -> str:
        """The next character that means something, or "" at the end."""
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._text[self._at : self._at + 1]

    def _error(self, problem: str) -> ValueError:
        return ValueError(f"{problem} at character {self._at}")

    def _value(self) -> Any:
        first = self._next()
        if first == "{":
            return self._object()
        if first == "[":
            return self._list()
        if first in ("'", '"'):
            return self._string()
        if word := _WORD.match(self._text, self._at):
            if word[0] not in _WORDS:
                raise self._error("unknown word")
            self._at = word.end()
            return _WORDS[word[0]]
        return self._number()

    def _number(self) -> int | float:
        number = _NUMBER.match(self._text, self._at)
        if not number:
            raise self._error("no value")
        self._at = number.end()
        whole = number[1] is None and number[2] is None
        return int(number[0]) if whole else float(number[0])

    def _object(self) -> dict[Any, Any]:
        members: dict[Any, Any] = {}
        self._at += 1
        while (first := self._next()) != "}":
            key = self._key(first)
            if self._next() != ":":
                raise self._error("no colon")
            self._at += 1
            members[key] = self._value()
            self._separator("}")
        self._at += 1
        return members

    def _list(self) -> list[Any]:
        values = []
        self._at += 1
        while self._next() != "]":
            values.append(self._value())
            self._separator("]")
        self._at += 1
        return values

    def _separator(self, end: str) -> None:
        found = self._next()
        if found == ",":
            self._at += 1
        elif found != end:
            raise self._error(f"neither comma nor {end}")

    def _key(self, first: str) -> str | int | MessageQueue:
        if first in ("'", '"'):
            return self._string()
        if first == "{":
            return from_json(MessageQueue, self._object())
        if word := _WORD.match(self._text, self._at):
            self._at = word.end()
            return word[0]
        number = self._number()
        if not isinstance(number, int):
            raise self._error("a fraction as key")
        return number

    def _string(self) -> str:
        quoted = _QUOTED.match(self._text, self._at)
        if not quoted:
            raise self._error("a string without end")
        self._at = quoted.end()
        body = quoted[1] if quoted[2] is None else quoted[2]
        if "\\" not in body:
            return body
        body = _ESCAPE.sub(_unescape, body)  # A character beyond U+FFFF comes as two escapes.
        return body.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code)
