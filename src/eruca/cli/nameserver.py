# SPDX-License-Identifier: Apache-2.0
"""`eruca nameserver`: a name server alone."""

from argparse import Namespace
from typing import Any

from eruca.cli.main import command_parser
from eruca.cli.output import say, warn
from eruca.cli.running import (
    add_server_options,
    machine,
    read_config,
    run_server,
    stop_signal,
)
from eruca.clock import Clock
from eruca.config import Settings
from eruca.configure import NAMESERVER, Reader
from eruca.nameserver.nameserver import Nameserver
from eruca.store.disk import Disk


def add(commands: Any) -> None:
    parser = command_parser(
        commands,
        "nameserver",
        "eruca nameserver --port 9876 --data /var/lib/eruca",
        description="Run a name server until SIGTERM or Ctrl-C.",
    )
    parser.add_argument("--port", type=int, help="where it listens (default: 9876)")
    parser.add_argument("--host", metavar="ADDRESS", help="on which address (default: all)")
    parser.add_argument("--data", metavar="DIR", help="where its files are (default: home)")
    add_server_options(parser, "info")
    parser.set_defaults(run=lambda args: run_server(lambda: serve(settings_of(args)), args))


def settings_of(args: Namespace) -> Settings:
    reader = Reader(NAMESERVER)
    read_config(reader, args)
    if args.port is not None:
        reader.keys({"listenPort": str(args.port)})
    if args.host:
        reader.keys({"bindAddress": args.host})
    settings = reader.settings().on(machine(args.data))
    for warning in reader.warnings:
        warn(warning)
    return settings


async def serve(settings: Settings) -> int:
    told = stop_signal()
    nameserver = Nameserver(settings, Disk(), Clock())
    port = await nameserver.start()
    say(f"name server listens on {settings.server.bind_address}:{port}")
    await told.wait()
    await nameserver.stop()
    return 0
