# SPDX-License-Identifier: Apache-2.0
"""`eruca bench`: the canonical workload, without Go or Java."""

import json
from argparse import ArgumentTypeError, Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from eruca.bench.machine import Target, described, own_server
from eruca.bench.plot import plot
from eruca.bench.report import LEGEND, Report, about_line, remarks, report_from, rows
from eruca.bench.run import run
from eruca.bench.workload import WORKLOADS
from eruca.cli.main import command_parser
from eruca.cli.output import say, show_json, show_table, warn
from eruca.cli.running import name_servers, open_files_max, random_numbers, run_loop
from eruca.client.admin import Admin
from eruca.client.session import Session
from eruca.clock import Clock
from eruca.errors import ConfigError, Unreachable
from eruca.store.disk import Disk

SECONDS: Final = 5.0
OWN_SETTINGS: Final = ("eruca.hostConnectionCountMax=4096",)  # More than one client would open.


def add(commands: Any) -> None:
    width = max(len(name) for name in WORKLOADS)
    why = "\n".join(f"  {name:{width}}  {each.why}" for name, each in WORKLOADS.items())
    parser = command_parser(
        commands,
        "bench",
        "eruca bench send send-1 --seconds 8 --plot bench.svg",
        description=f"Put the canonical workload on a broker and show what it does:\n\n{why}",
    )
    parser.add_argument(
        "workloads", nargs="*", type=workload_name, metavar="WORKLOAD", help="which (default: all)"
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="each (default: %(default)s)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option for the broker that is started",
    )
    parser.add_argument(
        "--nameserver", metavar="HOST:PORT", help="measure the broker it knows instead"
    )
    parser.add_argument("--pid", type=int, help="process id of that broker, to know its costs")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--save", metavar="FILE", help="write the same JSON into a file")
    parser.add_argument("--against", metavar="FILE", help="compare with what --save once wrote")
    parser.add_argument("--plot", metavar="FILE", help="draw the figures as SVG")
    parser.set_defaults(run=lambda args: run_loop(bench(args)))


def workload_name(text: str) -> str:
    if text not in WORKLOADS:
        raise ArgumentTypeError(f"{text!r} is none of {', '.join(WORKLOADS)}")
    return text


async def bench(args: Namespace) -> int:
    """Run and show; 1 when a workload failed."""
    clock = Clock()
    against = read_report(args.against) if args.against else None
    open_files_max()
    async with _target(args, clock) as target:
        names = args.workloads or list(WORKLOADS)
        results = await run(target, names, clock, args.seconds, warn)
        report = Report(described(), results, target.start_seconds)
    if args.save:
        text = json.dumps(report.as_dict(), indent=1) + "\n"
        Disk().replace(args.save, text.encode())
    if args.plot:
        Disk().replace(args.plot, plot(report, against).encode())
    if args.json:
        show_json(report.as_dict())
    else:
        show(report, against)
    return 1 if any(result.problem or result.failed for result in results) else 0


def show(report: Report, against: Report | None) -> None:
    say(about_line(report.about))
    say()
    show_table(*rows(report, against))
    say()
    for remark in remarks(report):
        say(remark)
    say(LEGEND)


def read_report(path: str) -> Report:
    data = Disk().read(path)
    if data is None:
        raise ConfigError(f"{path}: no such file")
    try:
        return report_from(json.loads(data))
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}") from None


@asynccontextmanager
async def _target(args: Namespace, clock: Clock) -> AsyncIterator[Target]:
    """The broker to measure: the one that is asked for, or one of our own."""
    if args.nameserver is None:
        warn("starting a broker in a temporary directory")
        async with own_server(clock, [*OWN_SETTINGS, *args.set]) as target:
            yield target
        return
    async with Session(name_servers(args), clock, random_numbers()) as session:
        masters = await Admin(session).masters()
    if not masters:
        raise Unreachable(f"the name server {args.nameserver} knows no broker")
    yield Target(next(iter(masters.values())), args.pid)
