# SPDX-License-Identifier: Apache-2.0
"""What running a command takes from the process: the event loop, signals, logs, the machine.

Only here is uvloop chosen, when it is installed. Libraries never change their host's loop.
"""

import asyncio
import logging
import os
import resource
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, Final, TypeVar

from eruca.config import Machine, Settings
from eruca.configure import Reader
from eruca.errors import ConfigError
from eruca.net.address import free_port, host_name, local_address
from eruca.store.disk import Disk

T = TypeVar("T")

LOG_LEVELS: Final = ("debug", "info", "warning", "error")
NAME_SERVERS: Final = "NAMESRV_ADDR"  # Java: the environment variable its clients read.


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on an event loop of its own."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(work)


def run_server(work: Callable[[], Coroutine[Any, Any, int]], args: Namespace) -> int:
    """The same for a server, whose assertions guard its data."""
    if not __debug__:
        raise ConfigError("servers do not run under `python -O`: start them without it")
    logging.basicConfig(
        level=args.log.upper(),
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
        stream=sys.stderr,
    )
    open_files_max()
    return run_loop(work())


def open_files_max() -> None:
    """Allow as many open files and connections as the machine does."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def random_numbers() -> Random:
    return Random(SystemRandom().getrandbits(64))


def memory_size() -> int:
    """The machine's memory, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def stop_signal() -> asyncio.Event:
    """Set by SIGTERM and SIGINT. A second Ctrl-C is no longer caught: it ends the process."""
    loop = asyncio.get_running_loop()
    told = asyncio.Event()

    def tell() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        told.set()

    loop.add_signal_handler(signal.SIGTERM, tell)
    loop.add_signal_handler(signal.SIGINT, tell)
    return told


# Options that servers have in common.


def add_server_options(parser: ArgumentParser, log_level: str) -> None:
    parser.add_argument(
        "-c", "--config", metavar="FILE", help="broker.conf or *.toml to start from"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option by its Java name, after the file",
    )
    parser.add_argument(
        "--log", choices=LOG_LEVELS, default=log_level, help="what to log: %(default)s"
    )


def read_config(reader: Reader, args: Namespace) -> None:
    """Fill `reader` from the file and the options; warnings are printed by `show_warnings`."""
    if args.config:
        data = Disk().read(args.config)
        if data is None:
            raise ConfigError(f"{args.config}: no such file")
        text = data.decode("utf-8", "replace")
        try:
            reader.toml(text) if args.config.endswith(".toml") else reader.properties(text)
        except ConfigError as error:
            raise ConfigError(f"{args.config}: {error}") from None
    reader.pairs(args.set)


def with_port(settings: Settings) -> Settings:
    """The same with a port: a broker's is part of what it stores, so it cannot be found later."""
    if settings.broker.listen_port:
        return settings
    return replace(settings, broker=replace(settings.broker, listen_port=free_port()))


def machine(home: str | None) -> Machine:
    return Machine(
        host_name(),
        local_address(),
        home or str(Path.home()),
        os.environ.get(NAME_SERVERS, ""),
    )


# Options that clients have in common.


def add_client_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--nameserver",
        default=os.environ.get(NAME_SERVERS, "127.0.0.1:9876"),
        metavar="HOST:PORT",
        help=f"one or more, separated by `;` (default: ${NAME_SERVERS} or 127.0.0.1:9876)",
    )


def name_servers(args: Namespace) -> list[str]:
    return [each.strip() for each in args.nameserver.split(";") if each.strip()]


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
