# SPDX-License-Identifier: Apache-2.0
"""`eruca broker`: a broker alone."""

import asyncio
import sys
from argparse import SUPPRESS, Namespace
from typing import Any

from eruca.broker.broker import Broker
from eruca.cli.main import command_parser
from eruca.cli.output import say, warn
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
from eruca.config import Settings
from eruca.configure import BROKER, Reader
from eruca.store.disk import Disk


def add(commands: Any) -> None:
    parser = command_parser(
        commands,
        "broker",
        "eruca broker -c conf/broker.conf --set fileReservedTime=48",
        description="Run a broker until SIGTERM or Ctrl-C.",
    )
    parser.add_argument("--data", metavar="DIR", help="where its files are (default: home)")
    parser.add_argument("--with-parent", action="store_true", help=SUPPRESS)
    add_server_options(parser, "info")
    parser.set_defaults(run=lambda args: run_server(lambda: serve(args), args))


def settings_of(args: Namespace) -> Settings:
    reader = Reader(BROKER)
    read_config(reader, args)
    settings = reader.settings().on(machine(args.data))
    for warning in reader.warnings:
        warn(warning)
    return settings


async def serve(args: Namespace) -> int:
    settings = with_port(settings_of(args))
    told = stop_signal()
    if args.with_parent:
        await stop_with_parent(told)
    broker = Broker(settings, Disk(), Clock(), random_numbers(), memory_size())
    await broker.start()
    say(
        f"{settings.broker.name} listens on {settings.broker.address}:{settings.broker.listen_port}"
    )
    await told.wait()
    await broker.stop()
    return 0


async def stop_with_parent(told: asyncio.Event) -> None:
    """Set `told` when the input ends: whoever started us, and holds its other end, is gone."""

    class Input(asyncio.Protocol):
        def connection_lost(self, error: Exception | None) -> None:
            told.set()

    await asyncio.get_running_loop().connect_read_pipe(Input, sys.stdin)
