# SPDX-License-Identifier: Apache-2.0
"""What a group wants of a topic, ready for the test that every message in a pull goes through.

A tag expression is `*` (or nothing) for everything, or tags with `||` between them. The broker
compares hashes, those that the consume queue holds; the client then compares the tags, so a
collision costs a message on the wire and nothing else. The hashes are computed here, whatever a
heartbeat claims they are.
"""

from dataclasses import dataclass
from typing import Final

from eruca.errors import BadField
from eruca.wire.bodies import SubscriptionData
from eruca.wire.properties import java_hash

TAG: Final = "TAG"
EVERYTHING: Final = "*"


@dataclass(frozen=True, slots=True)
class Subscription:
    """One topic of one group. `codes` is None where no tag is asked for."""

    topic: str
    expression: str = EVERYTHING
    kind: str = TAG
    version: int = 0
    tags: tuple[str, ...] = ()
    codes: frozenset[int] | None = None

    @property
    def is_tags(self) -> bool:
        return self.kind == TAG

    def wants(self, code: int) -> bool:
        """Whether a message with this tag hash may be wanted; 0 is the hash of no tag."""
        return self.codes is None or code in self.codes

    def as_data(self) -> SubscriptionData:
        return SubscriptionData(
            topic=self.topic,
            expression=self.expression,
            tags=list(self.tags),
            codes=sorted(self.codes or ()),
            version=self.version,
            expression_type=self.kind,
        )


def subscription(
    topic: str, expression: str | None, kind: str | None = TAG, version: int = 0
) -> Subscription:
    """Read an expression. Raises BadField for tags that are only separators."""
    kind = kind or TAG
    text = expression or EVERYTHING
    if kind != TAG:
        return Subscription(topic, text, kind, version)
    if text == EVERYTHING:
        return Subscription(topic, version=version)
    tags = tuple(dict.fromkeys(tag.strip() for tag in text.split("||") if tag.strip()))
    if not tags:
        raise BadField("subscription", f"{text!r} has no tag in it")
    return Subscription(topic, text, kind, version, tags, frozenset(map(java_hash, tags)))


def from_heartbeat(data: SubscriptionData) -> Subscription:
    """The same from what a client says of itself; tags that are only separators match nothing."""
    try:
        return subscription(data.topic, data.expression, data.expression_type, data.version)
    except BadField:
        return Subscription(data.topic, data.expression or "", TAG, data.version, (), frozenset())
