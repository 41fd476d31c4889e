# SPDX-License-Identifier: Apache-2.0
"""Fill the settings from files and arguments; show and change them while a server runs.

    reader = Reader(BROKER)
    reader.toml(text), reader.properties(text), reader.pairs(["fileReservedTime=48"])
    settings = reader.settings().on(machine)        # and reader.warnings, each naming its key

Where several sources give an option, the last one read wins. Unlike Java, which ignores them in
silence, unknown keys and values that do not parse are warnings. To ignore some keys would be
dangerous: they raise ConfigError.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cache
from typing import Any, Final, get_type_hints

from eruca import config_keys
from eruca.config import (
    BrokerSettings,
    NameserverSettings,
    Role,
    ServerSettings,
    Settings,
    StoreSettings,
)
from eruca.errors import BadField, ConfigError
from eruca.wire.javaproperties import read_properties

BROKER: Final = ("server", "broker", "store")
NAMESERVER: Final = ("server", "nameserver")

_PARTS: Final[dict[str, type[Any]]] = {
    "server": ServerSettings,
    "broker": BrokerSettings,
    "store": StoreSettings,
    "nameserver": NameserverSettings,
}


@dataclass(frozen=True, slots=True)
class _Option:
    """One field of one part, with what its declaration says."""

    part: str
    name: str
    kind: type[Any]
    key: str
    default: Any
    live: bool

    def parsed(self, text: str) -> Any:
        """The value that `text` means; raises ValueError with the problem."""
        text = text.strip()
        if self.kind is bool:
            if text.lower() not in ("true", "false"):
                raise ValueError(f"{text!r} is neither true nor false")
            return text.lower() == "true"
        if self.kind is int:
            if not re.fullmatch(r"[+-]?\d{1,19}", text, re.ASCII):
                raise ValueError(f"{text!r} is not a whole number")
            return int(text)
        if issubclass(self.kind, StrEnum):
            if text not in list(self.kind):
                raise ValueError(f"{text!r} is not one of {', '.join(self.kind)}")
            return self.kind(text)
        return text


@cache
def _options(parts: tuple[str, ...]) -> tuple[_Option, ...]:
    found = []
    for part in parts:
        kinds = get_type_hints(_PARTS[part])
        for each in fields(_PARTS[part]):
            key, live = each.metadata["key"], each.metadata["live"]
            found.append(_Option(part, each.name, kinds[each.name], key, each.default, live))
    return tuple(found)


class Reader:
    """Collects options from files and arguments, for the parts that a process has."""

    def __init__(self, parts: tuple[str, ...]) -> None:
        self.warnings: list[str] = []
        self._parts = parts
        self._given: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}

    def properties(self, text: str) -> None:
        """Read a Java properties file, such as broker.conf."""
        self.keys(read_properties(text))

    def pairs(self, pairs: Iterable[str]) -> None:
        """Read `KEY=VALUE` arguments."""
        for pair in pairs:
            key, equals, value = pair.partition("=")
            if not equals:
                raise ConfigError(f"{pair!r} is not KEY=VALUE")
            self.keys({key.strip(): value.strip()})

    def keys(self, values: Mapping[str, str]) -> None:
        """Give each value to every part that has its key, as Java does."""
        for key, text in values.items():
            found = [each for each in _options(self._parts) if each.key == key]
            for option in found:
                self._give(option, text)
            if not found:
                self._unused(key, text)

    def toml(self, text: str) -> None:
        """Read Eruca's own file: one table per part, Eruca's names."""
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"not a TOML file: {error}") from None
        for part, table in tables.items():
            if part not in _PARTS or not isinstance(table, dict):
                self.warnings.append(f"[{part}] is not a table of options; ignored")
                continue
            options = {option.name: option for option in _options((part,))}
            for name, value in table.items():
                if name not in options:
                    self.warnings.append(_unknown(f"{part}.{name}", name, options))
                elif part in self._parts:
                    self._give(options[name], _shown(value))

    def settings(self) -> Settings:
        """Everything read, over the defaults. Raises ConfigError for what contradicts itself."""
        broker, store = self._given["broker"], self._given["store"]
        if broker.get("broker_id") and store.get("role", Role.ASYNC_MASTER) is not Role.SLAVE:
            # Java: a master's id is 0, whatever the file says.
            self.warnings.append(f"brokerId: {broker.pop('broker_id')} for a master; using 0")
        made = {part: kind(**self._given[part]) for part, kind in _PARTS.items()}
        return Settings(**made)

    def _give(self, option: _Option, text: str) -> None:
        given = self._given[option.part]
        try:
            given[option.name] = option.parsed(text)
        except ValueError as problem:
            if option.kind is bool:
                given[option.name] = False  # Java: whatever is not "true" is false.
            now = _shown(given.get(option.name, option.default))
            self.warnings.append(f"{option.key}: {problem}; using {now!r}")

    def _unused(self, key: str, text: str) -> None:
        default = config_keys.BROKER.get(key, config_keys.NAMESERVER.get(key))
        same = text.strip().lower() == (default or "").lower()
        if key in config_keys.REFUSED and not same:
            raise ConfigError(f"{key}: only {default} is served; to ignore {text!r} is dangerous")
        if key in config_keys.WITHOUT_EFFECT and not same:
            self.warnings.append(f"{key} has no effect here")
        elif default is None and key not in config_keys.UNSET:
            used = [option.key for option in _options(self._parts)]
            self.warnings.append(_unknown(key, key, used))


def changed(settings: Settings, values: Mapping[str, str], parts: tuple[str, ...]) -> Settings:
    """The settings after a change at run time: all of it or, with an error, nothing.

    Raises ConfigError for a key that must not be changed from outside, and BadField for a value
    that does not parse, is out of range, or contradicts another.
    """
    live = [option for option in _options(parts) if option.live]
    for key, text in values.items():
        found = [option for option in live if option.key == key]
        if not found:
            raise ConfigError(f"{key} cannot be changed while the server runs")
        try:
            for option in found:
                part = replace(getattr(settings, option.part), **{option.name: option.parsed(text)})
                settings = replace(settings, **{option.part: part})
        except (ValueError, ConfigError) as problem:
            raise BadField(key, str(problem)) from None
    return settings


def as_properties(settings: Settings, parts: tuple[str, ...]) -> dict[str, str]:
    """All keys that a Java server of this kind shows; those unused here have Java's default."""
    values = dict(config_keys.NAMESERVER if "nameserver" in parts else config_keys.BROKER)
    for option in _options(parts):
        values[option.key] = _shown(getattr(getattr(settings, option.part), option.name))
    return dict(sorted(values.items()))


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unknown(shown: str, name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), 1, 0.75)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{shown} is not an option{hint}"
