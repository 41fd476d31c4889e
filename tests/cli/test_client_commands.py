# SPDX-License-Identifier: Apache-2.0
"""produce, consume, topic, group against a server that plays back a script."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from client.fake import SILENCE, FakeServer
from client.test_pull import record
from eruca.wire.bodies import (
    Connection,
    ConsumerConnection,
    GroupConfig,
    GroupList,
    GroupTable,
    TopicConfig,
    TopicList,
)
from eruca.wire.codes import Language, RequestCode, ResponseCode
from eruca.wire.commands import (
    GetMaxOffsetAnswer,
    GetMinOffsetAnswer,
    PullMessageAnswer,
    QueryConsumerOffsetAnswer,
    SearchOffsetAnswer,
    SendMessageAnswer,
)
from eruca.wire.fields import MessageQueue
from eruca.wire.properties import decode_properties
from eruca.wire.reports import ConsumeOffset, ConsumeStats, TopicOffset, TopicStatsTable

from .commands import Ended, eruca

SEND = RequestCode.SEND_MESSAGE_V2
PULL = RequestCode.PULL_MESSAGE
Run = Callable[..., Awaitable[Ended]]


def with_server(test: Callable[[FakeServer, Run], Awaitable[None]], queue_count: int = 1) -> None:
    async def run() -> None:
        async with FakeServer() as server:
            server.say_cluster()
            server.say_route(queue_count=queue_count)

            async def command(*words: str, given: bytes = b"") -> Ended:
                return await eruca(*words, "--nameserver", server.address, given=given)

            await test(server, command)

    asyncio.run(run())


def test_produce_sends_lines() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(SEND, SendMessageAnswer("ID", 0, 5))
        words = ("--tag", "A", "--key", "k", "--property", "colour=red", "--json")
        ended = await run("produce", "t", *words, given=b"one\r\n\ntwo\nthree")
        assert ended.code == 0, ended.err
        asked = server.asked(SEND)
        assert sorted(each.body for each in asked) == [b"one", b"three", b"two"]
        properties = decode_properties(asked[0].fields["i"])
        assert (properties["TAGS"], properties["KEYS"], properties["colour"]) == ("A", "k", "red")
        assert [line["queue_offset"] for line in ended.json_lines] == [5, 5, 5]

    with_server(test)


def test_produce_to_one_queue_keeps_the_order() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(SEND, SendMessageAnswer("ID", 0, 5))
        lines = [str(number).encode() for number in range(50)]
        ended = await run("produce", "t", "--queue", "broker-a:0", given=b"\n".join(lines))
        assert ended.code == 0, ended.err
        assert [each.body for each in server.asked(SEND)] == lines
        assert "50 messages sent to t" in ended.err

    with_server(test)


def test_produce_stops_at_the_first_refusal() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(SEND, status=ResponseCode.MESSAGE_ILLEGAL, remark="no such thing")
        ended = await run("produce", "t", given=b"x\n")
        assert ended.code == 1
        assert "0 messages sent" in ended.err
        assert "refused: MESSAGE_ILLEGAL: no such thing" in ended.err
        assert "Traceback" not in ended.err

    with_server(test)


@pytest.mark.parametrize("words", [("--property", "colour"), ("--queue", "broker-a")])
def test_produce_explains_bad_words(words: tuple[str, str]) -> None:
    async def test(server: FakeServer, run: Run) -> None:
        ended = await run("produce", "t", *words, given=b"x\n")
        assert ended.code == 1
        assert words[0] in ended.err

    with_server(test)


def test_consume_prints_count_messages() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(RequestCode.GET_MIN_OFFSET, GetMinOffsetAnswer(3))
        found = record(b"one", 3) + record(b"two", 4) + record(b"three", 5)
        server.say(PULL, PullMessageAnswer(0, 6, 0, 6), body=found)
        ended = await run("consume", "t", "--from", "earliest", "--count", "2")
        assert (ended.code, ended.out) == (0, "one\ntwo\n"), ended.err
        assert server.asked(PULL)[0].fields["queueOffset"] == "3"
        assert not server.asked(RequestCode.UPDATE_CONSUMER_OFFSET)

    with_server(test)


def test_consume_from_the_end_and_from_a_time() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(RequestCode.GET_MAX_OFFSET, GetMaxOffsetAnswer(8))
        server.say(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, SearchOffsetAnswer(6))
        server.say(PULL, PullMessageAnswer(0, 8, 0, 8), body=record(b"x", 8))
        assert (await run("consume", "t", "--count", "1")).code == 0
        await run("consume", "t", "--from", "1700000000000", "--count", "1")
        await run("consume", "t", "--from", "2026-01-31T13:05:00+00:00", "--count", "1")
        begins = [each.fields["queueOffset"] for each in server.asked(PULL)]
        assert begins[0] == "8"
        assert begins.count("6") == 2  # Each run goes on from there, if it has the time.
        times = [
            each.fields["timestamp"]
            for each in server.asked(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP)
        ]
        assert times == ["1700000000000", "1769864700000"]

    with_server(test)


def test_consume_for_a_group_goes_on_and_commits() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(RequestCode.QUERY_CONSUMER_OFFSET, QueryConsumerOffsetAnswer(4))
        server.say(RequestCode.UPDATE_CONSUMER_OFFSET)
        server.say(PULL, PullMessageAnswer(0, 6, 0, 6), body=record(b"a", 4) + record(b"b", 5))
        server.say(PULL, PullMessageAnswer(0, 6, 0, 6), status=ResponseCode.PULL_NOT_FOUND)
        ended = await run("consume", "t", "--group", "g", "--count", "1", "--json")
        assert ended.code == 0, ended.err
        assert (ended.json["queue_offset"], ended.json["body"]) == (4, "a")
        asked = server.asked(RequestCode.UPDATE_CONSUMER_OFFSET)[0].fields
        assert (asked["consumerGroup"], asked["queueId"], asked["commitOffset"]) == ("g", "1", "5")

    with_server(test)


def test_consume_gives_up_after_a_while() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(RequestCode.GET_MAX_OFFSET, GetMaxOffsetAnswer(0))
        server.say(PULL, SILENCE)
        ended = await run("consume", "t", "--wait", "0.2")
        assert (ended.code, ended.out) == (0, "")

    with_server(test)


def test_consume_compares_tags_itself() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(RequestCode.GET_MIN_OFFSET, GetMinOffsetAnswer(0))
        found = record(b"same hash", 0, b"TAGS\x01BB\x02") + record(b"it", 1, b"TAGS\x01Aa\x02")
        server.say(PULL, PullMessageAnswer(0, 2, 0, 2), body=found)
        ended = await run("consume", "t", "--from", "earliest", "--tag", "Aa", "--count", "1")
        assert ended.out == "it\n"
        assert server.asked(PULL)[0].fields["subscription"] == "Aa"

    with_server(test)


def test_consume_prints_bytes_that_are_no_text() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(RequestCode.GET_MIN_OFFSET, GetMinOffsetAnswer(0))
        server.say(PULL, PullMessageAnswer(0, 1, 0, 1), body=record(b"\xff\x00", 0))
        ended = await run("consume", "t", "--from", "earliest", "--count", "1", "--json")
        assert ended.json["body_base64"] == "/wA="

    with_server(test)


def test_consume_ends_when_a_queue_is_closed_to_us() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        server.say(RequestCode.GET_MAX_OFFSET, GetMaxOffsetAnswer(0))
        server.say(PULL, status=ResponseCode.NO_PERMISSION, remark="closed")
        ended = await run("consume", "t")
        assert ended.code == 1
        assert "refused: NO_PERMISSION: closed" in ended.err

    with_server(test)


def test_a_topic_that_is_not_there() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        ended = await run("consume", "t", "--count", "1")
        assert ended.code == 1
        assert ended.err.count("\n") == 1

    async def without_route() -> None:
        async with FakeServer() as server:
            server.say(
                RequestCode.GET_ROUTEINFO_BY_TOPIC,
                status=ResponseCode.TOPIC_NOT_EXIST,
                remark="no route",
            )
            ended = await eruca("consume", "t", "--nameserver", server.address)
            assert ended.code == 1
            assert "eruca topic create" in ended.err

    with_server(test)
    asyncio.run(without_route())


def test_topic_list_and_create() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        topics = TopicList(["TBW102", "b", "a"])
        server.say(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, body=topics)
        server.say(RequestCode.UPDATE_AND_CREATE_TOPIC)
        assert (await run("topic", "list")).out == "a\nb\n"
        assert (await run("topic", "list", "--json")).json == ["a", "b"]
        assert "TBW102" in (await run("topic", "list", "--all")).out
        ended = await run("topic", "create", "t", "--queues", "3", "--order")
        assert (ended.code, ended.out) == (0, "t: 3 queues on broker-a\n")
        asked = server.asked(RequestCode.UPDATE_AND_CREATE_TOPIC)[0].fields
        assert (asked["writeQueueNums"], asked["order"]) == ("3", "true")

    with_server(test)


def test_topic_describe_and_route() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        stats = TopicStatsTable({MessageQueue("t", "broker-a", 0): TopicOffset(2, 9, 0)})
        server.say(RequestCode.GET_TOPIC_STATS_INFO, body=stats)
        server.say(RequestCode.GET_TOPIC_CONFIG, body=TopicConfig("t", 1, 1))
        server.say(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, body=GroupList(["g"]))
        ended = await run("topic", "describe", "t", "--json")
        assert ended.json["queues"][0]["messages"] == 7
        assert ended.json["groups"] == ["g"]
        ended = await run("topic", "describe", "t")
        assert ended.out.splitlines()[1].split() == ["broker", "queue", "first", "next", "messages"]
        assert ended.out.splitlines()[2].split() == ["broker-a", "0", "2", "9", "7"]
        ended = await run("topic", "route", "t", "--json")
        assert ended.json == [
            {
                "broker": "broker-a",
                "id": 0,
                "address": server.address,
                "read_queues": 1,
                "write_queues": 1,
            }
        ]

    with_server(test)


def test_groups() -> None:
    async def test(server: FakeServer, run: Run) -> None:
        members = [Connection("c1", "1.2.3.4:5", Language.JAVA, 513)]
        server.say(
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
            body=GroupTable({"g": GroupConfig("g")}),
        )
        server.say(RequestCode.GET_CONSUMER_CONNECTION_LIST, body=ConsumerConnection(members))
        offsets = {MessageQueue("t", "broker-a", 0): ConsumeOffset(9, 4)}
        server.say(RequestCode.GET_CONSUME_STATS, body=ConsumeStats(offsets))
        server.say(RequestCode.DELETE_SUBSCRIPTIONGROUP)
        assert (await run("group", "list")).out == "g\n"
        found = (await run("group", "describe", "g", "--json")).json
        assert found["behind"] == 5
        assert found["members"][0]["version"] == "V5_5_0"
        assert "5 messages behind" in (await run("group", "describe", "g")).out
        assert (await run("group", "delete", "g")).out == "g: deleted\n"

    with_server(test)
