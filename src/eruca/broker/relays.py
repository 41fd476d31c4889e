# SPDX-License-Identifier: Apache-2.0
"""Requests of tools that only a client can answer: the broker passes them on.

The request is parked and a task asks the client, over the connection that the client opened; its
answer goes back as it is.
"""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, final

from eruca.broker.answers import reported
from eruca.broker.members import Member
from eruca.errors import BadField, CorruptRecord, OutcomeUnknown, Unreachable
from eruca.net.peer import Peer
from eruca.net.server import Response, respond
from eruca.wire import commands, javajson
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import MessageQueue, from_json, parse
from eruca.wire.header import Command
from eruca.wire.reports import ConsumerStatus

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

log = logging.getLogger("eruca.broker")

RELAY_COUNT_MAX: Final = 1024
RELAY_MS_MAX: Final = 10_000
STATUS_MS_MAX: Final = 5000


@final
class Relays:
    """The requests that wait for a client."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def park(
        self, peer: Peer, request: Command, work: Coroutine[Any, Any, Response]
    ) -> Response | None:
        """Answer with what `work` returns, when it does; or at once that there is too much."""
        if len(self._tasks) >= RELAY_COUNT_MAX:
            work.close()
            return Response(ResponseCode.SYSTEM_BUSY, remark="too many requests wait for clients")
        task = asyncio.get_running_loop().create_task(self._answer(peer, request, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return None

    async def close(self) -> None:
        """Answer none of them any more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(
        self, peer: Peer, request: Command, work: Coroutine[Any, Any, Response]
    ) -> None:
        try:
            response = await work
        except Exception as error:  # A bug of ours, as in net/server.py; the tool must not wait.
            log.exception("relay failed code=%d peer=%s", request.code, peer.address)
            remark = f"{type(error).__name__}: {error}"
            response = Response(ResponseCode.SYSTEM_ERROR, remark=remark)
        respond(peer, request, response)


def running_info(broker: "Broker", peer: Peer, request: Command) -> Response | None:
    ask = parse(commands.GetConsumerRunningInfo, request.fields)
    return _pass_on(broker, peer, request, ask, b"")


def consume_directly(broker: "Broker", peer: Peer, request: Command) -> Response | None:
    """Have a client consume one message: it gets the message as it is stored."""
    ask = parse(commands.ConsumeDirectly, request.fields)
    try:
        record = broker.store.record_bytes(_log_offset(ask.message_id))
    except CorruptRecord as error:
        return Response(ResponseCode.SYSTEM_ERROR, remark=f"no such message: {error}")
    topic = None if ask.topic is None else broker.topics.find(ask.topic)
    group = broker.groups.find(ask.group)
    ask = replace(
        ask,
        broker_name=broker.settings.name,
        topic_sys_flag=ask.topic_sys_flag if topic is None else topic.sys_flag,
        group_sys_flag=ask.group_sys_flag if group is None else group.sys_flag,
    )
    return _pass_on(broker, peer, request, ask, record)


def _log_offset(message_id: str | None) -> int:
    """Where the message lies that has this id of a broker: the last 8 bytes say it."""
    try:
        return int.from_bytes(bytes.fromhex(message_id or "")[-8:], "big", signed=True)
    except ValueError:
        raise BadField("msgId", f"is {message_id!r}, not the id a broker gave") from None


def _pass_on(
    broker: "Broker",
    peer: Peer,
    request: Command,
    ask: commands.GetConsumerRunningInfo | commands.ConsumeDirectly,
    body: bytes,
) -> Response | None:
    group = broker.members.consumers.get(ask.group)
    member = None if group is None else group.find_client(ask.client_id or "")
    if member is None:
        remark = f"The Consumer <{ask.group}> <{ask.client_id}> not online"
        return Response(ResponseCode.SYSTEM_ERROR, remark=remark)

    async def relayed() -> Response:
        try:
            answer = await member.peer.call(request.code, ask, body, timeout_ms=RELAY_MS_MAX)
        except (Unreachable, OutcomeUnknown) as error:
            is_gone = member.peer.closed
            code = ResponseCode.SYSTEM_ERROR if is_gone else ResponseCode.CONSUME_MSG_TIMEOUT
            remark = f"consumer <{ask.group}> <{ask.client_id}>: {error}"
            return Response(code, remark=remark)
        return Response(answer.code, answer.fields, answer.body, answer.remark)

    return broker.relays.park(peer, request, relayed())


# Where the clients of a group are.


def client_statuses(broker: "Broker", peer: Peer, request: Command) -> Response | None:
    """The offsets that each client of a group, or the one that is named, has in its memory."""
    ask = parse(commands.GetConsumerStatus, request.fields)
    group = broker.members.consumers.get(ask.group)
    if group is None:
        remark = f"No Any Consumer online in the consumer group: [{ask.group}]"
        return Response(ResponseCode.SYSTEM_ERROR, remark=remark)
    members = list(group.members.values())
    if ask.client_address and ask.client_address.strip():
        members = [each for each in members if each.client_id == ask.client_address]

    async def gathered() -> Response:
        found = await asyncio.gather(*(_status(each, ask) for each in members))
        by_client = {
            member.client_id: offsets
            for member, offsets in zip(members, found, strict=True)
            if offsets is not None
        }
        return reported(ConsumerStatus(by_client=by_client))

    return broker.relays.park(peer, request, gathered())


async def _status(
    member: Member, ask: commands.GetConsumerStatus
) -> dict[MessageQueue, int] | None:
    code = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
    asked = commands.GetConsumerStatus(ask.topic, ask.group)
    try:
        answer = await member.peer.call(code, asked, timeout_ms=STATUS_MS_MAX)
        if answer.code != ResponseCode.SUCCESS or not answer.body:
            return None
        return from_json(ConsumerStatus, javajson.loads(answer.body)).of_client
    except (Unreachable, OutcomeUnknown, BadField) as error:
        log.warning("a client does not say where it is client=%s error=%s", member.client_id, error)
        return None
