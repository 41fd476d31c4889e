# SPDX-License-Identifier: Apache-2.0
"""One pull, and the offsets of one queue."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from librt.strings import BytesWriter

from eruca.client.pull import (
    Outcome,
    commit,
    committed,
    max_offset,
    min_offset,
    offset_at,
    pull,
)
from eruca.client.session import Session
from eruca.errors import Refused
from eruca.message import MessageQueue
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.commands import (
    GetMaxOffsetAnswer,
    GetMinOffsetAnswer,
    PullMessageAnswer,
    QueryConsumerOffsetAnswer,
    SearchOffsetAnswer,
)
from eruca.wire.record import Draft, record_size, write_record

from .fake import FakeServer

PULL = RequestCode.PULL_MESSAGE
QUEUE = MessageQueue("t", "broker-a", 1)
HOST = bytes((127, 0, 0, 1)) + (10911).to_bytes(4, "big")


def record(body: bytes, queue_offset: int, properties: bytes = b"") -> bytes:
    draft = Draft()
    draft.topic = b"t"
    draft.queue_id = 1
    draft.born_host = HOST
    draft.body = body
    draft.properties = properties
    draft.queue_offset = queue_offset
    draft.log_offset = 1000 + queue_offset
    draft.size = record_size(draft, HOST)
    out = BytesWriter()
    write_record(out, draft, HOST)
    return out.getvalue()


def with_session(test: Callable[[FakeServer, Session], Awaitable[None]]) -> None:
    async def run() -> None:
        async with FakeServer() as server, server.session() as session:
            server.say_route()
            await test(server, session)

    asyncio.run(run())


def test_found_messages_are_decoded() -> None:
    async def test(server: FakeServer, session: Session) -> None:
        records = record(b"one", 5, b"TAGS\x01A\x02KEYS\x01k1 k2\x02UNIQ_KEY\x01ID\x02")
        server.say(PULL, PullMessageAnswer(0, 7, 0, 9), body=records + record(b"two", 6))
        page = await pull(session, "g", QUEUE, 5, wait_ms=100, expression="A || B")
        assert page.outcome is Outcome.FOUND
        assert (page.next_offset, page.min_offset, page.max_offset) == (7, 0, 9)
        one, two = page.messages
        assert (one.body, one.tag, one.keys, one.message_id) == (b"one", "A", ["k1", "k2"], "ID")
        assert (one.queue, one.queue_offset, one.log_offset) == (QUEUE, 5, 1005)
        assert one.born_host == "127.0.0.1:10911"
        assert two.message_id == two.offset_id == "7F00000100002A9F00000000000003EE"
        asked = server.asked(PULL)[0].fields
        assert (asked["sysFlag"], asked["subscription"]) == ("6", "A || B")
        assert (asked["queueOffset"], asked["suspendTimeoutMillis"]) == ("5", "100")

    with_session(test)


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.FOUND])
def test_other_outcomes_bring_only_an_offset(outcome: Outcome) -> None:
    async def test(server: FakeServer, session: Session) -> None:
        server.say(PULL, PullMessageAnswer(0, 3, 1, 8), status=outcome.value)
        page = await pull(session, "g", QUEUE, 5)
        assert (page.outcome, page.next_offset, page.messages) == (outcome, 3, [])
        assert server.asked(PULL)[0].fields["sysFlag"] == "4"

    with_session(test)


def test_a_pull_can_commit() -> None:
    async def test(server: FakeServer, session: Session) -> None:
        server.say(PULL, PullMessageAnswer(0, 3, 1, 8), status=ResponseCode.PULL_NOT_FOUND)
        await pull(session, "g", QUEUE, 5, commit_offset=4)
        asked = server.asked(PULL)[0].fields
        assert (asked["sysFlag"], asked["commitOffset"]) == ("5", "4")

    with_session(test)


def test_a_refused_pull_raises() -> None:
    async def test(server: FakeServer, session: Session) -> None:
        server.say(PULL, status=ResponseCode.NO_PERMISSION, remark="closed")
        with pytest.raises(Refused, match="closed"):
            await pull(session, "g", QUEUE, 0)

    with_session(test)


def test_offsets() -> None:
    async def test(server: FakeServer, session: Session) -> None:
        server.say(RequestCode.GET_MIN_OFFSET, GetMinOffsetAnswer(3))
        server.say(RequestCode.GET_MAX_OFFSET, GetMaxOffsetAnswer(9))
        server.say(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, SearchOffsetAnswer(5))
        assert await min_offset(session, QUEUE) == 3
        assert await max_offset(session, QUEUE) == 9
        assert await offset_at(session, QUEUE, 1_700_000_000_000) == 5
        asked = server.asked(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP)[0].fields
        assert (asked["timestamp"], asked["queueId"]) == ("1700000000000", "1")

    with_session(test)


def test_a_group_that_was_never_here_has_no_offset() -> None:
    async def test(server: FakeServer, session: Session) -> None:
        query = RequestCode.QUERY_CONSUMER_OFFSET
        server.say(query, status=ResponseCode.QUERY_NOT_FOUND)
        server.say(query, QueryConsumerOffsetAnswer(4))
        assert await committed(session, "g", QUEUE) is None
        assert await committed(session, "g", QUEUE) == 4

    with_session(test)


def test_commit() -> None:
    async def test(server: FakeServer, session: Session) -> None:
        server.say(RequestCode.UPDATE_CONSUMER_OFFSET)
        await commit(session, "g", QUEUE, 12)
        asked = server.asked(RequestCode.UPDATE_CONSUMER_OFFSET)[0].fields
        assert (asked["consumerGroup"], asked["queueId"], asked["commitOffset"]) == ("g", "1", "12")

    with_session(test)
