# SPDX-License-Identifier: Apache-2.0
"""Heartbeats and what others ask about members."""

from pathlib import Path

import pytest

from eruca.wire import commands
from eruca.wire.bodies import (
    ClientCheck,
    ConsumerConnection,
    ConsumerIds,
    GroupConfig,
    GroupForbidden,
    GroupList,
    LockBatch,
    LockBatchAnswer,
    MessageModel,
    ProducerConnection,
    ProducerTableInfo,
    QuerySubscriptionAnswer,
    SubscriptionData,
    TopicList,
)
from eruca.wire.codes import Language, RequestCode, ResponseCode
from eruca.wire.fields import MessageQueue
from eruca.wire.header import Command

from .here import Bench, Link, consumer, read

GROUP, TOPIC = "billing", "orders"


def pull(link: Link, offset: int = 0) -> Command:
    """A pull that leaves it to the heartbeat what the group wants."""
    header = commands.PullMessage(GROUP, TOPIC, 0, offset, 32, 0, 0, 0, 0)
    return link.ask(RequestCode.PULL_MESSAGE, header)


def told(link: Link) -> list[str]:
    """The groups that the broker said had changed."""
    link.read()
    found = [each for each in link.pushed if each.code == RequestCode.NOTIFY_CONSUMER_IDS_CHANGED]
    link.pushed.clear()
    assert all(each.is_oneway for each in found)
    return [each.fields["consumerGroup"] for each in found]


# Heartbeats.


def test_a_heartbeat_makes_the_group_and_its_retry_topic(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC, order=True)
    answer = link.beat(consumer(GROUP, TOPIC))
    assert answer.fields == {"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"}
    assert bench.broker.groups.find(GROUP) is not None
    retry = bench.broker.topics.find(f"%RETRY%{GROUP}")
    assert retry is not None and retry.order and retry.write_queue_count == 1


@pytest.mark.parametrize("group", ["", "a b", "../x", "x" * 121])
def test_a_group_without_a_proper_name_is_left_out(bench: Bench, link: Link, group: str) -> None:
    assert link.beat(consumer(group, TOPIC), consumer(GROUP, TOPIC)).code == 0
    assert list(bench.broker.members.consumers) == [GROUP]


def test_unknown_groups_are_left_out_when_they_may_not_be_made(tmp_path: Path) -> None:
    with Bench(tmp_path, auto_create_group=False) as bench:
        bench.link().beat(consumer(GROUP, TOPIC))
        assert not bench.broker.members.consumers


def test_pull_consumers_are_left_out_when_they_are_rejected(tmp_path: Path) -> None:
    with Bench(tmp_path, reject_pull_consumer=True) as bench:
        bench.link().beat(consumer(GROUP, TOPIC, pulls=True), consumer("other", TOPIC))
        assert list(bench.broker.members.consumers) == ["other"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"consumerDataSet":[{}]}'])
def test_a_heartbeat_that_is_none(link: Link, body: bytes) -> None:
    assert link.ask(RequestCode.HEART_BEAT, None, body).code == ResponseCode.SYSTEM_ERROR


def test_second_version_asks_for_everything_only_on_change(bench: Bench, link: Link) -> None:
    def beat(fingerprint: int, *, bare: bool = False) -> str:
        said = consumer(GROUP) if bare else consumer(GROUP, TOPIC)
        return link.beat(said, fingerprint=fingerprint, bare=bare).fields["IS_SUB_CHANGE"]

    assert beat(5) == "false"
    assert beat(5, bare=True) == "false"
    assert beat(6) == "true"
    assert beat(6, bare=True) == "false"
    assert bench.broker.members.subscription(GROUP, TOPIC) is not None


# What a heartbeat changes for pulls.


def test_who_has_no_heartbeat_may_not_pull(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    bench.put(TOPIC)
    assert pull(link).code == ResponseCode.SUBSCRIPTION_NOT_EXIST
    link.beat(consumer(GROUP, TOPIC))
    assert pull(link).code == 0
    link.beat(consumer(GROUP, "another"))
    assert pull(link).code == ResponseCode.SUBSCRIPTION_NOT_EXIST
    link.beat(consumer(GROUP, TOPIC))
    assert pull(link).code == 0
    link.ask(RequestCode.UNREGISTER_CLIENT, commands.UnregisterClient("c@1", None, GROUP))
    assert pull(link).code == ResponseCode.SUBSCRIPTION_NOT_EXIST


def test_a_new_subscription_is_pulled_by_at_once(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    bench.put(TOPIC, TAGS="old")
    link.beat(consumer(GROUP, TOPIC))
    assert pull(link).code == 0
    body = consumer(GROUP)
    body.subscriptions.append(SubscriptionData(TOPIC, "new", version=2))
    link.beat(body)
    assert pull(link).code == ResponseCode.PULL_RETRY_IMMEDIATELY


def test_same_subscriptions_leave_the_hot_path_alone(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    link.beat(consumer(GROUP, TOPIC))
    pull(link)
    known = bench.broker.hot.subscriptions[GROUP.encode()][TOPIC.encode()]
    link.beat(consumer(GROUP, TOPIC))
    pull(link)
    assert bench.broker.hot.subscriptions[GROUP.encode()][TOPIC.encode()] is known


def test_broadcasting_that_is_not_allowed_any_more(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    bench.broker.groups.update([GroupConfig(GROUP, consume_broadcast_enable=False)])
    link.beat(consumer(GROUP, TOPIC))
    pull(link)
    link.beat(consumer(GROUP, TOPIC, model=MessageModel.BROADCASTING))
    assert pull(link).code == ResponseCode.NO_PERMISSION


# Notices.


def test_members_are_told_who_comes_and_goes(bench: Bench) -> None:
    first, second = bench.link(), bench.link()
    first.beat(consumer(GROUP, TOPIC))
    assert told(first) == [GROUP]
    second.beat(consumer(GROUP, TOPIC), client_id="c@2")
    assert told(first) == [GROUP]
    assert told(second) == [GROUP]
    second.beat(consumer(GROUP, TOPIC), client_id="c@2")
    assert told(first) == []
    header = commands.UnregisterClient("c@2", None, GROUP)
    second.ask(RequestCode.UNREGISTER_CLIENT, header)
    assert told(first) == [GROUP]


def test_members_are_told_of_a_lost_connection(bench: Bench) -> None:
    first, second = bench.link(), bench.link()
    first.beat(consumer(GROUP, TOPIC))
    second.beat(consumer(GROUP, TOPIC), client_id="c@2")
    told(first)
    second.close()
    assert told(first) == [GROUP]


def test_a_group_that_does_not_want_to_be_told(bench: Bench, link: Link) -> None:
    bench.broker.groups.update([GroupConfig(GROUP, notify_members=False)])
    link.beat(consumer(GROUP, TOPIC))
    assert told(link) == []


# Who is there.


def test_ids_of_a_group(bench: Bench, link: Link) -> None:
    header = commands.GetConsumerList(GROUP)
    nobody = link.ask(RequestCode.GET_CONSUMER_LIST_BY_GROUP, header)
    assert (nobody.code, nobody.remark) == (1, f"no consumer for this group, {GROUP}")
    link.beat(consumer(GROUP, TOPIC), client_id="b")
    bench.link().beat(consumer(GROUP, TOPIC), client_id="a")
    found = read(ConsumerIds, link.ask(RequestCode.GET_CONSUMER_LIST_BY_GROUP, header))
    assert sorted(found.ids) == ["a", "b"]


def test_connections_of_a_group(link: Link) -> None:
    code, header = RequestCode.GET_CONSUMER_CONNECTION_LIST, commands.GetConsumerConnections(GROUP)
    nobody = link.ask(code, header)
    assert nobody.code == ResponseCode.CONSUMER_NOT_ONLINE
    assert nobody.remark == f"the consumer group[{GROUP}] not online"
    link.beat(consumer(GROUP, TOPIC), language=Language.GO)
    report = read(ConsumerConnection, link.ask(code, header))
    assert [(each.client_id, each.language) for each in report.connections] == [
        ("c@1", Language.GO)
    ]
    assert report.connections[0].client_address == "192.0.2.9:4001"
    assert report.subscriptions[TOPIC].expression == "*"


def test_connections_of_producers(link: Link) -> None:
    code, header = RequestCode.GET_PRODUCER_CONNECTION_LIST, commands.GetProducerConnections("shop")
    nobody = link.ask(code, header)
    assert (nobody.code, nobody.remark) == (1, "the producer group[shop] not exist")
    link.beat(producers=("shop",))
    assert read(ProducerConnection, link.ask(code, header)).connections[0].client_id == "c@1"
    table = read(ProducerTableInfo, link.ask(RequestCode.GET_ALL_PRODUCER_INFO))
    assert [each.address for each in table.groups["shop"]] == ["/192.0.2.9:4001"]


def test_groups_of_a_topic_are_those_online_and_those_with_offsets(
    bench: Bench, link: Link
) -> None:
    link.beat(consumer(GROUP, TOPIC))
    bench.broker.offsets.commit("gone", TOPIC, 0, 1)
    bench.broker.offsets.commit(GROUP, TOPIC, 0, 1)
    answer = link.ask(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, commands.QueryTopicGroups(TOPIC))
    assert read(GroupList, answer).groups == [GROUP, "gone"]


def test_topics_of_a_group(bench: Bench, link: Link) -> None:
    bench.broker.offsets.commit(GROUP, TOPIC, 0, 1)
    header = commands.QueryTopicsByConsumer(GROUP)
    found = read(TopicList, link.ask(RequestCode.QUERY_TOPICS_BY_CONSUMER, header))
    assert (found.topics, found.broker_address) == ([TOPIC], "127.0.0.1:10911")


def test_subscription_of_a_group(link: Link) -> None:
    code, header = RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, (GROUP, TOPIC)
    ask = commands.QuerySubscriptionByConsumer(*header)
    assert read(QuerySubscriptionAnswer, link.ask(code, ask)).subscription is None
    link.beat(consumer(GROUP, TOPIC, version=9))
    found = read(QuerySubscriptionAnswer, link.ask(code, ask)).subscription
    assert found is not None and found.version == 9


def test_a_group_is_forbidden_a_topic(bench: Bench, link: Link) -> None:
    bench.topic(TOPIC)
    bench.put(TOPIC)
    link.beat(consumer(GROUP, TOPIC))
    code = RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN

    def readable(change: bool | None) -> bool | None:
        header = commands.UpdateGroupForbidden(GROUP, TOPIC, change)
        return read(GroupForbidden, link.ask(code, header)).readable

    assert pull(link).code == 0
    assert readable(None) is True
    assert readable(False) is False
    assert readable(None) is False
    assert pull(link).code == ResponseCode.NO_PERMISSION
    assert readable(True) is True
    assert pull(link).code == 0


# Expressions and locks.


@pytest.mark.parametrize(("kind", "code"), [("TAG", 0), ("SQL92", 1)])
def test_which_expressions_are_understood(link: Link, kind: str, code: int) -> None:
    body = ClientCheck("c@1", GROUP, SubscriptionData(TOPIC, "a > 1", expression_type=kind))
    assert link.ask(RequestCode.CHECK_CLIENT_CONFIG, None, body).code == code
    assert link.ask(RequestCode.CHECK_CLIENT_CONFIG).code == 0


def test_queues_are_locked_for_one_client(bench: Bench, link: Link) -> None:
    queues = [MessageQueue(TOPIC, "broker-g", number) for number in range(3)]

    def lock(client_id: str, *ids: int) -> list[int]:
        body = LockBatch(GROUP, client_id, [queues[each] for each in ids])
        answer = read(LockBatchAnswer, link.ask(RequestCode.LOCK_BATCH_MQ, None, body))
        return [each.queue_id for each in answer.locked]

    assert lock("a", 0, 1) == [0, 1]
    assert lock("b", 0, 1, 2) == [2]
    unlocked = LockBatch(GROUP, "a", queues)
    assert link.ask(RequestCode.UNLOCK_BATCH_MQ, None, unlocked).code == 0
    assert lock("b", 0, 1, 2) == [0, 1, 2]
    bench.clock.ms += 60_001
    assert lock("a", 0) == [0]
    assert link.ask(RequestCode.LOCK_BATCH_MQ).code == ResponseCode.SYSTEM_ERROR
