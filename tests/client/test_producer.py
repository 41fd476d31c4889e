# SPDX-License-Identifier: Apache-2.0
"""Sending: what travels, which queue it goes to, what is tried again."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable

import pytest

from eruca.client.producer import COMPRESS_SIZE_MIN, Producer
from eruca.client.session import Session
from eruca.errors import BadField, MessageTooLarge, OutcomeUnknown, Refused, Unreachable
from eruca.message import Message, MessageQueue, SendStatus
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.commands import SendMessageAnswer
from eruca.wire.properties import decode_properties

from .fake import HANG_UP, SILENCE, FakeServer

SEND = RequestCode.SEND_MESSAGE_V2
BATCH = RequestCode.SEND_BATCH_MESSAGE
STORED = SendMessageAnswer("OFFSETID", 1, 42)


def with_producer(test: Callable[[FakeServer, Producer, Session], Awaitable[None]]) -> None:
    """Run `test` with one server that takes everything it is sent, unless the test says else."""

    async def run() -> None:
        async with FakeServer() as server, server.session() as session:
            server.say_route(queue_count=3)
            await test(server, Producer(session, "g"), session)

    asyncio.run(run())


def test_a_message_travels_with_all_that_belongs_to_it() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(SEND, STORED)
        message = Message("t", b"body", "A", ["k1", "k2"], {"colour": "red"}, flag=5)
        receipt = await producer.send(message)
        asked = server.asked(SEND)[0]
        assert asked.body == b"body"
        assert (asked.fields["a"], asked.fields["b"], asked.fields["h"]) == ("g", "t", "5")
        assert asked.fields["c"] == "TBW102"
        assert asked.fields["n"] == "broker-a"
        properties = decode_properties(asked.fields["i"])
        assert properties.pop("UNIQ_KEY") == receipt.message_id
        assert properties == {"colour": "red", "TAGS": "A", "KEYS": "k1 k2", "WAIT": "true"}
        assert receipt.status is SendStatus.SEND_OK
        assert receipt.offset_id == "OFFSETID"
        assert receipt.queue == MessageQueue("t", "broker-a", 1)
        assert receipt.queue_offset == 42

    with_producer(test)


def test_queues_take_turns() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(SEND, STORED)
        for _n in range(6):
            await producer.send(Message("t", b"x"))
        queues = [int(asked.fields["e"]) for asked in server.asked(SEND)]
        assert sorted(queues[:3]) == [0, 1, 2]
        assert queues[3:] == queues[:3]

    with_producer(test)


def test_a_status_below_ok_is_a_receipt_too() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(SEND, STORED, status=ResponseCode.FLUSH_DISK_TIMEOUT)
        receipt = await producer.send(Message("t", b"x"))
        assert receipt.status is SendStatus.FLUSH_DISK_TIMEOUT
        assert len(server.asked(SEND)) == 1

    with_producer(test)


def test_a_large_body_is_compressed() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(SEND, STORED)
        body = b"ab" * COMPRESS_SIZE_MIN
        await producer.send(Message("t", body))
        asked = server.asked(SEND)[0]
        assert zlib.decompress(asked.body) == body
        assert asked.fields["f"] == str(0x301)

    with_producer(test)


@pytest.mark.parametrize("status", [None, ResponseCode.SYSTEM_BUSY, ResponseCode.SYSTEM_ERROR])
def test_what_may_pass_is_tried_again(status: int | None) -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        if status is None:
            server.say(SEND, HANG_UP)
        else:
            server.say(SEND, status=status, remark="not now")
        server.say(SEND, STORED)
        assert (await producer.send(Message("t", b"x"))).queue_offset == 42
        assert len(server.asked(SEND)) == 2

    with_producer(test)


def test_a_send_is_tried_three_times() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(SEND, status=ResponseCode.SYSTEM_BUSY, remark="not now")
        with pytest.raises(Refused, match="not now"):
            await producer.send(Message("t", b"x"))
        assert len(server.asked(SEND)) == 3

    with_producer(test)


def test_what_cannot_pass_is_not_tried_again() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(SEND, status=ResponseCode.MESSAGE_ILLEGAL, remark="too long")
        with pytest.raises(Refused, match="too long"):
            await producer.send(Message("t", b"x"))
        assert len(server.asked(SEND)) == 1

    with_producer(test)


def test_a_chosen_queue_is_tried_once() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(SEND, status=ResponseCode.SYSTEM_BUSY, remark="not now")
        with pytest.raises(Refused):
            await producer.send(Message("t", b"x"), MessageQueue("t", "broker-a", 2))
        assert [asked.fields["e"] for asked in server.asked(SEND)] == ["2"]

    with_producer(test)


def test_the_second_attempt_goes_to_another_broker() -> None:
    async def run() -> None:
        async with FakeServer("broker-a") as a, FakeServer("broker-b") as b, a.session() as session:
            a.say_route(b, queue_count=4)
            a.say(SEND, status=ResponseCode.SYSTEM_BUSY, remark="not now")
            b.say(SEND, STORED)
            producer = Producer(session, "g")
            for _ in range(8):
                assert (await producer.send(Message("t", b"x"))).queue.broker_name == "broker-b"

    asyncio.run(run())


def test_no_answer_in_time_leaves_the_outcome_open() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(SEND, SILENCE)
        with pytest.raises(OutcomeUnknown):
            await producer.send(Message("t", b"x"), timeout_ms=50)

    with_producer(test)


def test_a_topic_that_nobody_may_write_to_is_unreachable() -> None:
    async def run() -> None:
        async with FakeServer() as server, server.session() as session:
            server.say_route(perm=4)
            with pytest.raises(Unreachable, match="no queue that can be written"):
                await Producer(session, "g").send(Message("t", b"x"))

    asyncio.run(run())


def test_bad_messages_never_leave() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        for message, problem in (
            (Message("", b"x"), BadField),
            (Message("t", b""), BadField),
            (Message("t", bytes(4 * 1024 * 1024 + 1)), MessageTooLarge),
        ):
            with pytest.raises(problem):
                await producer.send(message)
        assert not server.requests

    with_producer(test)


def test_a_batch_is_one_request() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        server.say(BATCH, SendMessageAnswer("ID1,ID2", 0, 7))
        receipt = await producer.send_batch([Message("t", b"one", "A"), Message("t", b"three")])
        asked = server.asked(BATCH)[0]
        assert asked.fields["m"] == "true"
        first_size = int.from_bytes(asked.body[:4], "big")
        second = asked.body[first_size:]
        assert int.from_bytes(second[:4], "big") == len(second)
        assert asked.body[20:23] == b"one"
        assert second[16:25] == (5).to_bytes(4, "big") + b"three"
        text_size = int.from_bytes(asked.body[23:25], "big")
        text = asked.body[25 : 25 + text_size].decode()
        assert 25 + text_size == first_size
        ids = receipt.message_id.split(",")
        assert decode_properties(text) == {"UNIQ_KEY": ids[0], "WAIT": "true", "TAGS": "A"}
        assert len(ids) == 2
        assert receipt.queue_offset == 7

    with_producer(test)


def test_bad_batches_never_leave() -> None:
    async def test(server: FakeServer, producer: Producer, _: Session) -> None:
        with pytest.raises(BadField, match="differs"):
            await producer.send_batch([Message("t", b"x"), Message("u", b"x")])
        with pytest.raises(MessageTooLarge):
            await producer.send_batch([])
        assert not server.requests

    with_producer(test)


def test_one_way_wants_no_answer() -> None:
    async def test(server: FakeServer, producer: Producer, session: Session) -> None:
        message_id = await producer.send_oneway(Message("t", b"x"))
        async with asyncio.timeout(5):
            while not server.asked(SEND):
                await asyncio.sleep(0)
        asked = server.asked(SEND)[0]
        assert asked.is_oneway
        assert message_id in asked.fields["i"]

    with_producer(test)
