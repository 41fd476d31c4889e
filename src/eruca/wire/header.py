# SPDX-License-Identifier: Apache-2.0
"""Command headers, in both encodings, and the way around the fields of the hot ones.

Kind 0, JSON: one object {"code", "extFields", "flag", "language", "opaque", "remark",
"serializeTypeCurrentRPC", "version"}, written in that order, absent members left out.

Kind 1, binary ("ROCKETMQ"):

    0     2          3          5        9      13            17
    | code | language | version | opaque | flag | remark size | remark | fields size | fields |

    a field:  | key size:16 | key | value size:32 | value |

`decode` builds a `Command` for whoever has time; scan.py reads hot requests without dictionaries.
"""

import json
from typing import Final, final

from librt.strings import (
    BytesWriter,
    read_i16_be,
    read_i32_be,
    write_i16_be,
    write_i32_be,
)
from mypy_extensions import i16, i32, i64

from eruca.errors import FrameError

JSON: Final = 0
BINARY: Final = 1

RESPONSE_FLAG: Final = 1
ONEWAY_FLAG: Final = 2

VERSION: Final = 513  # RocketMQ 5.5.0: clients read it off heartbeat answers to learn what we can.
LANGUAGES: Final = (
    "JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP",
    "OMS", "RUST", "NODE_JS",
)  # fmt: skip
LANGUAGE_UNKNOWN: Final = -1
LANGUAGE_JAVA: Final = 0  # Servers answer as Java does: some old clients look at it.
LANGUAGE_PYTHON: Final = 3

BINARY_HEADER_SIZE_MIN: Final = 21


@final
class Command:
    """One request or response, whole. `kind` is how it came, and so how it is answered."""

    __slots__ = (
        "body",
        "code",
        "fields",
        "flag",
        "kind",
        "language",
        "opaque",
        "remark",
        "version",
    )  # fmt: skip

    def __init__(
        self,
        code: int,
        opaque: int,
        *,
        kind: int = JSON,
        flag: int = 0,
        language: int = LANGUAGE_PYTHON,
        version: int = VERSION,
        remark: str | None = None,
        fields: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> None:
        self.code = code
        self.opaque = opaque
        self.kind = kind
        self.flag = flag
        self.language = language
        self.version = version
        self.remark = remark
        self.fields: dict[str, str] = {} if fields is None else fields
        self.body = body

    @property
    def is_response(self) -> bool:
        return self.flag & RESPONSE_FLAG != 0

    @property
    def is_oneway(self) -> bool:
        return self.flag & ONEWAY_FLAG != 0

    def __repr__(self) -> str:
        what = "response" if self.is_response else "request"
        return f"<{what} code={self.code} opaque={self.opaque} {self.fields} body={len(self.body)}>"


def decode(data: bytes, header_at: int, body_at: int, end: int, kind: int) -> Command:
    """The command in `data[header_at:end]`; raises FrameError when it is not one."""
    if kind == JSON:
        command = _decode_json(data[header_at:body_at])
    elif kind == BINARY:
        command = _decode_binary(data, header_at, body_at)
    else:
        raise FrameError(f"unknown header encoding {kind}")
    command.body = data[body_at:end]
    return command


def decode_frame(frame: bytes) -> Command:
    """The command in one whole frame, length included: for tests and tools."""
    mark = read_i32_be(frame, 4)
    body_at = 8 + i64(mark & 0xFFFFFF)
    return decode(frame, 8, body_at, len(frame), int((mark >> 24) & 0xFF))


def encode(command: Command) -> bytes:
    """The whole frame of `command`, in the encoding of its `kind`."""
    header = _encode_json(command) if command.kind == JSON else _encode_binary(command)
    frame = BytesWriter()
    write_i32_be(frame, i32(4 + len(header) + len(command.body)))
    write_i32_be(frame, i32(command.kind << 24 | len(header)))
    frame.write(header)
    frame.write(command.body)
    return frame.getvalue()


def language_named(name: object) -> int:
    """The number of a language given by name in any case, or by number; -1 when unknown."""
    if isinstance(name, int):
        return name if 0 <= name < len(LANGUAGES) else LANGUAGE_UNKNOWN
    text = str(name).upper()
    return LANGUAGES.index(text) if text in LANGUAGES else LANGUAGE_UNKNOWN


def _number(members: dict[str, object], name: str) -> int:
    value = members.get(name)
    if value is None:
        return 0
    try:
        return int(str(value))
    except ValueError:
        raise FrameError(f"header member {name} is not a number: {value!r}") from None


def _text(value: object) -> str:
    """A field's value as Java's map of strings would hold it."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _decode_json(header: bytes) -> Command:
    try:
        members = json.loads(header, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"header is not JSON: {error}") from None
    if not isinstance(members, dict):
        raise FrameError("header is not a JSON object")
    language = members.get("language")
    remark = members.get("remark")
    fields = members.get("extFields")
    texts: dict[str, str] = {}
    if isinstance(fields, dict):
        for key, value in fields.items():
            if value is not None:
                texts[key] = _text(value)
    return Command(
        _number(members, "code"),
        _number(members, "opaque"),
        kind=JSON,
        flag=_number(members, "flag"),
        language=LANGUAGE_JAVA if language is None else language_named(language),
        version=_number(members, "version"),
        remark=None if remark is None else _text(remark),
        fields=texts,
    )


def _decode_binary(data: bytes, at: i64, end: i64) -> Command:
    if end - at < BINARY_HEADER_SIZE_MIN:
        raise FrameError(f"binary header of {end - at} bytes")
    code = read_i16_be(data, at)
    language = i64(data[at + 2])
    version = read_i16_be(data, at + 3)
    opaque = read_i32_be(data, at + 5)
    flag = read_i32_be(data, at + 9)
    remark_size = i64(read_i32_be(data, at + 13))
    at += 17
    if remark_size < 0 or remark_size > end - at - 4:
        raise FrameError(f"remark of {remark_size} bytes")
    remark = _utf8(data, at, at + remark_size) if remark_size > 0 else None
    at += remark_size
    fields_size = i64(read_i32_be(data, at))
    at += 4
    if fields_size < 0 or fields_size > end - at:
        raise FrameError(f"fields of {fields_size} bytes")
    fields_end = at + fields_size
    fields: dict[str, str] = {}
    while at < fields_end:
        key_end, value_at, value_end = field_at(data, at, fields_end)
        if key_end > at + 2 and value_end > value_at:  # Java: what is empty reads as null.
            fields[_utf8(data, at + 2, key_end)] = _utf8(data, value_at, value_end)
        at = value_end
    return Command(
        int(code),
        int(opaque),
        kind=BINARY,
        flag=int(flag),
        language=int(language) if language < len(LANGUAGES) else LANGUAGE_UNKNOWN,
        version=int(version),
        remark=remark,
        fields=fields,
    )


def field_at(data: bytes, at: i64, end: i64) -> tuple[i64, i64, i64]:
    """(end of key, start of value, end of value) of the binary field at `at`."""
    if end - at < 6:
        raise FrameError("a field is cut off")
    key_end = at + 2 + i64(read_i16_be(data, at))
    if key_end < at + 2 or key_end + 4 > end:
        raise FrameError("a field's key is longer than the header")
    value_at = key_end + 4
    value_end = value_at + i64(read_i32_be(data, key_end))
    if value_end < value_at or value_end > end:
        raise FrameError("a field's value is longer than the header")
    return key_end, value_at, value_end


def _utf8(data: bytes, at: i64, end: i64) -> str:
    return data[at:end].decode("utf-8", "replace")  # Java replaces what is not UTF-8, too.


def _encode_json(command: Command) -> bytes:
    members: dict[str, object] = {"code": command.code}
    if command.fields:
        members["extFields"] = command.fields
    members["flag"] = command.flag
    if command.language != LANGUAGE_UNKNOWN:
        members["language"] = LANGUAGES[command.language]
    members["opaque"] = command.opaque
    if command.remark is not None:
        members["remark"] = command.remark
    members["serializeTypeCurrentRPC"] = "JSON"
    members["version"] = command.version
    text = json.dumps(members, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace")


def _encode_binary(command: Command) -> bytes:
    fields = BytesWriter()
    for key, value in command.fields.items():
        key_bytes = key.encode("utf-8", "replace")
        value_bytes = value.encode("utf-8", "replace")
        write_i16_be(fields, i16(len(key_bytes)))
        fields.write(key_bytes)
        write_i32_be(fields, i32(len(value_bytes)))
        fields.write(value_bytes)
    remark = b"" if command.remark is None else command.remark.encode("utf-8", "replace")
    header = BytesWriter()
    # Java: the code has 16 bits here; a larger one is cut, and refused by whoever reads it.
    write_i16_be(header, _low_16(command.code))
    header.append(command.language & 0xFF)
    write_i16_be(header, _low_16(command.version))
    write_i32_be(header, i32(command.opaque))
    write_i32_be(header, i32(command.flag))
    write_i32_be(header, i32(len(remark)))
    header.write(remark)
    write_i32_be(header, i32(len(fields)))
    header.write(fields.getvalue())
    return header.getvalue()


def _low_16(value: int) -> i16:
    return i16(((value & 0xFFFF) ^ 0x8000) - 0x8000)
