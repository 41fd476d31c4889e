# SPDX-License-Identifier: Apache-2.0
"""Name servers, routes and connections as one session shares them."""

import asyncio
import random

import pytest

from eruca.client.session import ROUTE_AGE_MS_MAX, Session
from eruca.clock import Clock
from eruca.errors import BadField, OutcomeUnknown, Refused, Unreachable
from eruca.wire.codes import RequestCode, ResponseCode

from .fake import HANG_UP, FakeServer

ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC


class SteppedClock(Clock):
    """The real clock, some time later."""

    def __init__(self) -> None:
        self.later_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.later_ms


def test_a_session_needs_a_name_server() -> None:
    with pytest.raises(BadField, match="HOST:PORT"):
        Session([], Clock(), random.Random(1))


def test_a_route_is_kept_until_it_is_old_or_forgotten() -> None:
    async def run() -> None:
        async with FakeServer() as server:
            server.say_route()
            clock = SteppedClock()
            async with Session([server.address], clock, random.Random(1)) as session:
                route = await session.route("t")
                assert [queue.queue_id for queue in route.write_queues] == [0, 1]
                assert route.address("broker-a") == server.address
                assert await session.route("t") is route
                assert len(server.asked(ROUTE)) == 1

                session.forget("t")
                await session.route("t")
                assert len(server.asked(ROUTE)) == 2

                clock.later_ms = ROUTE_AGE_MS_MAX + 1
                await session.route("t")
                assert len(server.asked(ROUTE)) == 3

    asyncio.run(run())


def test_routes_are_asked_for_in_strict_json() -> None:
    async def run() -> None:
        async with FakeServer() as server, server.session() as session:
            server.say_route()
            await session.route("t")
            assert server.asked(ROUTE)[0].fields == {"topic": "t", "acceptStandardJsonOnly": "true"}

    asyncio.run(run())


def test_callers_at_the_same_time_share_one_connection() -> None:
    async def run() -> None:
        async with FakeServer() as server, server.session() as session:
            server.say_route()
            await asyncio.gather(*(session.route(f"t{i}") for i in range(10)))
            assert server.connection_count == 1

    asyncio.run(run())


def test_a_lost_connection_is_made_again() -> None:
    async def run() -> None:
        async with FakeServer() as server, server.session() as session:
            server.say_route()
            await session.route("t")
            peer = await session.peer(server.address)
            server.hang_up()
            async with asyncio.timeout(5):
                while not peer.closed:
                    await asyncio.sleep(0)
            await session.route("u")
            assert server.connection_count == 2

    asyncio.run(run())


def test_the_next_name_server_answers_when_one_is_down() -> None:
    async def run() -> None:
        async with FakeServer() as server:
            server.say_route()
            down = "127.0.0.1:1"
            for seed in range(4):  # Whichever of them is asked first.
                session = Session([down, server.address], Clock(), random.Random(seed))
                async with session:
                    assert (await session.route("t")).topic == "t"

    asyncio.run(run())


def test_no_name_server_at_all_is_unreachable() -> None:
    async def run() -> None:
        async with Session(["127.0.0.1:1"], Clock(), random.Random(1)) as session:
            with pytest.raises(Unreachable, match="no name server answers"):
                await session.route("t")

    asyncio.run(run())


def test_a_name_server_that_hangs_up_is_not_the_end() -> None:
    async def run() -> None:
        async with FakeServer() as bad, FakeServer() as good, bad.session(good) as session:
            bad.say(ROUTE, HANG_UP)
            good.say_route()
            assert (await session.route("t")).topic == "t"

    asyncio.run(run())


def test_an_unknown_topic_has_the_shape_of_the_template() -> None:
    async def run() -> None:
        async with FakeServer() as server, server.session() as session:
            server.say(ROUTE, status=ResponseCode.TOPIC_NOT_EXIST, remark="no route")
            server.say_route(queue_count=8)
            route = await session.publish_route("new")
            assert [asked.fields["topic"] for asked in server.asked(ROUTE)] == ["new", "TBW102"]
            assert [queue.queue_id for queue in route.write_queues] == [0, 1, 2, 3]
            assert {queue.topic for queue in route.write_queues} == {"new"}

    asyncio.run(run())


def test_an_unknown_topic_without_a_template_is_refused() -> None:
    async def run() -> None:
        async with FakeServer() as server, server.session() as session:
            server.say(ROUTE, status=ResponseCode.TOPIC_NOT_EXIST, remark="no route of new")
            with pytest.raises(Refused, match="no route of new") as refusal:
                await session.publish_route("new")
            assert refusal.value.code == ResponseCode.TOPIC_NOT_EXIST

    asyncio.run(run())


def test_close_ends_what_waits() -> None:
    async def run() -> None:
        from .fake import SILENCE

        async with FakeServer() as server:
            server.say(RequestCode.HEART_BEAT, SILENCE)
            session = server.session()
            waiting = asyncio.create_task(session.ask(server.address, RequestCode.HEART_BEAT))
            async with asyncio.timeout(5):
                while not server.requests:
                    await asyncio.sleep(0)
            await session.close()
            with pytest.raises(OutcomeUnknown):
                await waiting

    asyncio.run(run())
