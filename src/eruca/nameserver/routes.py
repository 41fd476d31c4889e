# SPDX-License-Identifier: Apache-2.0
"""Who has which topic: the tables of a name server.

    brokers   name -> the broker set: cluster, zone, id -> address (0 is the master)
    clusters  name -> broker names
    topics    name -> broker name -> its queues and permissions
    live      (cluster, address) -> who registered from there, when, over which connection

Always true:
    every broker has an address, every cluster a broker, every topic a broker that has it
    a broker named under a topic or a cluster stands in `brokers`

Nothing is stored: brokers register again and again, and a name server that forgot everything knows
everything one period later. Time is passed in. What others must be told comes back as a `Notice`.
Lists keep the order of arrival; Java's order is that of its hash tables.

Where Java differs: a refused registration leaves a nameless trace in its tables, and the entries of
an address that another broker took over stay for ever. Here they do not. Filter servers, which no
broker has had for years, are not kept.

Called by `requests` (each question) and `nameserver` (silence and lost connections).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from eruca.net.peer import Peer
from eruca.wire.bodies import (
    PERM_READ,
    PERM_WRITE,
    BrokerData,
    BrokerMemberGroup,
    ClusterInfo,
    DataVersion,
    QueueData,
    RegisterBrokerBody,
    TopicConfig,
    TopicList,
    TopicRouteData,
)
from eruca.wire.commands import (
    NotifyMinBrokerIdChange,
    RegisterBroker,
    RegisterBrokerAnswer,
    UnregisterBroker,
)

MASTER_ID: Final = 0
SILENCE_MAX_MS: Final = 120_000  # For brokers that do not say how long they may be silent.


class Outcome(Enum):
    """What became of a registration."""

    TAKEN = 1
    STALE = 2  # Another address holds this id with a newer state; Java answers success.
    UNKNOWN = 3  # A single topic from a broker that has not registered as a whole.


@dataclass(frozen=True, slots=True)
class Notice:
    """A broker set has another lowest id: tell these addresses."""

    addresses: list[str]
    change: NotifyMinBrokerIdChange


@dataclass(frozen=True, slots=True)
class Registered:
    outcome: Outcome
    notice: Notice | None = None


@dataclass(slots=True)
class LiveBroker:
    """One broker process: how and over which connection it last registered, when it was heard."""

    ask: RegisterBroker
    version: DataVersion
    peer: Peer
    seen_ms: int


@dataclass(slots=True)
class Routes:
    brokers: dict[str, BrokerData] = field(default_factory=dict)
    clusters: dict[str, dict[str, None]] = field(default_factory=dict)
    topics: dict[str, dict[str, QueueData]] = field(default_factory=dict)
    live: dict[tuple[str, str], LiveBroker] = field(default_factory=dict)
    mappings: dict[str, dict[str, object]] = field(default_factory=dict)  # of static topics
    # Broker name -> address -> its last registration, as long as repeating it would change nothing.
    _settled: dict[str, dict[str, tuple[RegisterBroker, bytes]]] = field(default_factory=dict)

    # What brokers say.

    def renew(self, ask: RegisterBroker, body: bytes, peer: Peer, now_ms: int) -> bool:
        """Take a registration that repeats the last one; False: it must be read.

        Brokers repeat theirs every 30 s, megabytes when they have many topics. Comparing bytes
        costs a thousandth of reading them.
        """
        live = self.live.get((ask.cluster, ask.broker_address))
        settled = self._settled.get(ask.broker_name, {})
        if live is None or settled.get(ask.broker_address) != (ask, body):
            return False
        live.seen_ms, live.peer = now_ms, peer
        return True

    def settle(self, ask: RegisterBroker, body: bytes) -> None:
        """A registration was taken in full: its repetition may be renewed."""
        self._settled.setdefault(ask.broker_name, {})[ask.broker_address] = (ask, body)

    def register(
        self, ask: RegisterBroker, body: RegisterBrokerBody, peer: Peer, now_ms: int
    ) -> Registered:
        """Take in what a broker says of itself and, if it speaks for its set, of its topics."""
        broker = self.brokers.get(ask.broker_name)
        table = body.topics
        if len(table.topics) == 1 and (broker is None or ask.broker_id not in broker.addresses):
            return Registered(Outcome.UNKNOWN)
        if broker is None:
            broker = self.brokers[ask.broker_name] = BrokerData(ask.broker_name, ask.cluster)
        lowest_id = min(broker.addresses, default=ask.broker_id)
        for broker_id in _ids_at(broker, ask.broker_address):
            if broker_id != ask.broker_id:  # It was promoted, or demoted.
                del broker.addresses[broker_id]
                self._settled.pop(ask.broker_name, None)
        if self._is_stale(ask, broker, table.data_version):
            self.live.pop((ask.cluster, ask.broker_address), None)
            return Registered(Outcome.STALE)

        self.clusters.setdefault(ask.cluster, {})[ask.broker_name] = None
        if (broker.acting_master, broker.zone) != (bool(ask.acting_master), ask.zone):
            broker.acting_master, broker.zone = bool(ask.acting_master), ask.zone
            self._settled.pop(ask.broker_name, None)
        is_first = ask.broker_id not in broker.addresses
        broker.addresses[ask.broker_id] = ask.broker_address
        live = self.live.get((ask.cluster, ask.broker_address))
        if live is not None and live.ask.broker_name != ask.broker_name:
            self.unregister(live.ask)  # It was renamed.
        is_changed = is_first or live is None or live.version != table.data_version
        if is_changed:
            self._settled.pop(ask.broker_name, None)
        if self._speaks_for_set(ask):
            self._take_topics(ask, body, is_changed)
        self.live[(ask.cluster, ask.broker_address)] = LiveBroker(
            ask, table.data_version, peer, now_ms
        )
        if ask.broker_id < lowest_id:
            return Registered(Outcome.TAKEN, _notice(broker, ha_address=ask.ha_address))
        return Registered(Outcome.TAKEN)

    def prune(self, ask: RegisterBroker, body: RegisterBrokerBody) -> None:
        """Drop the topics of a broker set that the registration just taken does not name."""
        if not self._speaks_for_set(ask) or body.topics.mapping_infos:
            return  # Java: a static topic may live on a broker that does not list it.
        named = {topic.name for topic in body.topics.topics.values()}
        for topic in [name for name in self.topics if name not in named]:
            self._remove(topic, [ask.broker_name])

    def master_of(self, ask: RegisterBroker) -> RegisterBrokerAnswer:
        """What a slave is told of its master, if that is alive."""
        broker = self.brokers.get(ask.broker_name)
        if broker is not None and ask.broker_id != MASTER_ID:
            address = broker.addresses.get(MASTER_ID, "")
            master = self.live.get((ask.cluster, address))
            if master is not None:
                return RegisterBrokerAnswer(master.ask.ha_address, address)
        return RegisterBrokerAnswer()

    def unregister(self, ask: RegisterBroker | UnregisterBroker) -> Notice | None:
        """Forget one address, and with the last one of a broker set all of the set."""
        self.live.pop((ask.cluster, ask.broker_address), None)
        broker = self.brokers.get(ask.broker_name)
        gone = [] if broker is None else _ids_at(broker, ask.broker_address)
        if broker is None or not gone:
            return None
        lowest_id = min(broker.addresses)
        for broker_id in gone:
            del broker.addresses[broker_id]
        self._settled.pop(ask.broker_name, None)
        if not broker.addresses:
            self._forget(ask.broker_name)
            return None
        if not broker.acting_master:
            return None
        if MASTER_ID not in broker.addresses:
            self.wipe_write(ask.broker_name)  # Until a master is back, nobody may write.
        return _notice(broker, offline=ask.broker_address) if lowest_id in gone else None

    def touch(self, cluster: str, address: str, now_ms: int) -> DataVersion | None:
        """A broker is alive; the version of its topics that is known here."""
        live = self.live.get((cluster, address))
        if live is None:
            return None
        live.seen_ms = now_ms
        return live.version

    def silent(self, now_ms: int) -> list[LiveBroker]:
        """Those not heard of for longer than they promised."""
        return [
            live
            for live in self.live.values()
            if live.seen_ms + (live.ask.heartbeat_timeout_ms or SILENCE_MAX_MS) < now_ms
        ]

    def behind(self, peer: Peer) -> list[LiveBroker]:
        """Those that registered over this connection and over none since."""
        return [live for live in self.live.values() if live.peer is peer]

    # What administrators change.

    def add_topic(self, topic: str, queues: list[QueueData]) -> None:
        """Add a topic by hand; nothing happens when one of its brokers is not here."""
        if not queues or any(each.broker_name not in self.brokers for each in queues):
            return
        for each in queues:
            self.topics.setdefault(topic, {})[each.broker_name] = each
            self._settled.pop(each.broker_name, None)

    def delete_topic(self, topic: str, cluster: str | None = None) -> None:
        """Remove a topic from the brokers of one cluster, or from all."""
        self._remove(topic, list(self.clusters.get(cluster, ()) if cluster else self.brokers))

    def wipe_write(self, broker_name: str) -> int:
        """Let nobody write to a broker until it registers a change; how many topics it has."""
        return self._permit(broker_name, lambda perm: perm & ~PERM_WRITE)

    def restore_write(self, broker_name: str) -> int:
        # Java: every topic ends up readable and writable, whatever it was before.
        return self._permit(broker_name, lambda perm: PERM_READ | PERM_WRITE)

    # What everybody asks.

    def route(self, topic: str) -> TopicRouteData | None:
        """Where a topic is. The parts are the tables' own: read them, do not change them."""
        queues = self.topics.get(topic)
        if queues is None:
            return None
        brokers = [self.brokers[name] for name in queues]
        return TopicRouteData(list(queues.values()), brokers, mappings=self.mappings.get(topic))

    def topics_with(self, accept: Callable[[int], bool]) -> TopicList:
        """Topics whose system flag, as their first broker has it, is accepted."""
        first = ((name, next(iter(queues.values()))) for name, queues in self.topics.items())
        return TopicList([name for name, queue in first if accept(queue.sys_flag)])

    def topics_in(self, cluster: str) -> TopicList:
        names = self.clusters.get(cluster, {})
        return TopicList(
            [name for name, on in self.topics.items() if not names.keys().isdisjoint(on)]
        )

    def system_topics(self) -> TopicList:
        """Clusters and brokers: each has a topic of its name. And the address of some broker."""
        names = list(self.clusters) + list(self.brokers)
        first = next(iter(self.brokers.values()), None)
        address = first.addresses[min(first.addresses)] if first else None
        return TopicList(list(dict.fromkeys(names)), address)

    def cluster_info(self) -> ClusterInfo:
        return ClusterInfo(self.brokers, {name: list(on) for name, on in self.clusters.items()})

    def members(self, cluster: str, broker_name: str) -> BrokerMemberGroup:
        broker = self.brokers.get(broker_name)
        return BrokerMemberGroup(cluster, broker_name, broker.addresses if broker else {})

    # Inside.

    def _is_stale(self, ask: RegisterBroker, broker: BrokerData, version: DataVersion) -> bool:
        """Whether another address holds the id, alive and with a newer state."""
        holder = broker.addresses.get(ask.broker_id, ask.broker_address)
        live = self.live.get((ask.cluster, holder))
        return (
            holder != ask.broker_address
            and live is not None
            and live.version.state_version > version.state_version
        )

    def _speaks_for_set(self, ask: RegisterBroker) -> bool:
        """The master does; without one the lowest slave, unless it is too old to know."""
        if ask.broker_id == MASTER_ID:
            return True
        broker = self.brokers[ask.broker_name]
        return ask.acting_master is not None and ask.broker_id == min(broker.addresses)

    def _take_topics(self, ask: RegisterBroker, body: RegisterBrokerBody, is_changed: bool) -> None:
        name = ask.broker_name
        may_write = ask.broker_id == MASTER_ID or not ask.acting_master
        for topic in body.topics.topics.values():
            queues = self.topics.setdefault(topic.name, {})
            if is_changed or name not in queues:  # So a wiped permission survives repetitions.
                queues[name] = _queue_data(name, topic, may_write)
        if is_changed:
            for topic_name, mapping in (body.topics.mapping_infos or {}).items():
                if topic_name in self.topics:
                    self.mappings.setdefault(topic_name, {})[name] = mapping

    def _permit(self, broker_name: str, perm: Callable[[int], int]) -> int:
        queues = [on[broker_name] for on in self.topics.values() if broker_name in on]
        for queue in queues:
            queue.perm = perm(queue.perm)
        return len(queues)

    def _forget(self, broker_name: str) -> None:
        del self.brokers[broker_name]
        for cluster, names in list(self.clusters.items()):
            names.pop(broker_name, None)
            if not names:
                del self.clusters[cluster]
        for topic in list(self.topics):
            self._remove(topic, [broker_name])

    def _remove(self, topic: str, broker_names: list[str]) -> None:
        queues = self.topics.get(topic, {})
        for name in broker_names:
            if queues.pop(name, None) is not None:
                self._settled.pop(name, None)  # Its next registration may bring the topic back.
        if not queues:
            self.topics.pop(topic, None)
            self.mappings.pop(topic, None)


def _queue_data(broker_name: str, topic: TopicConfig, may_write: bool) -> QueueData:
    return QueueData(
        broker_name=broker_name,
        read_queue_count=topic.read_queue_count,
        write_queue_count=topic.write_queue_count,
        perm=topic.perm if may_write else topic.perm & ~PERM_WRITE,
        sys_flag=topic.sys_flag,
    )


def _ids_at(broker: BrokerData, address: str) -> list[int]:
    return [broker_id for broker_id, at in broker.addresses.items() if at == address]


def _notice(
    broker: BrokerData, *, offline: str | None = None, ha_address: str | None = None
) -> Notice:
    lowest_id = min(broker.addresses)
    others = [address for broker_id, address in broker.addresses.items() if broker_id != lowest_id]
    everyone = list(broker.addresses.values())
    change = NotifyMinBrokerIdChange(
        min_broker_id=lowest_id,
        broker_name=broker.broker_name,
        min_broker_address=broker.addresses[lowest_id],
        offline_broker_address=offline,
        ha_address=ha_address,
    )
    # Java: the new lowest needs no telling that it came, but must hear who left.
    return Notice(everyone if offline or not others else others, change)
