# SPDX-License-Identifier: Apache-2.0
"""Attributes of topics and groups: which exist, what they may be, how a request changes them.

A request names each with a sign: `+name` sets, `-name` removes. In headers they come as one text,
`+queue.type=BatchCQ,-reserve.time`; in bodies as a map. They are kept without the sign. Every
problem is a BadField, and then nothing was changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eruca.errors import BadField

MESSAGE_TYPE: Final = "message.type"
MIXED: Final = "MIXED"
_INT64_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Attribute:
    """One of `words`, or a whole number within `range`; without both, any text."""

    words: frozenset[str] | None = None
    range: tuple[int, int] | None = None
    changeable: bool = True

    def check(self, name: str, value: str) -> None:
        if self.words is not None and value not in self.words:
            raise BadField(name, f"is {value!r}, not one of {', '.join(sorted(self.words))}")
        if self.range is not None:
            low, high = self.range
            digits = value.removeprefix("-")
            if not (digits.isascii() and digits.isdigit() and low <= int(value) <= high):
                raise BadField(name, f"is {value!r}, not a number in {low}..{high}")


def _one_of(*words: str, changeable: bool = True) -> Attribute:
    return Attribute(words=frozenset(words), changeable=changeable)


TOPIC_ATTRIBUTES: Final = {
    "queue.type": _one_of("SimpleCQ", "BatchCQ", changeable=False),
    "cleanup.policy": _one_of("DELETE", "COMPACTION", changeable=False),
    MESSAGE_TYPE: _one_of(
        "UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY", "LITE", MIXED
    ),
    "reserve.time": Attribute(range=(-1, _INT64_MAX)),
    "lite.topic.expiration": Attribute(range=(-1, 43_200)),
}

GROUP_ATTRIBUTES: Final = {
    "priority.factor": Attribute(range=(0, 100)),
    "lite.bind.topic": Attribute(),
    "lite.sub.model": _one_of("Shared", "Exclusive"),
    "lite.sub.reset.offset.exclusive": _one_of("true", "false"),
    "lite.sub.reset.offset.unsubscribe": _one_of("true", "false"),
    "lite.sub.client.quota": Attribute(range=(-1, _INT64_MAX)),
    "lite.sub.client.max.event.cnt": Attribute(range=(10, _INT64_MAX)),
    "lite.sub.wildcard": Attribute(),
}


def read_changes(text: str | None) -> dict[str, str]:
    """The signed changes in a header's text."""
    changes: dict[str, str] = {}
    for each in (text or "").split(","):
        if not each:
            continue
        key, equals, value = each.partition("=")
        if key[:1] != ("+" if equals else "-"):
            raise BadField("attributes", f"{each!r} is neither +name=value nor -name")
        if key in changes:
            raise BadField("attributes", f"{key!r} comes twice")
        changes[key] = value
    return changes


def altered(
    current: Mapping[str, str] | None, changes: Mapping[str, str], known: Mapping[str, Attribute]
) -> dict[str, str]:
    """The attributes after `changes`; `current` is None for what is just being created."""
    after = dict(current or {})
    seen = set()
    for key, value in changes.items():
        sign, name = key[:1], key[1:]
        if name in seen:
            raise BadField("attributes", f"{name!r} comes twice")
        seen.add(name)
        attribute = known.get(name)
        if attribute is None:
            raise BadField("attributes", f"{name!r} is not known")
        if current is not None and not attribute.changeable:
            raise BadField("attributes", f"{name!r} cannot be changed")
        if sign == "+":
            attribute.check(name, value)
            after[name] = value
        elif sign == "-" and name in after:
            del after[name]
        else:
            raise BadField("attributes", f"{key!r}: only what is there can be removed")
    return after
