# SPDX-License-Identifier: Apache-2.0
"""Questions that a client answers: the broker stands between."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from eruca.broker import relays
from eruca.wire import commands, javajson
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import MessageQueue, to_json, written
from eruca.wire.header import RESPONSE_FLAG, Command, encode
from eruca.wire.reports import ConsumerStatus

from .here import Bench, Link, consumer, read, records

GROUP, TOPIC = "billing", "orders"
LIMIT_S = 5
INFO = commands.GetConsumerRunningInfo(GROUP, "c@1")


def play(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, LIMIT_S))


def member(bench: Bench, client_id: str = "c@1") -> Link:
    link = bench.link()
    link.beat(consumer(GROUP, TOPIC), client_id=client_id)
    link.pushed.clear()
    return link


def start(tool: Link, code: int, header: object) -> None:
    """A request whose answer takes its time."""
    tool.tell(Command(code, 99, fields=written(header)))


async def asked(client: Link) -> Command:
    """What the broker asks the client, once it does."""
    while not client.pushed:
        await asyncio.sleep(0)
        client.read()
    return client.pushed.pop()


async def answered(tool: Link) -> Command:
    while 99 not in tool.answers:
        await asyncio.sleep(0)
        tool.read()
    return tool.answers.pop(99)


def reply(client: Link, to: Command, **more: Any) -> None:
    client.peer.data_received(encode(Command(opaque=to.opaque, flag=RESPONSE_FLAG, **more)))


def test_the_client_s_answer_comes_back_as_it_is(bench: Bench) -> None:
    async def story() -> None:
        client, tool = member(bench), bench.link()
        header = commands.GetConsumerRunningInfo(GROUP, "c@1", with_stacks=True)
        start(tool, RequestCode.GET_CONSUMER_RUNNING_INFO, header)
        ask = await asked(client)
        assert ask.code == RequestCode.GET_CONSUMER_RUNNING_INFO
        assert ask.fields["jstackEnable"] == "true"
        reply(client, ask, code=5, remark="as it is", body=b"{info}", fields={"x": "y"})
        answer = await answered(tool)
        assert (answer.code, answer.remark, answer.body) == (5, "as it is", b"{info}")
        assert answer.fields == {"x": "y"}

    play(story())


def test_a_client_that_is_not_there(bench: Bench) -> None:
    tool = bench.link()
    for group in (GROUP, "other"):
        member(bench)
        header = commands.GetConsumerRunningInfo(group, "c@9")
        answer = tool.ask(RequestCode.GET_CONSUMER_RUNNING_INFO, header)
        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert answer.remark == f"The Consumer <{group}> <c@9> not online"


def test_a_client_that_does_not_answer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relays, "RELAY_MS_MAX", 10)

    async def story() -> None:
        client, tool = member(bench), bench.link()
        start(tool, RequestCode.GET_CONSUMER_RUNNING_INFO, INFO)
        await asked(client)
        assert (await answered(tool)).code == ResponseCode.CONSUME_MSG_TIMEOUT

    play(story())


def test_a_client_that_goes_while_it_is_asked(bench: Bench) -> None:
    async def story() -> None:
        client, tool = member(bench), bench.link()
        start(tool, RequestCode.GET_CONSUMER_RUNNING_INFO, INFO)
        await asked(client)
        client.close()
        assert (await answered(tool)).code == ResponseCode.SYSTEM_ERROR

    play(story())


def test_there_is_an_end_to_what_waits(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relays, "RELAY_COUNT_MAX", 1)

    async def story() -> None:
        client, tool = member(bench), bench.link()
        start(tool, RequestCode.GET_CONSUMER_RUNNING_INFO, INFO)
        refused = bench.link().ask(RequestCode.GET_CONSUMER_RUNNING_INFO, INFO)
        assert refused.code == ResponseCode.SYSTEM_BUSY
        reply(client, await asked(client), code=0)
        assert (await answered(tool)).code == 0

    play(story())


def test_what_waits_is_called_off_when_the_broker_stops(bench: Bench) -> None:
    async def story() -> None:
        client, tool = member(bench), bench.link()
        start(tool, RequestCode.GET_CONSUMER_RUNNING_INFO, INFO)
        await asked(client)
        await bench.broker.relays.close()
        tool.read()
        assert not tool.answers

    play(story())


# Consuming one message.


def test_a_client_consumes_a_message_directly(bench: Bench) -> None:
    bench.topic(TOPIC, sys_flag=2)
    bench.put(TOPIC, b"other")
    log_offset = bench.put(TOPIC, b"this one")
    message_id = "7F000001" + "00002A9F" + f"{log_offset:016X}"

    async def story() -> None:
        client, tool = member(bench), bench.link()
        header = commands.ConsumeDirectly(GROUP, "c@1", message_id, topic=TOPIC)
        start(tool, RequestCode.CONSUME_MESSAGE_DIRECTLY, header)
        ask = await asked(client)
        assert [each.body for each in records(ask.body)] == [b"this one"]
        assert ask.fields["brokerName"] == "broker-g"
        assert (ask.fields["topicSysFlag"], ask.fields["groupSysFlag"]) == ("2", "0")
        reply(client, ask, code=0, body=b"{}")
        assert (await answered(tool)).body == b"{}"

    play(story())


@pytest.mark.parametrize("message_id", [None, "", "zz", "7F00000100002A9F00000000000F4240"])
def test_a_message_that_is_nowhere(bench: Bench, message_id: str | None) -> None:
    bench.put(TOPIC)
    member(bench)
    header = commands.ConsumeDirectly(GROUP, "c@1", message_id or "-", topic=TOPIC)
    answer = bench.link().ask(RequestCode.CONSUME_MESSAGE_DIRECTLY, header)
    assert answer.code == ResponseCode.SYSTEM_ERROR


# Where clients are.


def status(queue_id: int, offset: int) -> bytes:
    places = {MessageQueue(TOPIC, "broker-g", queue_id): offset}
    return javajson.dumps(to_json(ConsumerStatus(of_client=places)))


def test_all_clients_of_a_group_say_where_they_are(bench: Bench) -> None:
    async def story() -> None:
        clients = [member(bench, f"c@{number}") for number in range(3)]
        for each in clients:
            each.read()
            each.pushed.clear()
        tool = bench.link()
        header = commands.GetConsumerStatus(TOPIC, GROUP)
        start(tool, RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, header)
        for number, client in enumerate(clients[:2]):
            ask = await asked(client)
            assert ask.code == RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
            reply(client, ask, code=0, body=status(number, 10 + number))
        reply(clients[2], await asked(clients[2]), code=0, body=b"[what]")
        found = read(ConsumerStatus, await answered(tool)).by_client
        assert found == {
            "c@0": {MessageQueue(TOPIC, "broker-g", 0): 10},
            "c@1": {MessageQueue(TOPIC, "broker-g", 1): 11},
        }

    play(story())


def test_one_client_of_a_group_says_where_it_is(bench: Bench) -> None:
    async def story() -> None:
        first, second = member(bench, "c@1"), member(bench, "c@2")
        for each in (first, second):
            each.read()
            each.pushed.clear()
        tool = bench.link()
        header = commands.GetConsumerStatus(TOPIC, GROUP, "c@2")
        start(tool, RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, header)
        reply(second, await asked(second), code=0, body=status(0, 5))
        assert list(read(ConsumerStatus, await answered(tool)).by_client) == ["c@2"]
        first.read()
        assert not first.pushed

    play(story())


def test_nobody_says_where_it_is(bench: Bench) -> None:
    header = commands.GetConsumerStatus(TOPIC, GROUP)
    code = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
    assert bench.link().ask(code, header).code == ResponseCode.SYSTEM_ERROR
