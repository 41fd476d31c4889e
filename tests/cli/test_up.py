# SPDX-License-Identifier: Apache-2.0
"""`eruca up`: what it settles, that a first message gets through, that it stops when told to."""

import argparse
import asyncio
import os
import re
import signal
import socket
from pathlib import Path

import pytest

from eruca.cli.up import PORT_STEP, nameserver_settings, settings_of, shard_name

from .commands import LIMIT_S, Ended, eruca, started

STOP_S_MAX = 20


def arguments(**given: object) -> argparse.Namespace:
    chosen: dict[str, object] = {
        "data": "/d", "host": "127.0.0.1", "port": 10911, "nameserver_port": 9876, "shards": 1,
        "config": None, "set": [], "log": "warning",
    }  # fmt: skip
    return argparse.Namespace(**{**chosen, **given})


def test_it_serves_only_this_machine_unless_told_otherwise() -> None:
    settings = settings_of(arguments())
    assert settings.broker.name == "broker-a"
    assert settings.broker.address == settings.server.bind_address == "127.0.0.1"
    assert settings.store.root == "/d/store"

    settings = settings_of(arguments(host="10.1.2.3"))
    assert settings.broker.address == "10.1.2.3"
    assert settings.server.bind_address == "0.0.0.0"


def test_options_come_before_what_it_would_choose() -> None:
    given = ["listenPort=123", "brokerName=mine", "bindAddress=1.2.3.4", "storePathRootDir=/s"]
    settings = settings_of(arguments(set=given))
    assert settings.broker.listen_port == 123
    assert settings.broker.name == "mine"
    assert settings.server.bind_address == "1.2.3.4"
    assert settings.store.root == "/s"


def test_the_name_server_takes_none_of_the_brokers_options() -> None:
    args = arguments(set=["listenPort=123"], nameserver_port=5)
    nameserver = nameserver_settings(settings_of(args), args)
    assert nameserver.nameserver.listen_port == 5
    assert nameserver.nameserver.root == "/d/namesrv"


def test_unknown_options_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    settings_of(arguments(set=["listenPrt=1"]))
    assert "did you mean listenPort?" in capsys.readouterr().err


def test_a_first_message_gets_through_on_any_free_ports(tmp_path: Path) -> None:
    async def run() -> None:
        up = await started("up", "--data", str(tmp_path), "--nameserver-port", "0", "--port", "0")
        try:
            text = await greeting(up)
            found = re.match(r"name server on port (\d+), broker at 127\.0\.0\.1:(\d+), data", text)
            assert found and "eruca produce greetings" in text
            assert listens(int(found[2]))
            await hello_world(int(found[1]))
        finally:
            ended = await stopped(up)
        assert ended.code == 0, ended.err
        assert "Traceback" not in ended.err
        assert (tmp_path / "store" / "commitlog").is_dir()
        assert not (tmp_path / "store" / "abort").exists()

    asyncio.run(run())


def test_shards_are_brokers_of_one_name_server(tmp_path: Path) -> None:
    async def run() -> None:
        nameserver_port, port = free_ports(2)
        words = ("--nameserver-port", str(nameserver_port), "--port", str(port), "--shards", "2")
        small = ("--set", "mappedFileSizeCommitLog=5242880")
        up = await started("up", "--data", str(tmp_path), *words, *small)
        try:
            assert f"127.0.0.1:{port + PORT_STEP}" in await greeting(up)
            await hello_world(nameserver_port)
            server = f"127.0.0.1:{nameserver_port}"
            created = await eruca("topic", "create", "t", "--json", "--nameserver", server)
            assert created.json["brokers"] == ["broker-a", "broker-b"]
        finally:
            ended = await stopped(up)
        assert ended.code == 0, ended.err
        for home in (tmp_path, tmp_path / shard_name(1)):
            assert (home / "store" / "commitlog").is_dir()
            assert not (home / "store" / "abort").exists()

    asyncio.run(run())


def test_shards_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    async def run() -> None:
        nameserver_port, port = free_ports(2)
        words = ("--nameserver-port", str(nameserver_port), "--port", str(port), "--shards", "2")
        up = await started("up", "--data", str(tmp_path), *words)
        await greeting(up)
        up.kill()
        await up.wait()
        async with asyncio.timeout(STOP_S_MAX):
            while listens(port) or listens(port + PORT_STEP):
                await asyncio.sleep(0.05)

    asyncio.run(run())


def test_ctrl_c_in_a_terminal_reaches_every_shard_and_stops_them_well(tmp_path: Path) -> None:
    async def run() -> None:
        nameserver_port, port = free_ports(2)
        words = ("--nameserver-port", str(nameserver_port), "--port", str(port), "--shards", "2")
        up = await started("up", "--data", str(tmp_path), *words, session=True)
        await greeting(up)
        os.killpg(up.pid, signal.SIGINT)
        async with asyncio.timeout(STOP_S_MAX):
            _, err = await up.communicate()
        assert up.returncode == 0, err.decode()
        for home in (tmp_path, tmp_path / shard_name(1)):
            assert not (home / "store" / "abort").exists()

    asyncio.run(run())


def test_a_shard_that_ends_takes_the_others_along(tmp_path: Path) -> None:
    async def run() -> None:
        nameserver_port, port = free_ports(2)
        words = ("--nameserver-port", str(nameserver_port), "--port", str(port), "--shards", "2")
        up = await started("up", "--data", str(tmp_path), *words)
        await greeting(up)
        (pid,) = [
            int(process.name)
            for process in Path("/proc").glob("[0-9]*")
            if f"listenPort={port}".encode() in words_of(process)
        ]
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(STOP_S_MAX):
            _, err = await up.communicate()
        assert up.returncode == 1
        assert "broker-a ended with -9" in err.decode()
        assert not listens(port + PORT_STEP)

    asyncio.run(run())


def words_of(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def test_shards_cannot_share_a_store(tmp_path: Path) -> None:
    ports = [str(port) for port in free_ports(2)]
    words = ("--data", str(tmp_path), "--nameserver-port", ports[0], "--port", ports[1])
    shared = ("--shards", "2", "--set", f"storePathRootDir={tmp_path}/s")
    ended = asyncio.run(eruca("up", *words, *shared))
    assert ended.code == 1
    assert "storePathRootDir" in ended.err
    assert ended.err.count("\n") == 1


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words = ("--nameserver-port", port, "--data", str(tmp_path))
        ended = asyncio.run(eruca("up", *words))
    assert ended.code == 1
    assert "in use" in ended.err
    assert "Traceback" not in ended.err


def test_a_missing_file_is_one_line() -> None:
    ended = asyncio.run(eruca("broker", "-c", "/nowhere/broker.conf"))
    assert (ended.code, ended.err) == (1, "eruca: /nowhere/broker.conf: no such file\n")


async def greeting(up: asyncio.subprocess.Process) -> str:
    """What it prints once everything listens."""
    assert up.stdout is not None and up.stderr is not None
    async with asyncio.timeout(LIMIT_S):
        try:
            return (await up.stdout.readuntil(b"Ctrl-C.\n")).decode()
        except asyncio.IncompleteReadError:
            raise AssertionError((await up.stderr.read()).decode()) from None


async def hello_world(nameserver_port: int) -> None:
    server = f"127.0.0.1:{nameserver_port}"
    sent = await eruca("produce", "greetings", "--nameserver", server, given=b"hello\n")
    assert sent.code == 0, sent.err
    words = ("--from", "earliest", "--count", "1", "--nameserver", server)
    read = await eruca("consume", "greetings", *words)
    assert (read.code, read.out) == (0, "hello\n"), read.err


async def stopped(up: asyncio.subprocess.Process) -> Ended:
    up.send_signal(signal.SIGTERM)
    async with asyncio.timeout(STOP_S_MAX):
        out, err = await up.communicate()
    assert up.returncode is not None
    return Ended(up.returncode, out.decode(), err.decode())


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_ports(count: int) -> list[int]:
    """Ports that are free together with a shard's, ten further."""
    ports: list[int] = []
    while len(ports) < count:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port < 65_000 and not any(listens(port + step) for step in (-2, 1, 8, 10, 11)):
            ports.append(port)
    return ports
