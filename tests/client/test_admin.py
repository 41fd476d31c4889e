# SPDX-License-Identifier: Apache-2.0
"""Administration: who is asked, and how several answers become one."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from eruca.client.admin import Admin
from eruca.errors import Refused
from eruca.wire import javajson
from eruca.wire.bodies import (
    Connection,
    ConsumerConnection,
    GroupConfig,
    GroupList,
    GroupTable,
    TopicConfig,
    TopicList,
)
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import MessageQueue
from eruca.wire.reports import ConsumeOffset, ConsumeStats, TopicOffset, TopicStatsTable

from .fake import FakeServer


def with_two_brokers(test: Callable[[FakeServer, FakeServer, Admin], Awaitable[None]]) -> None:
    async def run() -> None:
        async with FakeServer("broker-a") as a, FakeServer("broker-b") as b, a.session() as session:
            a.say_cluster(b)
            a.say_route(b)
            await test(a, b, Admin(session))

    asyncio.run(run())


def test_topics_leave_out_what_no_user_made() -> None:
    async def test(a: FakeServer, b: FakeServer, admin: Admin) -> None:
        own = ["TBW102", "%RETRY%g", "%DLQ%g", "rmq_sys_x", "broker-a", "c1", "c1_REPLY_TOPIC"]
        topics = TopicList([*own, "orders", "billing"])
        a.say(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, body=topics)
        assert await admin.topics() == ["billing", "orders"]
        assert len(await admin.topics(system=True)) == 9

    with_two_brokers(test)


def test_a_topic_is_created_on_every_master() -> None:
    async def test(a: FakeServer, b: FakeServer, admin: Admin) -> None:
        create = RequestCode.UPDATE_AND_CREATE_TOPIC
        a.say(create)
        b.say(create)
        assert await admin.create_topic("t", 5, attributes={"message.type": "FIFO"}) == [
            "broker-a",
            "broker-b",
        ]
        for server in (a, b):
            asked = server.asked(create)[0].fields
            assert (asked["topic"], asked["readQueueNums"], asked["perm"]) == ("t", "5", "6")
            assert asked["attributes"] == "+message.type=FIFO"

    with_two_brokers(test)


def test_a_topic_is_deleted_everywhere() -> None:
    async def test(a: FakeServer, b: FakeServer, admin: Admin) -> None:
        for server in (a, b):
            server.say(RequestCode.DELETE_TOPIC_IN_BROKER)
        a.say(RequestCode.DELETE_TOPIC_IN_NAMESRV)
        await admin.delete_topic("t")
        assert len(a.asked(RequestCode.DELETE_TOPIC_IN_BROKER)) == 1
        assert len(b.asked(RequestCode.DELETE_TOPIC_IN_BROKER)) == 1
        assert a.asked(RequestCode.DELETE_TOPIC_IN_NAMESRV)[0].fields["topic"] == "t"

    with_two_brokers(test)


def test_a_refusal_of_one_broker_is_not_hidden() -> None:
    async def test(a: FakeServer, b: FakeServer, admin: Admin) -> None:
        a.say(RequestCode.UPDATE_AND_CREATE_TOPIC)
        b.say(RequestCode.UPDATE_AND_CREATE_TOPIC, status=ResponseCode.INVALID_PARAMETER)
        with pytest.raises(Refused):
            await admin.create_topic("t", 5)

    with_two_brokers(test)


def test_statistics_of_all_brokers_are_joined() -> None:
    async def test(a: FakeServer, b: FakeServer, admin: Admin) -> None:
        for server, end in ((b, 7), (a, 3)):
            queue = MessageQueue("t", server.broker_name, 0)
            stats = TopicStatsTable({queue: TopicOffset(0, end)})
            server.say(RequestCode.GET_TOPIC_STATS_INFO, body=stats)
            server.say(RequestCode.GET_TOPIC_CONFIG, body=TopicConfig("t", end, end))
            groups = GroupList([f"g{end}", "all"])
            server.say(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, body=groups)
        found = await admin.topic_stats("t")
        assert [(queue.broker_name, found[queue].max_offset) for queue in found] == [
            ("broker-a", 3),
            ("broker-b", 7),
        ]
        configs = await admin.topic_configs("t")
        assert {name: config.read_queue_count for name, config in configs.items()} == {
            "broker-a": 3,
            "broker-b": 7,
        }
        assert await admin.topic_groups("t") == ["all", "g3", "g7"]

    with_two_brokers(test)


def test_groups() -> None:
    async def test(a: FakeServer, b: FakeServer, admin: Admin) -> None:
        every, one = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, RequestCode.GET_CONSUME_STATS
        queue = MessageQueue("t", "broker-a", 0)
        a.say(every, body=GroupTable({"z": GroupConfig("z")}))
        b.say(every, body=GroupTable({"y": GroupConfig("y")}))
        a.say(one, body=ConsumeStats({queue: ConsumeOffset(9, 4)}))
        b.say(one, body=ConsumeStats())
        assert list(await admin.groups()) == ["y", "z"]
        assert (await admin.progress("z"))[queue].consumer_offset == 4

    with_two_brokers(test)


def test_members_of_a_group_that_is_online_on_one_broker() -> None:
    async def test(a: FakeServer, b: FakeServer, admin: Admin) -> None:
        ask = RequestCode.GET_CONSUMER_CONNECTION_LIST
        a.say(ask, status=ResponseCode.CONSUMER_NOT_ONLINE, remark="offline")
        b.say(ask, body=ConsumerConnection([Connection("c1", "1.2.3.4:5")]))
        (found,) = await admin.members("g")
        assert found.connections[0].client_id == "c1"

    with_two_brokers(test)


def test_a_group_is_made_and_deleted_on_every_master() -> None:
    async def test(a: FakeServer, b: FakeServer, admin: Admin) -> None:
        create = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        for server in (a, b):
            server.say(create)
            server.say(RequestCode.DELETE_SUBSCRIPTIONGROUP)
        await admin.create_group(GroupConfig("g", retry_count_max=3))
        await admin.delete_group("g")
        for server in (a, b):
            assert javajson.loads(server.asked(create)[0].body)["retryMaxTimes"] == 3
            asked = server.asked(RequestCode.DELETE_SUBSCRIPTIONGROUP)[0].fields
            assert asked == {"groupName": "g", "cleanOffset": "true"}

    with_two_brokers(test)
