# SPDX-License-Identifier: Apache-2.0
"""Dataclasses and their two forms on the wire, from one declaration.

    @dataclass(frozen=True, slots=True)
    class UpdateConsumerOffset:
        group: str = wire("consumerGroup")           # required
        offset: int = wire("commitOffset", -1)       # optional

In a header every value is text (`parse`, `written`); in a body it is JSON (`from_json`, `to_json`,
whose values come from and go to javajson). Both read as Java reads: unknown members are ignored,
null is the same as missing, numbers may come as text and the reverse.

Types: str, int, float, bool, Enum (by name), X | None, list[X], dict[K, X] with K one of str, int
and MessageQueue, dataclasses made of these, and object for JSON that is kept as it is. A plain int
is an int64; `Int32` is one that Java declares as int. Fields without `wire` are not part of the
wire.

Whatever cannot be read raises BadField with the name the sender knows. The plan of a class is
worked out once, at its first use.
"""

import json
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, Final, TypeVar, cast

from eruca.errors import BadField

T = TypeVar("T")

Int32 = Annotated[int, 32]

_NAME: Final = "wire"


def wire(name: str, default: Any = MISSING, *, make: Callable[[], Any] | None = None) -> Any:
    """A field called `name` on the wire; with a default, or a maker of one, it may be missing."""
    if make is not None:
        return field(default_factory=make, metadata={_NAME: name})
    return field(default=default, metadata={_NAME: name})


def parse(kind: type[T], texts: dict[str, str]) -> T:
    """Read a header of class `kind` from extFields."""
    values: dict[str, Any] = {}
    for part in _plan(kind):
        text = texts.get(part.wire_name)
        if text is None:
            if part.required:
                raise BadField(part.wire_name, "is missing")
            continue
        try:
            value = part.read(text)
        except ValueError as error:
            raise BadField(part.wire_name, str(error)) from None
        if value is not None:
            values[part.name] = value
        elif part.required:
            raise BadField(part.wire_name, f"has an unknown value {text!r}")
    return kind(**values)


def written(header: object) -> dict[str, str]:
    """The extFields of a header; what is None stays out. A dict is its own header."""
    if isinstance(header, dict):
        return header
    texts: dict[str, str] = {}
    for part in _plan(type(header)):
        value = getattr(header, part.name)
        if value is not None:
            texts[part.wire_name] = _text(part.write(value))
    return texts


def from_json(kind: type[T], value: object) -> T:
    """Read an object of class `kind` from what javajson.loads returned."""
    if not isinstance(value, dict):
        raise BadField(kind.__name__, str(_unlike("an object", value)))
    values: dict[str, Any] = {}
    for part in _plan(kind):
        member = value.get(part.wire_name)
        if member is not None:
            try:
                member = part.read(member)
            except ValueError as error:
                raise BadField(part.wire_name, str(error)) from None
        if member is not None:
            values[part.name] = member
        elif part.required:
            raise BadField(part.wire_name, "is missing")
    return kind(**values)


def to_json(body: object) -> dict[str, Any]:
    """What javajson.dumps turns into the body's text; members that are None stay out."""
    members: dict[str, Any] = {}
    for part in _plan(type(body)):
        value = getattr(body, part.name)
        if value is not None:
            members[part.wire_name] = part.write(value)
    return members


@dataclass(frozen=True, slots=True, order=True)
class MessageQueue:
    """One queue of a topic on one broker. Java also uses it as the key of maps in JSON."""

    topic: str = wire("topic")
    broker_name: str = wire("brokerName")
    queue_id: int = wire("queueId")


@dataclass(frozen=True, slots=True)
class _Part:
    """How one field of a class is read and written."""

    name: str
    wire_name: str
    required: bool
    read: Callable[[Any], Any]  # None: not a value this field can have, as if it were missing
    write: Callable[[Any], Any]


_PLANS: Final[dict[type[Any], tuple[_Part, ...]]] = {}


def _plan(kind: type[Any]) -> tuple[_Part, ...]:
    plan = _PLANS.get(kind)
    if plan is None:
        plan = _PLANS[kind] = _planned(kind)
    return plan


def _planned(kind: type[Any]) -> tuple[_Part, ...]:
    hints = typing.get_type_hints(kind, include_extras=True)
    parts = []
    for each in fields(kind):
        if _NAME in each.metadata:
            required = each.default is MISSING and each.default_factory is MISSING
            read, write = _codec(hints[each.name])
            parts.append(_Part(each.name, each.metadata[_NAME], required, read, write))
    return tuple(parts)


Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]


def _codec(hint: Any) -> Codec:
    """The reader and the writer of one type."""
    if hint in _SCALARS:
        return _SCALARS[hint], float if hint is float else _same
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (some,) = (each for each in inner if each is not types.NoneType)
        return _codec(some)  # None never reaches a reader or a writer.
    if origin is list:
        return _list_codec(*_codec(inner[0]))
    if origin is dict:
        return _dict_codec(_key_reader(inner[0]), *_codec(inner[1]))
    if is_dataclass(hint):
        return lambda value: from_json(cast(type[Any], hint), value), to_json
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum_reader(hint), lambda value: value.name
    raise TypeError(f"no wire form for {hint!r}")


def _list_codec(read: Callable[[Any], Any], write: Callable[[Any], Any]) -> Codec:
    def read_list(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise _unlike("a list", value)
        return [read(each) for each in value if each is not None]

    return read_list, lambda value: [write(each) for each in value]


def _dict_codec(
    read_key: Callable[[Any], Any], read: Callable[[Any], Any], write: Callable[[Any], Any]
) -> Codec:
    def read_dict(value: Any) -> dict[Any, Any]:
        if not isinstance(value, dict):
            raise _unlike("an object", value)
        return {read_key(key): read(each) for key, each in value.items() if each is not None}

    return read_dict, lambda value: {key: write(each) for key, each in value.items()}


def _key_reader(hint: Any) -> Callable[[Any], Any]:
    return _queue_key if hint is MessageQueue else _SCALARS[hint]


def _queue_key(key: Any) -> MessageQueue:
    if isinstance(key, MessageQueue):
        return key
    # Java: fastjson 1 in its standard mode writes the object as text and quotes it.
    return from_json(MessageQueue, json.loads(key) if isinstance(key, str) else key)


def _enum_reader(kind: type[Enum]) -> Callable[[Any], Any]:
    members = list(kind)
    names = {member.name.upper(): member for member in members}

    def read_enum(value: Any) -> Enum | None:
        if isinstance(value, int) and not isinstance(value, bool):  # Java: an ordinal is accepted
            return members[value] if 0 <= value < len(members) else None
        return names.get(str(value).upper())

    return read_enum


def _same(value: Any) -> Any:
    return value


def _read_str(value: Any) -> str:
    if isinstance(value, dict | list):
        raise _unlike("text", value)
    return _text(value)


def _int_within(bits: int) -> Callable[[Any], int]:
    bound = 1 << (bits - 1)

    def read_int(value: Any) -> int:
        if isinstance(value, str):
            if not value or value[-1].isspace() or value[0].isspace() or "_" in value:
                raise _unlike("a number", value)  # int() would be kinder.
            value = _number(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int):
            raise _unlike("a whole number", value)
        if not -bound <= value < bound:
            raise ValueError(f"does not fit into {bits} bits")
        return int(value)

    return read_int


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return _read_float(text)


def _read_float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise _unlike("a number", value) from None


def _read_bool(value: Any) -> bool:
    if isinstance(value, str):  # Java: anything but "true" is false
        return value.lower() == "true"
    return bool(value)


def _text(value: Any) -> str:
    """A value as it stands in a header."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _unlike(wanted: str, value: object) -> ValueError:
    shown = repr(value)
    return ValueError(f"is {shown if len(shown) <= 40 else shown[:37] + '...'}, not {wanted}")


_SCALARS: Final[dict[Any, Callable[[Any], Any]]] = {
    str: _read_str,
    int: _int_within(64),
    Int32: _int_within(32),
    float: _read_float,
    bool: _read_bool,
    object: _same,
    Any: _same,
}
