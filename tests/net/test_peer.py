# SPDX-License-Identifier: Apache-2.0
"""Two ends of a real connection, and the server between them."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from eruca.clock import Clock
from eruca.errors import BadField, OutcomeUnknown, Unreachable
from eruca.net.dial import dial
from eruca.net.peer import Peer, host_bytes
from eruca.net.server import Handler, Response, Server, respond
from eruca.wire.codes import ResponseCode
from eruca.wire.header import BINARY, JSON, Command, encode

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    async def limited() -> T:
        async with asyncio.timeout(10):
            return await work

    return asyncio.run(limited())


class Echo:
    """A server's state: what it was asked, and what it parked."""

    def __init__(self) -> None:
        self.seen: list[Command] = []
        self.parked: list[tuple[Peer, Command]] = []


def echo(state: Echo, peer: Peer, request: Command) -> Response:
    state.seen.append(request)
    return Response(answer=dict(request.fields), body=request.body, remark=request.remark)


def park(state: Echo, peer: Peer, request: Command) -> None:
    state.parked.append((peer, request))


def lack(state: Echo, peer: Peer, request: Command) -> Response:
    raise BadField("topic", "is missing")


def fail(state: Echo, peer: Peer, request: Command) -> Response:
    raise ZeroDivisionError("a bug")


TABLE = {1: Handler(echo), 2: Handler(park), 3: Handler(lack), 4: Handler(fail)}


class Net:
    """A server and one connection to it."""

    def __init__(self, kind: int = JSON) -> None:
        self.state = Echo()
        self.server = Server(self.state, TABLE, Clock())
        self._kind = kind

    async def __aenter__(self) -> "Net":
        self.port = await self.server.listen("127.0.0.1", 0)
        self.peer = await dial(f"127.0.0.1:{self.port}", kind=self._kind)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.peer.close()
        await self.server.close()


@pytest.mark.parametrize("kind", [JSON, BINARY])
def test_answers_in_the_encoding_asked_in(kind: int) -> None:
    async def scene() -> None:
        async with Net(kind) as net:
            answer = await net.peer.call(1, {"a": "1"}, b"body")
            assert (answer.code, answer.kind, answer.fields) == (0, kind, {"a": "1"})
            assert answer.body == b"body" and answer.is_response

    run(scene())


def test_every_request_gets_its_own_answer() -> None:
    async def scene() -> None:
        async with Net() as net:
            calls = [net.peer.call(1, {"n": str(n)}) for n in range(200)]
            answers = await asyncio.gather(*calls)
            assert [answer.fields["n"] for answer in answers] == [str(n) for n in range(200)]

    run(scene())


@pytest.mark.parametrize(
    ("code", "expected", "remark"),
    [
        (999, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, " request type 999 not supported"),
        (3, ResponseCode.SYSTEM_ERROR, "topic"),
        (4, ResponseCode.SYSTEM_ERROR, "ZeroDivisionError"),
    ],
)
def test_trouble_is_answered_and_the_connection_lives(
    code: int, expected: int, remark: str
) -> None:
    async def scene() -> None:
        async with Net() as net:
            answer = await net.peer.call(code)
            assert answer.code == expected and remark in (answer.remark or "")
            assert (await net.peer.call(1)).code == 0
            assert net.server.error_count == (1 if code == 4 else 0)

    run(scene())


def test_one_way_requests_get_no_answer() -> None:
    async def scene() -> None:
        async with Net() as net:
            net.peer.send_oneway(1, {"n": "1"})
            net.peer.send_oneway(999)
            answer = await net.peer.call(1, {"n": "2"})
            assert answer.fields == {"n": "2"}
            assert [each.fields["n"] for each in net.state.seen] == ["1", "2"]

    run(scene())


def test_parked_requests_are_answered_later_and_others_meanwhile() -> None:
    async def scene() -> None:
        async with Net() as net:
            waiting = asyncio.ensure_future(net.peer.call(2))
            assert (await net.peer.call(1)).code == 0
            assert not waiting.done()
            peer, request = net.state.parked[0]
            respond(peer, request, Response(remark="now"))
            assert (await waiting).remark == "now"

    run(scene())


def test_both_sides_may_ask() -> None:
    async def scene() -> None:
        async with Net() as net:
            served = Server(net.state, TABLE, Clock())
            asker = await dial(f"127.0.0.1:{net.port}", served.answer)
            await asker.call(1)
            other = next(each for each in net.server.peers if each.version)
            answer = await other.call(1, {"from": "server"})
            assert answer.fields == {"from": "server"}
            asker.close()

    run(scene())


def test_a_broken_frame_closes_that_connection_only() -> None:
    async def scene() -> None:
        async with Net() as net:
            good = encode(Command(1, 5, fields={"n": "before"}))
            reader, writer = await asyncio.open_connection("127.0.0.1", net.port)
            writer.write(good + b"GET / HTTP/1.1\r\n\r\n")
            data = await reader.read()  # Up to the end: the server closes.
            assert b"before" in data  # What came before the damage was served.
            writer.close()
            assert (await net.peer.call(1)).code == 0

    run(scene())


def test_frames_cut_at_every_byte_arrive() -> None:
    async def scene() -> None:
        async with Net() as net:
            _, writer = await asyncio.open_connection("127.0.0.1", net.port)
            frame = encode(Command(1, 5, fields={"n": "slow"}, body=b"x" * 50))
            for i in range(len(frame)):
                writer.write(frame[i : i + 1])
                await writer.drain()
                await asyncio.sleep(0)
            while not net.state.seen:
                await asyncio.sleep(0.001)
            assert net.state.seen[0].body == b"x" * 50
            writer.close()

    run(scene())


def test_what_cannot_be_known_is_said() -> None:
    async def scene() -> None:
        async with Net() as net:
            with pytest.raises(OutcomeUnknown):
                await net.peer.call(2, timeout_ms=20)
            waiting = asyncio.ensure_future(net.peer.call(2))
            await net.peer.call(1)
            await net.server.close()
            with pytest.raises(OutcomeUnknown):
                await waiting
            with pytest.raises(Unreachable):
                await net.peer.call(1)
            with pytest.raises(Unreachable):
                await dial(f"127.0.0.1:{net.port}")

    run(scene())


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:", "host:port", ""])
def test_an_address_is_host_and_port(address: str) -> None:
    with pytest.raises(Unreachable):
        run(dial(address))


def test_hosts_as_records_hold_them() -> None:
    assert host_bytes("127.0.0.1", 10911) == bytes((127, 0, 0, 1, 0, 0, 0x2A, 0x9F))
    assert host_bytes("::ffff:10.0.0.1", 1) == bytes((10, 0, 0, 1, 0, 0, 0, 1))
    assert host_bytes("::1", 1) == bytes(15) + b"\x01" + bytes((0, 0, 0, 1))
    assert len(host_bytes("fe80::1%eth0", 1)) == 20
