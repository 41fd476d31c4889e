# SPDX-License-Identifier: Apache-2.0
"""`eruca up`: everything a first message needs, on this machine.

One process holds the name server and the broker. With --shards N there are N brokers, each a
process of its own with its own store: broker-a in DIR as without shards, broker-b in DIR/broker-b,
and so on, at ports ten apart. They end when this process ends, however it does.
"""

import asyncio
import ipaddress
import sys
from argparse import ArgumentTypeError, Namespace
from dataclasses import replace
from typing import Any, Final

from eruca.broker.broker import Broker
from eruca.cli.main import command_parser
from eruca.cli.output import fail, say, warn
from eruca.cli.running import (
    add_server_options,
    machine,
    memory_size,
    random_numbers,
    read_config,
    run_server,
    stop_signal,
    with_port,
)
from eruca.clock import Clock
from eruca.config import NameserverSettings, ServerSettings, Settings
from eruca.configure import BROKER, Reader
from eruca.errors import ConfigError
from eruca.nameserver.nameserver import Nameserver
from eruca.store.disk import Disk

NAMESERVER_PORT: Final = 9876
PORT: Final = 10911
PORT_STEP: Final = 10  # A broker's neighbours are taken: P - 2 and P + 1 in Java.
SHARD_COUNT_MAX: Final = 26
START_S_MAX: Final = 60


def add(commands: Any) -> None:
    parser = command_parser(
        commands,
        "up",
        "eruca up --data data --set flushDiskType=SYNC_FLUSH",
        description="Run a name server and a broker until SIGTERM or Ctrl-C.",
    )
    parser.add_argument("--data", default="data", metavar="DIR", help="files (default: ./data)")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="under which clients reach this machine (default: %(default)s, only from here)",
    )
    parser.add_argument("--port", type=int, default=PORT, help="of the broker: %(default)s")
    parser.add_argument(
        "--nameserver-port", type=int, default=NAMESERVER_PORT, metavar="PORT", help="%(default)s"
    )
    parser.add_argument(
        "--shards", type=shard_count, default=1, metavar="N", help="N brokers, a process each"
    )
    add_server_options(parser, "warning")
    parser.set_defaults(run=lambda args: run_server(lambda: serve(args), args))


def shard_count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= SHARD_COUNT_MAX:
        raise ArgumentTypeError(f"{text!r} is not a number from 1 to {SHARD_COUNT_MAX}")
    return int(text)


async def serve(args: Namespace) -> int:
    told = stop_signal()
    settings = with_port(settings_of(args))
    nameserver = Nameserver(nameserver_settings(settings, args), Disk(), Clock())
    args.nameserver_port = await nameserver.start()
    address = f"127.0.0.1:{args.nameserver_port}"
    settings = replace(settings, broker=replace(settings.broker, name_servers=address))
    try:
        run = _one_broker if args.shards == 1 else _shards
        return await run(args, settings, told)
    finally:
        await nameserver.stop()


async def _one_broker(args: Namespace, settings: Settings, told: asyncio.Event) -> int:
    if Disk().is_directory(f"{args.data}/{shard_name(1)}"):
        warn(f"{args.data} has more shards than this: their messages are not served")
    broker = Broker(settings, Disk(), Clock(), random_numbers(), memory_size())
    await broker.start()
    greet(args, [f"{settings.broker.address}:{settings.broker.listen_port}"])
    await told.wait()
    await broker.stop()
    return 0


async def _shards(args: Namespace, settings: Settings, told: asyncio.Event) -> int:
    for key, given, own in (
        ("brokerName", settings.broker.name, shard_name(0)),
        ("storePathRootDir", settings.store.root, f"{args.data}/store"),
        ("storePathCommitLog", settings.store.log_path, f"{args.data}/store/commitlog"),
    ):
        if given != own:
            raise ConfigError(f"{key}: {given} cannot be the same for {args.shards} shards")
    shards: list[asyncio.subprocess.Process] = []
    try:
        for number in range(args.shards):
            shards.append(await _started(args, settings, number))
        lines = await asyncio.gather(*(_first_line(shard) for shard in shards))
        greet(args, [line.rpartition(" ")[2] for line in lines])
        ends = [asyncio.create_task(shard.wait()) for shard in shards]
        stopping = asyncio.create_task(told.wait())
        await asyncio.wait({*ends, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for shard in shards:  # They may have had the signal, too: the end of their input is safe.
            assert shard.stdin is not None
            shard.stdin.close()
        codes = await asyncio.gather(*(shard.wait() for shard in shards))
    bad = [f"{shard_name(i)} ended with {code}" for i, code in enumerate(codes) if code]
    return fail("; ".join(bad)) if bad or not told.is_set() else 0


async def _started(args: Namespace, settings: Settings, number: int) -> asyncio.subprocess.Process:
    """Broker `number` as a process that ends when its input does."""
    name = shard_name(number)
    words = ["--data", args.data if number == 0 else f"{args.data}/{name}", "--log", args.log]
    words += ["--config", args.config] if args.config else []
    for pair in (
        *args.set,
        f"brokerName={name}",
        f"brokerIP1={settings.broker.address}",
        f"bindAddress={settings.server.bind_address}",
        f"listenPort={settings.broker.listen_port + number * PORT_STEP}",
        f"namesrvAddr={settings.broker.name_servers}",
    ):
        words += ["--set", pair]
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "eruca", "broker", "--with-parent", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )


async def _first_line(shard: asyncio.subprocess.Process) -> str:
    """What a broker says once it listens."""
    assert shard.stdout is not None
    try:
        async with asyncio.timeout(START_S_MAX):
            line = (await shard.stdout.readline()).decode().strip()
    except TimeoutError:
        raise ConfigError(f"a broker did not listen within {START_S_MAX} s") from None
    if not line:
        raise ConfigError(f"a broker ended with {await shard.wait()} before it listened")
    return line


def shard_name(number: int) -> str:
    return f"broker-{chr(ord('a') + number)}"


def settings_of(args: Namespace) -> Settings:
    """Of the only broker: what the options say, over the file, over what `up` would choose."""
    reader = Reader(BROKER)
    reader.keys({
        "brokerName": shard_name(0),
        "brokerIP1": args.host,
        "listenPort": str(args.port),
        "bindAddress": "",
    })  # fmt: skip
    read_config(reader, args)
    settings = reader.settings().on(machine(args.data))
    for warning in reader.warnings:
        warn(warning)
    if not settings.server.bind_address:
        here = is_loopback(settings.broker.address)
        bind_address = settings.broker.address if here else ServerSettings().bind_address
        settings = replace(settings, server=replace(settings.server, bind_address=bind_address))
    return settings


def nameserver_settings(settings: Settings, args: Namespace) -> Settings:
    nameserver = NameserverSettings(listen_port=args.nameserver_port)
    only = Settings(server=settings.server, nameserver=nameserver)
    return only.on(machine(args.data))


def is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def greet(args: Namespace, brokers: list[str]) -> None:
    """Say that it runs, and how to use it."""
    other = ""
    if args.nameserver_port != NAMESERVER_PORT:
        other = f" --nameserver 127.0.0.1:{args.nameserver_port}"
    say(
        f"name server on port {args.nameserver_port}, broker at {', '.join(brokers)}, "
        f"data in {args.data}\n"
        "Send a first message, and read it:\n"
        f"    echo hello | eruca produce greetings{other}\n"
        f"    eruca consume greetings --from earliest --count 1{other}\n"
        "Stop with Ctrl-C."
    )
