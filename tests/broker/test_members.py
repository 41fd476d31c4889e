# SPDX-License-Identifier: Apache-2.0
"""Who is connected: heartbeats of both versions, leaving, silence, and who must be told."""

from typing import cast

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from eruca.broker.members import Members
from eruca.net.peer import Peer
from eruca.wire.bodies import (
    ConsumeFrom,
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    ProducerData,
    SubscriptionData,
)
from eruca.wire.codes import Language

from .state import FakePeer, peer


def consumer(
    group: str, *topics: str, version: int = 1, model: MessageModel = MessageModel.CLUSTERING
) -> ConsumerData:
    return ConsumerData(
        group,
        ConsumeType.CONSUME_PASSIVELY,
        model,
        ConsumeFrom.CONSUME_FROM_LAST_OFFSET,
        [SubscriptionData(topic, "TagA", version=version) for topic in topics],
    )


def beat(
    client_id: str,
    *consumers: ConsumerData,
    producers: tuple[str, ...] = (),
    fingerprint: int = 0,
    bare: bool = False,
) -> HeartbeatData:
    groups = [ProducerData(name) for name in producers]
    return HeartbeatData(client_id, groups, list(consumers), fingerprint, bare)


@pytest.fixture
def members() -> Members:
    return Members()


# Heartbeats.


def test_a_heartbeat_enters_its_groups(members: Members) -> None:
    mine = peer()
    members.heartbeat(mine, beat("c1", consumer("g", "t", "%RETRY%g"), producers=("p",)), 1000)
    group = members.consumers["g"]
    assert group.client_ids() == ["c1"]
    assert members.peers("g") == [mine]
    assert members.producer_peers("p") == [mine]
    assert group.consume_type is ConsumeType.CONSUME_PASSIVELY
    found = members.subscription("g", "t")
    assert found is not None
    assert found.tags == ("TagA",)
    assert members.subscription("g", "u") is None
    assert members.subscription("h", "t") is None
    assert members.groups_of("t") == ["g"]
    assert members.peers("h") == members.producer_peers("h") == []


def test_the_first_version_is_always_told_to_send_everything(members: Members) -> None:
    mine = peer()
    assert members.heartbeat(mine, beat("c", consumer("g", "t")), 0)
    assert members.heartbeat(mine, beat("c", consumer("g", "t")), 0)


def test_the_second_version_settles(members: Members) -> None:
    """The order of answers that a Java broker gives, too."""
    mine = peer()
    full, bare = consumer("g", "t"), consumer("g")
    members.heartbeat(mine, beat("c", full), 0)
    assert members.heartbeat(mine, beat("c", full, fingerprint=7), 1)
    assert not members.heartbeat(mine, beat("c", full, fingerprint=7), 2)
    assert not members.heartbeat(mine, beat("c", bare, fingerprint=7, bare=True), 3)
    assert members.subscription("g", "t") is not None
    assert members.consumers["g"].members[mine].seen_ms == 3
    assert members.heartbeat(mine, beat("c", bare, fingerprint=8, bare=True), 4)


def test_a_group_that_was_forgotten_is_asked_for(members: Members) -> None:
    mine = peer()
    assert not members.heartbeat(mine, beat("c", consumer("g", "t"), fingerprint=7), 0)
    members.gone(mine)
    again = peer()
    assert members.heartbeat(again, beat("c", consumer("g"), fingerprint=7, bare=True), 1)
    assert not members.heartbeat(again, beat("c", consumer("g", "t"), fingerprint=7), 2)
    assert members.subscription("g", "t") is not None


def test_a_newer_subscription_replaces_an_older_one(members: Members) -> None:
    mine = peer()
    for version in (5, 4, 6):
        members.heartbeat(mine, beat("c", consumer("g", "t", version=version)), 0)
        found = members.subscription("g", "t")
        assert found is not None
        assert found.version == max(5, version)


# Who must be told.


def test_what_changes_a_group(members: Members) -> None:
    one, two = peer(), peer()

    def told(data: HeartbeatData, by: Peer = one) -> list[str]:
        members.heartbeat(by, data, 0)
        return members.take_changed()

    assert told(beat("c1", consumer("g", "t"))) == ["g"]  # A new member.
    assert told(beat("c1", consumer("g", "t"))) == []
    assert told(beat("c1", consumer("g", "t", version=2))) == []  # Java: a version alone is not.
    assert told(beat("c1", consumer("g", "t", "u"))) == ["g"]  # A topic came.
    assert told(beat("c1", consumer("g", "u"))) == ["g"]  # A topic went.
    assert told(beat("c2", consumer("g", "u")), two) == ["g"]
    assert told(beat("c1", producers=("p",))) == []
    members.unregister(two, consumer_group="g")
    assert members.take_changed() == ["g"]
    members.unregister(two, consumer_group="g")
    assert members.take_changed() == []
    members.gone(one)
    assert members.take_changed() == []  # Nobody is left to be told.
    assert members.consumers == {}


def test_a_broadcasting_group_is_never_told(members: Members) -> None:
    one, two = peer(), peer()
    for mine in (one, two):
        data = consumer("g", "t", model=MessageModel.BROADCASTING)
        members.heartbeat(mine, beat("c", data), 0)
    members.gone(one)
    assert members.take_changed() == []


# Leaving.


def test_unregister_leaves_what_it_names(members: Members) -> None:
    mine = peer()
    data = beat("c", consumer("g", "t"), consumer("h", "t"), producers=("p", "q"))
    members.heartbeat(mine, data, 0)
    members.unregister(mine, consumer_group="g", producer_group="q")
    assert (list(members.consumers), list(members.producers)) == (["h"], ["p"])
    members.gone(mine)
    assert not members.consumers
    assert not members.producers
    members.gone(mine)
    members.unregister(mine, "h", "p")


def test_silence(members: Members) -> None:
    old, new = peer("192.0.2.1:1"), peer("192.0.2.2:2")
    members.heartbeat(old, beat("c1", consumer("g", "t"), producers=("p", "q")), 1000)
    members.heartbeat(new, beat("c2", consumer("g", "t"), producers=("p",)), 2000)
    members.take_changed()
    assert members.expire(121_000, 120_000) == []
    assert members.expire(121_001, 120_000) == [old]
    assert members.take_changed() == ["g"]
    assert members.peers("g") == members.producer_peers("p") == [new]
    assert "q" not in members.producers


def test_a_client_with_two_connections_counts_once(members: Members) -> None:
    old, new = peer("192.0.2.1:1"), peer("192.0.2.1:2")
    for mine in (old, new):
        members.heartbeat(mine, beat("c", consumer("g", "t")), 0)
    group = members.consumers["g"]
    assert group.client_ids() == ["c"]
    newest = group.find_client("c")
    assert newest is not None
    assert newest.peer is new
    members.gone(old)
    assert group.client_ids() == ["c"]
    assert group.find_client("d") is None


# Reports.


def test_reports(members: Members) -> None:
    mine = peer("192.0.2.1:77")
    cast(FakePeer, mine).language = Language.GO
    members.heartbeat(mine, beat("c", consumer("g", "t"), producers=("p",)), 5)
    report = members.consumers["g"].as_report()
    (connection,) = report.connections
    assert (connection.client_id, connection.client_address) == ("c", "192.0.2.1:77")
    assert (connection.language, connection.version) == (Language.GO, 513)
    assert report.subscriptions["t"].tags == ["TagA"]
    assert report.message_model is MessageModel.CLUSTERING
    producers = members.producer_report("p")
    assert producers is not None
    assert producers.connections == [connection]
    assert members.producer_report("q") is None
    (info,) = members.producer_table().groups["p"]
    assert (info.address, info.last_seen_ms) == ("/192.0.2.1:77", 5)


def test_an_unknown_language_is_another_one(members: Members) -> None:
    mine = peer()
    cast(FakePeer, mine).language = 99
    members.heartbeat(mine, beat("c", consumer("g", "t")), 0)
    assert members.consumers["g"].as_report().connections[0].language is Language.OTHER


def test_producers_that_can_answer(members: Members) -> None:
    one, two = peer(), peer()
    members.heartbeat(one, beat("c1", producers=("p",)), 0)
    members.heartbeat(two, beat("c2", producers=("p",)), 0)
    cast(FakePeer, one).closed = True
    assert members.producer_peers("p") == [two]
    assert members.find_producer("c1") is None
    found = members.find_producer("c2")
    assert found is not None
    assert found.peer is two


class Coming(RuleBasedStateMachine):
    """Any order of heartbeats, farewells and silences against a plain model."""

    def __init__(self) -> None:
        super().__init__()
        self.members = Members()
        self.all_peers = [peer(f"192.0.2.1:{port}") for port in range(4)]
        self.model: dict[tuple[str, int], int] = {}  # (group, peer) -> last heartbeat
        self.now_ms = 0

    @rule(who=st.integers(0, 3), groups=st.sets(st.sampled_from("gh")))
    def heartbeat(self, who: int, groups: set[str]) -> None:
        consumers = [consumer(group, "t") for group in sorted(groups)]
        data = beat(f"c{who}", *consumers, producers=tuple(sorted(groups)))
        self.members.heartbeat(self.all_peers[who], data, self.now_ms)
        self.model.update({(group, who): self.now_ms for group in groups})

    @rule(who=st.integers(0, 3), group=st.sampled_from("gh"))
    def unregister(self, who: int, group: str) -> None:
        self.members.unregister(self.all_peers[who], group, group)
        self.model.pop((group, who), None)

    @rule(who=st.integers(0, 3))
    def close(self, who: int) -> None:
        self.members.gone(self.all_peers[who])
        self.model = {key: seen for key, seen in self.model.items() if key[1] != who}

    @rule(ms=st.integers(1, 80))
    def wait(self, ms: int) -> None:
        self.now_ms += ms
        silent = self.members.expire(self.now_ms, 100)
        gone = {key for key, seen in self.model.items() if self.now_ms - seen > 100}
        assert set(silent) == {self.all_peers[who] for _, who in gone}
        for key in gone:
            del self.model[key]

    @invariant()
    def the_same_members(self) -> None:
        for group in "gh":
            expected = {self.all_peers[who] for name, who in self.model if name == group}
            assert set(self.members.peers(group)) == expected
            assert set(self.members.producer_peers(group)) == expected
            assert (group in self.members.consumers) == bool(expected)

    @invariant()
    def nothing_is_kept_of_who_left(self) -> None:
        assert self.members._groups_of.keys() == {self.all_peers[who] for _, who in self.model}

    @invariant()
    def only_living_groups_are_to_be_told(self) -> None:
        assert self.members.changed.keys() <= self.members.consumers.keys()


TestComing = Coming.TestCase
