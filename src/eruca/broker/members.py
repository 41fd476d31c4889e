# SPDX-License-Identifier: Apache-2.0
"""Who is connected: the members of consumer and producer groups, by their heartbeats.

A member is a connection in a group; one connection usually is in several. It leaves when it says
so, when its connection closes, or when it has been silent too long. A group exists while it has
members.

`changed` collects the groups whose members are to be told that it changed; the broker takes them
after each turn, or every 15 s. A broadcasting group is never in it: its members share nothing.

Second version of the heartbeat: a client whose subscriptions have not changed sends none, only the
fingerprint of what it sent before. An answer "changed" makes it send everything again. Where Java
differs: it does not ask for it when it has forgotten the group meanwhile, and then the group has
no subscriptions until the client restarts.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from eruca.broker.subscriptions import Subscription, from_heartbeat
from eruca.net.peer import Peer
from eruca.wire.bodies import (
    Connection,
    ConsumeFrom,
    ConsumerConnection,
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    ProducerConnection,
    ProducerInfo,
    ProducerTableInfo,
)
from eruca.wire.codes import Language


@dataclass(slots=True)
class Member:
    """One connection in one group, as of its last heartbeat."""

    client_id: str
    peer: Peer
    language: int
    version: int
    seen_ms: int

    def as_connection(self) -> Connection:
        return Connection(self.client_id, self.peer.address, _language(self.language), self.version)


@dataclass(slots=True)
class ConsumerGroup:
    """The members of a group, and what the last heartbeat of any of them says it wants."""

    name: str
    members: dict[Peer, Member] = field(default_factory=dict)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    consume_from: ConsumeFrom | None = None
    fingerprint: int | None = None

    @property
    def is_broadcasting(self) -> bool:
        return self.message_model is MessageModel.BROADCASTING

    def client_ids(self) -> list[str]:
        """Each once: a client that reconnected may have two connections for a while."""
        return list(dict.fromkeys(member.client_id for member in self.members.values()))

    def find_client(self, client_id: str) -> Member | None:
        """The client's newest connection."""
        found = [each for each in self.members.values() if each.client_id == client_id]
        return found[-1] if found else None

    def as_report(self) -> ConsumerConnection:
        return ConsumerConnection(
            connections=[member.as_connection() for member in self.members.values()],
            subscriptions={topic: each.as_data() for topic, each in self.subscriptions.items()},
            consume_type=self.consume_type,
            message_model=self.message_model,
            consume_from=self.consume_from,
        )

    def subscribe(self, wanted: Iterable[Subscription]) -> bool:
        """Take over subscriptions; whether topics came or went. A newer version is no change."""
        after: dict[str, Subscription] = {}
        for each in wanted:
            old = self.subscriptions.get(each.topic)
            after[each.topic] = old if old is not None and old.version >= each.version else each
        is_change = after.keys() != self.subscriptions.keys()
        self.subscriptions = after
        return is_change


class Members:
    """All members of all groups."""

    def __init__(self) -> None:
        self.consumers: dict[str, ConsumerGroup] = {}
        self.producers: dict[str, dict[Peer, Member]] = {}
        self.changed: dict[str, None] = {}  # A set that keeps its order.
        self.emptied: Callable[[str], None] = lambda group: None  # A group lost its last member.
        self._groups_of: dict[Peer, tuple[set[str], set[str]]] = {}  # consumer, producer groups

    # Heartbeats.

    def heartbeat(self, peer: Peer, beat: HeartbeatData, now_ms: int) -> bool:
        """Enter the sender into the groups it names; whether its client must send everything again.

        The caller has left out consumer groups that may not be.
        """
        resend = not beat.fingerprint
        for consumer in beat.consumers:
            resend |= self._consumer_beat(peer, beat, consumer, now_ms)
        for producer in beat.producers:
            group = self.producers.setdefault(producer.group, {})
            self._enter(group, peer, beat.client_id, now_ms)
            self._of(peer)[1].add(producer.group)
        return resend

    def _consumer_beat(
        self, peer: Peer, beat: HeartbeatData, data: ConsumerData, now_ms: int
    ) -> bool:
        group = self.consumers.get(data.group)
        is_new = group is None
        if group is None:
            group = self.consumers[data.group] = ConsumerGroup(data.group)
        group.consume_type = data.consume_type
        group.message_model = data.message_model
        group.consume_from = data.consume_from
        is_change = self._enter(group.members, peer, beat.client_id, now_ms)
        self._of(peer)[0].add(data.group)
        if not beat.without_subscriptions:
            is_change |= group.subscribe(map(from_heartbeat, data.subscriptions))
        if is_change:
            self._mark(group)
        known, group.fingerprint = group.fingerprint, beat.fingerprint
        is_unlike = known is not None and known != beat.fingerprint
        return is_unlike or (is_new and beat.without_subscriptions)

    # Leaving.

    def unregister(
        self,
        peer: Peer,
        consumer_group: str | None = None,
        producer_group: str | None = None,
    ) -> None:
        """A client says that it leaves these groups."""
        if consumer_group is not None:
            self._leave_consumers(peer, consumer_group)
        if producer_group is not None:
            self._leave_producers(peer, producer_group)

    def gone(self, peer: Peer) -> None:
        """A connection closed."""
        consumers, producers = self._groups_of.get(peer, (set(), set()))
        for name in list(consumers):
            self._leave_consumers(peer, name)
        for name in list(producers):
            self._leave_producers(peer, name)

    def expire(self, now_ms: int, silence_ms_max: int) -> list[Peer]:
        """Remove whoever has been silent too long; their connections, for the caller to close."""
        silent: dict[Peer, None] = {}
        for group in list(self.consumers.values()):
            for member in _silent(group.members, now_ms - silence_ms_max):
                self._leave_consumers(member.peer, group.name)
                silent[member.peer] = None
        for name, members in list(self.producers.items()):
            for member in _silent(members, now_ms - silence_ms_max):
                self._leave_producers(member.peer, name)
                silent[member.peer] = None
        return list(silent)

    # Questions.

    def subscription(self, group: str, topic: str) -> Subscription | None:
        found = self.consumers.get(group)
        return None if found is None else found.subscriptions.get(topic)

    def groups_of(self, topic: str) -> list[str]:
        """Groups whose members subscribe to the topic now."""
        return sorted(name for name, each in self.consumers.items() if topic in each.subscriptions)

    def peers(self, group: str) -> list[Peer]:
        """Connections of a consumer group."""
        found = self.consumers.get(group)
        return [] if found is None else list(found.members)

    def take_changed(self) -> list[str]:
        """Groups that changed since the last call."""
        taken = list(self.changed)
        self.changed.clear()
        return taken

    def producer_peers(self, group: str) -> list[Peer]:
        """Open connections of a producer group: any of them can answer for its transactions."""
        return [peer for peer in self.producers.get(group, {}) if not peer.closed]

    def find_producer(self, client_id: str) -> Member | None:
        """A connection of this client, by which a reply reaches it."""
        for members in self.producers.values():
            for member in members.values():
                if member.client_id == client_id and not member.peer.closed:
                    return member
        return None

    def producer_report(self, group: str) -> ProducerConnection | None:
        members = self.producers.get(group)
        if members is None:
            return None
        return ProducerConnection([member.as_connection() for member in members.values()])

    def producer_table(self) -> ProducerTableInfo:
        return ProducerTableInfo(
            {
                name: [
                    ProducerInfo(
                        client_id=each.client_id,
                        address="/" + each.peer.address,  # Java: as its sockets print.
                        language=_language(each.language),
                        version=each.version,
                        last_seen_ms=each.seen_ms,
                    )
                    for each in members.values()
                ]
                for name, members in self.producers.items()
            }
        )

    # Inside.

    def _of(self, peer: Peer) -> tuple[set[str], set[str]]:
        return self._groups_of.setdefault(peer, (set(), set()))

    def _enter(self, members: dict[Peer, Member], peer: Peer, client_id: str, now_ms: int) -> bool:
        """Note a sign of life; whether the connection is new in the group."""
        is_new = peer not in members
        members[peer] = Member(client_id, peer, peer.language, peer.version, now_ms)
        return is_new

    def _leave_consumers(self, peer: Peer, name: str) -> None:
        group = self.consumers.get(name)
        if group is None or group.members.pop(peer, None) is None:
            return
        self._groups_of[peer][0].discard(name)
        self._forget_if_idle(peer)
        if group.members:
            self._mark(group)
        else:
            del self.consumers[name]
            self.changed.pop(name, None)
            self.emptied(name)

    def _leave_producers(self, peer: Peer, name: str) -> None:
        members = self.producers.get(name)
        if members is None or members.pop(peer, None) is None:
            return
        self._groups_of[peer][1].discard(name)
        self._forget_if_idle(peer)
        if not members:
            del self.producers[name]

    def _forget_if_idle(self, peer: Peer) -> None:
        if not any(self._groups_of[peer]):
            del self._groups_of[peer]

    def _mark(self, group: ConsumerGroup) -> None:
        if not group.is_broadcasting:
            self.changed[group.name] = None


def _silent(members: dict[Peer, Member], seen_ms_min: int) -> Iterator[Member]:
    yield from [member for member in members.values() if member.seen_ms < seen_ms_min]


def _language(number: int) -> Language:
    try:
        return Language(number)
    except ValueError:
        return Language.OTHER
