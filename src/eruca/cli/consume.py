# SPDX-License-Identifier: Apache-2.0
"""`eruca consume TOPIC`: print messages as they come.

All queues that the topic has at the start are read by this one process. With --group it begins
where the group has stopped and leaves its offsets behind; it does not share queues with the group's
other members.
"""

import asyncio
import base64
import sys
from argparse import ArgumentTypeError, Namespace
from datetime import datetime
from typing import Any, Final

from eruca.cli.client import with_session
from eruca.cli.main import command_parser
from eruca.cli.output import show_json, warn
from eruca.cli.running import add_client_options
from eruca.client.pull import Outcome, commit, committed, max_offset, min_offset, offset_at, pull
from eruca.client.session import Session
from eruca.errors import OutcomeUnknown, Refused, Unreachable
from eruca.message import MessageQueue, ReceivedMessage
from eruca.wire.codes import ResponseCode

TOOLS_GROUP: Final = "TOOLS_CONSUMER"  # Every broker knows it: Java's tools use it, too.
WAIT_MS: Final = 15_000
WAITING_COUNT_MAX: Final = 1000
COMMIT_INTERVAL_MS: Final = 5000
RETRY_MS: Final = 1000


def add(commands: Any) -> None:
    parser = command_parser(
        commands,
        "consume",
        "eruca consume greetings --from earliest --count 10",
        description="Print the messages of a topic until --count, --wait or Ctrl-C ends it.",
    )
    parser.add_argument("topic")
    parser.add_argument(
        "--from",
        dest="begin",
        type=beginning,
        default="latest",
        metavar="WHERE",
        help="earliest, latest, or a time such as 2026-01-31T13:05 (default: %(default)s)",
    )
    parser.add_argument("--count", type=int, metavar="N", help="stop after N messages")
    parser.add_argument(
        "--wait", type=float, metavar="SECONDS", help="stop when nothing came for so long"
    )
    parser.add_argument("--group", help="go on where this group stopped, and remember where we do")
    parser.add_argument("--tag", default="*", help="only these: 'paid || refunded'")
    parser.add_argument("--json", action="store_true", help="all of each message, one per line")
    add_client_options(parser)
    parser.set_defaults(run=lambda args: with_session(args, lambda session: consume(session, args)))


def beginning(text: str) -> str | int:
    """`earliest`, `latest`, or milliseconds since the epoch."""
    if text in ("earliest", "latest"):
        return text
    if text.isdecimal():
        return int(text)
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is neither earliest, latest nor a time") from None


async def consume(session: Session, args: Namespace) -> int:
    queues = (await session.route(args.topic)).read_queues
    begins = await asyncio.gather(*(_begin(session, args, queue) for queue in queues))
    messages: asyncio.Queue[ReceivedMessage] = asyncio.Queue(WAITING_COUNT_MAX)
    group = args.group or TOOLS_GROUP
    readers = [
        asyncio.create_task(_read(session, group, queue, begin, args.tag, messages))
        for queue, begin in zip(queues, begins, strict=True)
    ]
    progress = _Progress(session, args.group)
    try:
        await _print(args, messages, readers, progress)
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        await progress.save()
    return 0


async def _print(
    args: Namespace,
    messages: asyncio.Queue[ReceivedMessage],
    readers: list[asyncio.Task[None]],
    progress: "_Progress",
) -> None:
    count = 0
    while args.count is None or count < args.count:
        if messages.empty():
            sys.stdout.flush()
        message = await _following(messages, readers, args.wait)
        if message is None:
            break
        show(message, args.json)
        count += 1
        progress.done[message.queue] = message.queue_offset + 1
        await progress.save_sometimes()
    sys.stdout.flush()


async def _following(
    messages: asyncio.Queue[ReceivedMessage],
    readers: list[asyncio.Task[None]],
    wait_s: float | None,
) -> ReceivedMessage | None:
    """The next message, or None when it did not come in time. Raises what ended a reader."""
    if not messages.empty():
        return messages.get_nowait()
    following = asyncio.create_task(messages.get())
    done, _ = await asyncio.wait(
        {following, *readers}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
    )
    if following in done:
        return following.result()
    following.cancel()
    for reader in done:
        reader.result()
    return None


class _Progress:
    """What was printed, for the group that wants to know."""

    def __init__(self, session: Session, group: str | None) -> None:
        self.done: dict[MessageQueue, int] = {}
        self._session = session
        self._group = group
        self._saved_ms = session.clock.mono_ms()

    async def save_sometimes(self) -> None:
        if self._session.clock.mono_ms() - self._saved_ms > COMMIT_INTERVAL_MS:
            await self.save()

    async def save(self) -> None:
        self._saved_ms = self._session.clock.mono_ms()
        if self._group is None:
            return
        for queue, offset in self.done.items():
            await commit(self._session, self._group, queue, offset)
        self.done.clear()


async def _begin(session: Session, args: Namespace, queue: MessageQueue) -> int:
    """Where to start reading `queue`."""
    if args.group:
        offset = await committed(session, args.group, queue)
        if offset is not None:
            return offset
    if args.begin == "earliest":
        return await min_offset(session, queue)
    if args.begin == "latest":
        return await max_offset(session, queue)
    return await offset_at(session, queue, args.begin)


async def _read(
    session: Session,
    group: str,
    queue: MessageQueue,
    offset: int,
    expression: str,
    messages: asyncio.Queue[ReceivedMessage],
) -> None:
    """Read one queue for ever."""
    tags = {tag.strip() for tag in expression.split("||")} - {"", "*"}
    while True:
        try:
            page = await pull(session, group, queue, offset, wait_ms=WAIT_MS, expression=expression)
        except (Unreachable, OutcomeUnknown, Refused) as error:
            if isinstance(error, Refused) and error.code != ResponseCode.SYSTEM_BUSY:
                raise
            warn(f"{error}; trying again")
            session.forget(queue.topic)
            await session.clock.sleep_ms(RETRY_MS)
            continue
        if page.outcome is Outcome.MOVED and page.next_offset != offset:
            warn(
                f"{queue.broker_name}:{queue.queue_id} has no offset {offset}, going on at "
                f"{page.next_offset}"
            )
        for message in page.messages:
            if not tags or message.tag in tags:  # Brokers compare hashes.
                await messages.put(message)
        offset = page.next_offset


def show(message: ReceivedMessage, as_json: bool) -> None:
    if not as_json:
        sys.stdout.buffer.write(message.body + b"\n")
        return
    shown: dict[str, object] = {
        "topic": message.topic,
        "broker": message.queue.broker_name,
        "queue": message.queue.queue_id,
        "queue_offset": message.queue_offset,
        "message_id": message.message_id,
        "offset_id": message.offset_id,
        "born_ms": message.born_ms,
        "store_ms": message.store_ms,
        "tag": message.tag,
        "keys": message.keys,
        "properties": message.properties,
    }
    try:
        shown["body"] = message.body.decode()
    except UnicodeDecodeError:
        shown["body_base64"] = base64.b64encode(message.body).decode()
    show_json(shown, flush=False)
