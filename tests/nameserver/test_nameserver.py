# SPDX-License-Identifier: Apache-2.0
"""The name server as a whole: sockets, lost connections, silence, notices, restart."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from eruca.clock import Clock
from eruca.config import Machine, Settings
from eruca.errors import Unreachable
from eruca.nameserver.nameserver import Nameserver
from eruca.net.dial import dial
from eruca.net.peer import Peer
from eruca.store.disk import Disk
from eruca.wire import commands, javajson
from eruca.wire.codes import RequestCode
from eruca.wire.header import BINARY

from .here import TWO, Bench, FakePeer, broker

WAIT_S = 5


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not true():
            await asyncio.sleep(0.005)


def on_sockets(
    root: Path, test: Callable[[Nameserver, str], Awaitable[None]], **options: Any
) -> None:
    """Run `test` with a listening name server and its address."""

    async def run() -> None:
        settings = Settings(server=replace(Settings().server, bind_address="127.0.0.1"))
        part = replace(settings.nameserver, listen_port=0, **options)
        settings = replace(settings, nameserver=part).on(Machine(home=str(root)))
        ns = Nameserver(settings, Disk(), Clock())
        port = await ns.start()
        try:
            await test(ns, f"127.0.0.1:{port}")
        finally:
            await ns.stop()

    asyncio.run(run())


async def registered(address: str, **said: Any) -> Peer:
    peer = await dial(address)
    ask, body = broker(*TWO, **said)
    answer = await peer.call(RequestCode.REGISTER_BROKER, ask, body)
    assert answer.code == 0
    return peer


async def route_code(address: str, kind: int = 0) -> int:
    peer = await dial(address, kind=kind)
    answer = await peer.call(RequestCode.GET_ROUTEINFO_BY_TOPIC, commands.GetRouteInfo("orders"))
    peer.close()
    return answer.code


def test_a_lost_connection_is_a_lost_broker(tmp_path: Path) -> None:
    async def test(ns: Nameserver, address: str) -> None:
        peer = await registered(address)
        assert await route_code(address) == 0
        assert await route_code(address, BINARY) == 0
        peer.abort()
        await until(lambda: not ns.routes.brokers)
        assert await route_code(address) == 17

    on_sockets(tmp_path, test)


def test_a_silent_broker_is_forgotten_while_connected(tmp_path: Path) -> None:
    async def test(ns: Nameserver, address: str) -> None:
        peer = await registered(address, heartbeat_timeout_ms=30)
        await until(lambda: not ns.routes.brokers)
        assert not peer.closed

    on_sockets(tmp_path, test, scan_interval_ms=10)


def test_key_values_and_options_outlive_a_restart(tmp_path: Path) -> None:
    async def put(_: Nameserver, address: str) -> None:
        peer = await dial(address)
        kept = commands.PutKVConfig("n", "k", "v")
        assert (await peer.call(RequestCode.PUT_KV_CONFIG, kept)).code == 0
        body = b"enableTopicList=false"
        assert (await peer.call(RequestCode.UPDATE_NAMESRV_CONFIG, body=body)).code == 0
        peer.close()

    async def found(ns: Nameserver, address: str) -> None:
        assert ns.kv.find("n", "k") == "v"
        assert not ns.settings.nameserver.topic_list

    on_sockets(tmp_path, put)
    file = tmp_path / "namesrv" / "kvConfig.json"
    assert javajson.loads(file.read_bytes()) == {"configTable": {"n": {"k": "v"}}}
    on_sockets(tmp_path, found)


def test_a_kept_file_may_hold_more_than_options_or_less_than_sense() -> None:
    bench = Bench()
    bench.disk.files["/data/namesrv/namesrv.properties"] = (
        b"listenPort=1\nkvConfigPath=/x\nwaitSecondsForService=soon\nenableTopicList=false\n"
    )
    bench.ns.load()
    settings = bench.ns.settings.nameserver
    assert (settings.listen_port, settings.kv_path) == (9876, "/data/namesrv/kvConfig.json")
    assert (settings.wait_for_service_s, settings.topic_list) == (45, False)


def test_stopping_is_quiet_with_brokers_connected(tmp_path: Path, caplog: Any) -> None:
    peers: list[Peer] = []

    async def test(ns: Nameserver, address: str) -> None:
        peers.append(await registered(address, acting_master=True))

    on_sockets(tmp_path, test, notify_min_broker_id=True)
    assert "forgot broker" not in caplog.text


def test_a_sweep_comes_again() -> None:
    bench = Bench(scan_interval_ms=5000)
    bench.register(*TWO)
    bench.clock.ms += 120_001
    bench.ns.sweep()
    assert bench.route("orders") is None
    assert bench.clock.later == [(5000, bench.ns.sweep)]


def test_brokers_hear_of_a_new_lowest_id(tmp_path: Path) -> None:
    dialled: dict[str, FakePeer] = {}

    async def fake_dial(address: str) -> Peer:
        if address == "c:3":
            raise Unreachable(address)
        dialled[address] = FakePeer(address)
        return cast(Peer, dialled[address])

    async def test(ns: Nameserver, address: str) -> None:
        ns._dial = fake_dial
        master = await registered(address, broker_address="a:1", acting_master=True)
        await registered(address, broker_id=1, broker_address="b:2", acting_master=True)
        await registered(address, broker_id=2, broker_address="c:3", acting_master=True)
        assert not dialled
        master.close()
        await until(lambda: bool(dialled) and dialled["b:2"].closed)
        code, change = dialled["b:2"].sent[0]
        assert code == RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE
        assert change == commands.NotifyMinBrokerIdChange(1, "broker-a", "b:2", "a:1", None)

    on_sockets(tmp_path, test, notify_min_broker_id=True)


def test_brokers_hear_nothing_unless_it_is_wanted(tmp_path: Path) -> None:
    async def test(ns: Nameserver, address: str) -> None:
        async def never(address: str) -> Peer:
            raise AssertionError(address)

        ns._dial = never
        master = await registered(address, broker_address="a:1", acting_master=True)
        await registered(address, broker_id=1, broker_address="b:2", acting_master=True)
        master.close()
        await until(lambda: len(ns.routes.live) == 1)
        assert not ns._telling

    on_sockets(tmp_path, test)
