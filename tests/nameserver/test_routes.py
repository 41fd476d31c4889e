# SPDX-License-Identifier: Apache-2.0
"""The tables: takeovers and promotions one by one, everything else against a simple model."""

from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from eruca.nameserver.routes import Notice, Outcome, Registered, Routes
from eruca.net.peer import Peer
from eruca.wire import registration
from eruca.wire.bodies import QueueData, RegisterBrokerBody
from eruca.wire.commands import RegisterBroker, RegisterBrokerAnswer, UnregisterBroker

from .here import TWO, FakePeer, broker, table, topic

PEER = cast(Peer, FakePeer())


def register(routes: Routes, *, body: RegisterBrokerBody | None = None, **said: Any) -> Registered:
    ask, _ = broker(**said)
    return routes.register(ask, body or table(*TWO), PEER, 0)


def unregister(
    routes: Routes, address: str, name: str = "broker-a", cluster: str = "c1"
) -> Notice | None:
    return routes.unregister(UnregisterBroker(name, address, cluster, 0))


# Who holds an id.


def test_another_address_takes_over_an_id() -> None:
    routes = Routes()
    register(routes)
    register(routes, broker_address="b:2")
    assert routes.brokers["broker-a"].addresses == {0: "b:2"}
    # The old one goes without a trace, and without harm to the new one.
    unregister(routes, "192.0.2.1:10911")
    assert routes.brokers["broker-a"].addresses == {0: "b:2"}
    assert routes.live.keys() == {("c1", "b:2")}


def test_an_older_state_does_not_take_over() -> None:
    routes = Routes()
    register(routes, body=table(*TWO, state=3))
    stale = register(routes, body=table(*TWO, state=2, version=9), broker_address="b:2")
    assert stale.outcome is Outcome.STALE
    assert routes.brokers["broker-a"].addresses == {0: "192.0.2.1:10911"}
    assert routes.live.keys() == {("c1", "192.0.2.1:10911")}
    equal = register(routes, body=table(*TWO, state=3), broker_address="b:2")
    assert equal.outcome is Outcome.TAKEN
    assert routes.brokers["broker-a"].addresses == {0: "b:2"}


def test_an_address_is_promoted() -> None:
    routes = Routes()
    register(routes)
    register(routes, broker_id=1, broker_address="b:2")
    register(routes, broker_id=0, broker_address="b:2", body=table(topic("new"), topic("x")))
    assert routes.brokers["broker-a"].addresses == {0: "b:2"}
    assert set(routes.topics) == {"orders", "bills", "new", "x"}


def test_an_address_gets_another_name() -> None:
    routes = Routes()
    register(routes)
    register(routes, broker_name="broker-b")
    assert set(routes.brokers) == {"broker-b"}
    assert routes.clusters == {"c1": {"broker-b": None}}
    assert set(routes.topics["orders"]) == {"broker-b"}


def test_only_the_lowest_new_style_slave_speaks_without_master() -> None:
    routes = Routes()
    register(routes, broker_id=1, acting_master=None)  # too old
    assert not routes.topics
    register(routes, broker_id=2, broker_address="b:2", body=table(topic("x"), topic("y")))
    assert not routes.topics
    register(routes, broker_id=1)
    assert set(routes.topics) == {"orders", "bills"}
    assert routes.topics["orders"]["broker-a"].perm == 6  # It does not act as master.


def test_a_master_is_told_nothing_and_a_slave_only_of_a_live_one() -> None:
    routes = Routes()
    register(routes)
    slave, _ = broker(broker_id=1, broker_address="b:2")
    master, _ = broker()
    assert routes.master_of(master) == RegisterBrokerAnswer()
    assert routes.master_of(slave).master_address == "192.0.2.1:10911"
    routes.live.clear()
    assert routes.master_of(slave) == RegisterBrokerAnswer()


# Who is told that the lowest id changed.


def test_a_lower_id_is_announced_to_the_others() -> None:
    routes = Routes()
    assert register(routes, broker_id=2, broker_address="c:3").notice is None
    notice = register(routes, broker_id=1, broker_address="b:2", ha_address="b:9").notice
    assert notice is not None
    assert notice.addresses == ["c:3"]
    change = notice.change
    assert (change.min_broker_id, change.min_broker_address) == (1, "b:2")
    assert (change.ha_address, change.offline_broker_address) == ("b:9", None)
    assert register(routes, broker_id=1, broker_address="b:2").notice is None
    assert register(routes, broker_id=3, broker_address="d:4").notice is None


@pytest.mark.parametrize("acting", [True, False])
def test_the_loss_of_the_lowest_is_announced_to_all(acting: bool) -> None:
    routes = Routes()
    for broker_id, address in ((0, "a:1"), (1, "b:2"), (2, "c:3")):
        register(routes, broker_id=broker_id, broker_address=address, acting_master=acting)
    assert unregister(routes, "c:3") is None
    register(routes, broker_id=2, broker_address="c:3", acting_master=acting)
    notice = unregister(routes, "a:1")
    if not acting:
        assert notice is None
        return
    assert notice is not None
    assert notice.addresses == ["b:2", "c:3"]
    assert (notice.change.min_broker_id, notice.change.offline_broker_address) == (1, "a:1")


# Everything else, against a model.

NAMES = ("a", "b")
TOPICS = ("t1", "t2", "t3")
SILENCE_MS = 1000
CLUSTERS = {"a": "c1", "b": "c2"}

names = st.sampled_from(NAMES)
ids = st.integers(0, 2)
acting = st.sampled_from([None, False, True])
perms = st.sampled_from([4, 6, 7])
tables = st.dictionaries(st.sampled_from(TOPICS), perms)


class Model(RuleBasedStateMachine):
    """Two broker sets in two clusters, and what a name server should know of them.

    `slow` reads every registration, `fast` skips those that repeat the last one: nobody may be
    able to tell them apart.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fast, self.slow = Routes(), Routes()
        self.peers = [cast(Peer, FakePeer()) for _ in range(3)]
        self.now_ms = 0
        self.members: dict[str, dict[int, list[Any]]] = {}  # name -> id -> [version, seen, peer]
        self.acts: dict[str, bool] = {}
        self.perm: dict[tuple[str, str], int] = {}  # (topic, name) -> perm
        self.last: dict[tuple[str, int], tuple[Any, ...]] = {}

    @rule(
        name=names, broker_id=ids, acts=acting, topics=tables, version=st.integers(0, 2),
        peer=st.integers(0, 2),
    )  # fmt: skip
    def register(self, name: str, broker_id: int, *said: Any, **more: Any) -> None:
        self.last[name, broker_id] = said or tuple(
            more[each] for each in ("acts", "topics", "version", "peer")
        )
        self.again(name, broker_id)

    @rule(name=names, broker_id=ids)
    def again(self, name: str, broker_id: int) -> None:
        if (name, broker_id) not in self.last:
            return
        acts, topics, version, peer_at = self.last[name, broker_id]
        peer = self.peers[peer_at]
        ask, body = broker(
            *(topic(each, perm) for each, perm in topics.items()),
            version=version,
            broker_name=name,
            cluster=CLUSTERS[name],
            broker_id=broker_id,
            broker_address=f"{name}:{broker_id}",
            acting_master=acts,
            heartbeat_timeout_ms=SILENCE_MS,
        )
        self._tell(self.slow, ask, body, peer)
        renewed = self.fast.renew(ask, body, peer, self.now_ms)
        if not renewed and self._tell(self.fast, ask, body, peer).outcome is Outcome.TAKEN:
            self.fast.settle(ask, body)
        self._expect(name, broker_id, acts, topics, version, peer)

    def _tell(self, routes: Routes, ask: RegisterBroker, body: bytes, peer: Peer) -> Registered:
        return routes.register(ask, registration.decode(body), peer, self.now_ms)

    def _expect(
        self, name: str, broker_id: int, acts: Any, topics: Any, version: int, peer: Peer
    ) -> None:
        members = self.members.get(name, {})
        if len(topics) == 1 and broker_id not in members:
            return
        is_changed = broker_id not in members or members[broker_id][0] != version
        self.members.setdefault(name, {})[broker_id] = [version, self.now_ms, peer]
        self.acts[name] = acts is True
        if broker_id == 0 or (acts is not None and broker_id == min(self.members[name])):
            for each, perm in topics.items():
                if is_changed or (each, name) not in self.perm:
                    self.perm[each, name] = perm & 5 if broker_id and acts else perm

    @rule(name=names, broker_id=ids)
    def unregister(self, name: str, broker_id: int) -> None:
        for routes in (self.fast, self.slow):
            unregister(routes, f"{name}:{broker_id}", name, CLUSTERS[name])
        self._gone(name, broker_id)

    def _gone(self, name: str, broker_id: int) -> None:
        if self.members.get(name, {}).pop(broker_id, None) is None:
            return
        for each, of in list(self.perm):
            if of == name:
                if not self.members[name]:
                    del self.perm[each, of]
                elif self.acts[name] and 0 not in self.members[name]:
                    self.perm[each, of] &= ~2
        if not self.members[name]:
            del self.members[name]

    @rule(ms=st.sampled_from([1, 400, SILENCE_MS]))
    def wait(self, ms: int) -> None:
        self.now_ms += ms
        for routes in (self.fast, self.slow):
            for live in routes.silent(self.now_ms):
                routes.unregister(live.ask)
        for name, members in list(self.members.items()):
            for broker_id in sorted(members):
                if members[broker_id][1] + SILENCE_MS < self.now_ms:
                    self._gone(name, broker_id)

    @rule(name=names, broker_id=ids)
    def beat(self, name: str, broker_id: int) -> None:
        for routes in (self.fast, self.slow):
            routes.touch(CLUSTERS[name], f"{name}:{broker_id}", self.now_ms)
        if broker_id in self.members.get(name, {}):
            self.members[name][broker_id][1] = self.now_ms

    @rule(peer_at=st.integers(0, 2))
    def disconnect(self, peer_at: int) -> None:
        peer = self.peers[peer_at]
        for routes in (self.fast, self.slow):
            for live in routes.behind(peer):
                routes.unregister(live.ask)
        for name, members in list(self.members.items()):
            for broker_id in sorted(members):
                if members[broker_id][2] is peer:
                    self._gone(name, broker_id)

    @rule(each=st.sampled_from(TOPICS), on=st.lists(names, unique=True), perm=perms)
    def add_topic(self, each: str, on: list[str], perm: int) -> None:
        for routes in (self.fast, self.slow):
            routes.add_topic(each, [QueueData(name, 1, 1, perm) for name in on])
        if all(name in self.members for name in on):
            self.perm.update({(each, name): perm for name in on})

    @rule(each=st.sampled_from(TOPICS), cluster=st.sampled_from([None, "", "c1", "c2", "c3"]))
    def delete_topic(self, each: str, cluster: str | None) -> None:
        for routes in (self.fast, self.slow):
            routes.delete_topic(each, cluster)
        for name in NAMES:
            if not cluster or CLUSTERS[name] == cluster:
                self.perm.pop((each, name), None)

    @rule(name=names, wipe=st.booleans())
    def permit(self, name: str, wipe: bool) -> None:
        mine = [key for key in self.perm if key[1] == name]
        for routes in (self.fast, self.slow):
            change = routes.wipe_write if wipe else routes.restore_write
            assert change(name) == len(mine)
        for key in mine:
            self.perm[key] = self.perm[key] & ~2 if wipe else 6

    @rule(name=names, broker_id=ids, topics=tables)
    def prune(self, name: str, broker_id: int, topics: dict[str, int]) -> None:
        if broker_id not in self.members.get(name, {}):
            return
        ask, _ = broker(broker_name=name, broker_id=broker_id, cluster=CLUSTERS[name])
        for routes in (self.fast, self.slow):
            routes.prune(ask, table(*(topic(each) for each in topics)))
        if broker_id == min(self.members[name]):
            for each in TOPICS:
                if each not in topics:
                    self.perm.pop((each, name), None)

    @invariant()
    def routes_are_the_model_s(self) -> None:
        for each in TOPICS:
            route = self.fast.route(each)
            expected = {name: perm for (of, name), perm in self.perm.items() if of == each}
            if route is None:
                assert not expected
                continue
            assert {queue.broker_name: queue.perm for queue in route.queues} == expected
            assert {part.broker_name: part.addresses for part in route.brokers} == {
                name: {at: f"{name}:{at}" for at in self.members[name]} for name in expected
            }

    @invariant()
    def nothing_empty_is_kept(self) -> None:
        routes = self.fast
        assert set(routes.brokers) == set(self.members)
        assert routes.clusters == {CLUSTERS[name]: {name: None} for name in self.members}
        assert all(routes.topics.values())
        assert set(routes.live) == {
            (CLUSTERS[name], f"{name}:{at}") for name, on in self.members.items() for at in on
        }
        assert set(routes._settled) <= set(routes.brokers)

    @invariant()
    def reading_or_not_makes_no_difference(self) -> None:
        fast, slow = self.fast, self.slow
        assert (fast.brokers, fast.clusters) == (slow.brokers, slow.clusters)
        assert (fast.topics, fast.live) == (slow.topics, slow.live)


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
