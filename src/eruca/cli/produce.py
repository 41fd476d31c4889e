# SPDX-License-Identifier: Apache-2.0
"""`eruca produce TOPIC`: each line of the input becomes a message.

Many sends are in flight at once, so lines may be stored in another order, unless one queue is asked
for: then each waits for the one before. Empty lines are left out.
"""

import asyncio
import os
import stat
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from typing import Any, Final

from eruca.cli.client import with_session
from eruca.cli.main import command_parser
from eruca.cli.output import show_json, warn
from eruca.cli.running import add_client_options
from eruca.client.producer import Producer
from eruca.client.session import Session
from eruca.errors import BadField
from eruca.message import Message, MessageQueue, Receipt

IN_FLIGHT_MAX: Final = 128
CHUNK_SIZE: Final = 64 * 1024


def add(commands: Any) -> None:
    parser = command_parser(
        commands,
        "produce",
        "seq 1000 | eruca produce numbers --tag even --key k1",
        description="Send each line of the input as a message.",
    )
    parser.add_argument("topic")
    parser.add_argument("--tag")
    parser.add_argument("--key", action="append", default=[], help="to look it up by; repeatable")
    parser.add_argument(
        "--property", action="append", default=[], metavar="NAME=VALUE", help="repeatable"
    )
    parser.add_argument("--queue", metavar="BROKER:ID", help="one queue, which keeps the order")
    parser.add_argument("--group", default="eruca-produce", help="producer group")
    parser.add_argument("--json", action="store_true", help="print a receipt for each message")
    add_client_options(parser)
    parser.set_defaults(run=lambda args: with_session(args, lambda session: produce(session, args)))


async def produce(session: Session, args: Namespace) -> int:
    """Send the input; the first failure ends it."""
    properties = dict(_pair(each) for each in args.property)
    queue = _queue(args.topic, args.queue) if args.queue else None
    producer = Producer(session, args.group)
    slots = asyncio.Semaphore(1 if queue else IN_FLIGHT_MAX)
    sent = 0

    async def send(line: bytes) -> None:
        nonlocal sent
        try:
            message = Message(args.topic, line, args.tag, args.key, dict(properties))
            receipt = await producer.send(message, queue)
            sent += 1
            if args.json:
                show_json(_shown(receipt))
        finally:
            slots.release()

    try:
        async with asyncio.TaskGroup() as sending:
            async for line in input_lines():
                await slots.acquire()
                sending.create_task(send(line))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        if not args.json:
            warn(f"{sent} messages sent to {args.topic}")
    return 0


async def input_lines() -> AsyncIterator[bytes]:
    """The lines of the input as they come, without their ends."""
    rest = b""
    while chunk := await _read_some(sys.stdin.fileno()):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line := line.rstrip(b"\r"):
                yield line
    if rest:
        yield rest


async def _read_some(fd: int) -> bytes:
    """The next bytes of a terminal, a pipe or a file; none at its end."""
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd):  # Others never make us wait.
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(fd, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(fd)
    return os.read(fd, CHUNK_SIZE)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise BadField("--property", f"{text!r} is not NAME=VALUE")
    return name, value


def _queue(topic: str, text: str) -> MessageQueue:
    broker_name, _, queue_id = text.rpartition(":")
    if not broker_name or not queue_id.isdecimal():
        raise BadField("--queue", f"{text!r} is not BROKER:ID, such as broker-a:0")
    return MessageQueue(topic, broker_name, int(queue_id))


def _shown(receipt: Receipt) -> dict[str, object]:
    return {
        "status": receipt.status.name,
        "message_id": receipt.message_id,
        "broker": receipt.queue.broker_name,
        "queue": receipt.queue.queue_id,
        "queue_offset": receipt.queue_offset,
        "offset_id": receipt.offset_id,
    }
