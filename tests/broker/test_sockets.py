# SPDX-License-Identifier: Apache-2.0
"""A broker as it runs: listening, with real time, and clients that dial it."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from eruca.broker.broker import Broker
from eruca.clock import Clock
from eruca.config import Machine, Settings
from eruca.net.dial import dial
from eruca.net.peer import Peer
from eruca.store.disk import Disk
from eruca.wire import commands, javajson
from eruca.wire.bodies import HeartbeatData
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import to_json
from eruca.wire.header import RESPONSE_FLAG, Command, encode

from .here import MEMORY_SIZE, TINY, consumer, records

TOPIC, GROUP = "orders", "billing"
LIMIT_S = 20

Story = Callable[[Broker, str], Awaitable[None]]


def play(directory: Path, story: Story) -> None:
    """Run `story` against a broker on a free port."""

    async def run() -> None:
        settings = Settings().on(Machine("broker-a", "127.0.0.1", str(directory)))
        settings = replace(
            settings,
            server=replace(settings.server, bind_address="127.0.0.1"),
            broker=replace(settings.broker, listen_port=0),
            store=replace(settings.store, **TINY),
        )
        broker = Broker(settings, Disk(), Clock(), random.Random(7), MEMORY_SIZE)
        port = await broker.start()
        try:
            await story(broker, f"127.0.0.1:{port}")
        finally:
            await broker.stop()

    asyncio.run(asyncio.wait_for(run(), LIMIT_S))


async def beat(peer: Peer) -> None:
    body = javajson.dumps(to_json(HeartbeatData("c@1", consumers=[consumer(GROUP, TOPIC)])))
    assert (await peer.call(RequestCode.HEART_BEAT, None, body)).code == 0


def test_a_message_goes_through(tmp_path: Path) -> None:
    async def story(broker: Broker, address: str) -> None:
        peer = await dial(address)
        topic = commands.CreateTopic(TOPIC, "TBW102", 1, 1, 6, "SINGLE_TAG", False)
        assert (await peer.call(RequestCode.UPDATE_AND_CREATE_TOPIC, topic)).code == 0
        await beat(peer)
        wait = commands.PullMessage(GROUP, TOPIC, 0, 0, 32, 2, 0, 15_000, 0)
        waiting = asyncio.create_task(peer.call(RequestCode.PULL_MESSAGE, wait, timeout_ms=9000))
        other = await dial(address)
        send = commands.SendMessageV2("p", TOPIC, "none", 4, 0, 0, 0, 0, "TAGS\x01red\x02")
        sent = await other.call(RequestCode.SEND_MESSAGE_V2, send, b"hello")
        assert sent.code == 0
        pulled = await waiting
        assert [each.body for each in records(pulled.body)] == [b"hello"]
        viewed = await other.call(
            RequestCode.VIEW_MESSAGE_BY_ID,
            commands.ViewMessage(int(sent.fields["msgId"][16:], 16)),
        )
        assert viewed.body == pulled.body

    play(tmp_path, story)


def test_a_client_is_asked_over_its_own_connection(tmp_path: Path) -> None:
    def serve(peer: Peer, request: Command) -> bytes:
        if request.is_oneway:
            return b""
        return encode(Command(0, request.opaque, flag=RESPONSE_FLAG, body=b'{"jstack":"here"}'))

    async def story(broker: Broker, address: str) -> None:
        client, tool = await dial(address, serve), await dial(address)
        await beat(client)
        header = commands.GetConsumerRunningInfo(GROUP, "c@1")
        answer = await tool.call(RequestCode.GET_CONSUMER_RUNNING_INFO, header)
        assert (answer.code, answer.body) == (0, b'{"jstack":"here"}')

    play(tmp_path, story)


def test_a_broker_stops_while_a_tool_waits_for_a_client(tmp_path: Path) -> None:
    asked = asyncio.Event()

    def silent(peer: Peer, request: Command) -> bytes:
        if request.code == RequestCode.GET_CONSUMER_RUNNING_INFO:
            asked.set()
        return b""

    async def story(broker: Broker, address: str) -> None:
        client, tool = await dial(address, silent), await dial(address)
        await beat(client)
        header = commands.GetConsumerRunningInfo(GROUP, "c@1")
        call = tool.call(RequestCode.GET_CONSUMER_RUNNING_INFO, header)
        waiting = asyncio.create_task(call)
        waiting.add_done_callback(lambda task: task.exception())  # It will be left alone.
        await asked.wait()

    play(tmp_path, story)


def test_a_member_whose_connection_closes_leaves(tmp_path: Path) -> None:
    async def story(broker: Broker, address: str) -> None:
        client, tool = await dial(address), await dial(address)
        await beat(client)
        header = commands.GetConsumerList(GROUP)
        assert (await tool.call(RequestCode.GET_CONSUMER_LIST_BY_GROUP, header)).code == 0
        client.close()
        while GROUP in broker.members.consumers:
            await asyncio.sleep(0.001)
        gone = await tool.call(RequestCode.GET_CONSUMER_LIST_BY_GROUP, header)
        assert gone.code == ResponseCode.SYSTEM_ERROR

    play(tmp_path, story)
