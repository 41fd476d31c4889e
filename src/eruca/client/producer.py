# SPDX-License-Identifier: Apache-2.0
"""Sending: one message, a batch, or without waiting for an answer.

The rules are those of the Java client: queues are taken in turn from a random start; a send that
failed is tried on another broker, three times in all within one time budget, so a message may be
stored twice when an answer was lost. A queue chosen by the caller is tried once. Bodies from 4 KiB
on are compressed with zlib, except in batches.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from eruca.client.routes import DEFAULT_QUEUE_COUNT, Route
from eruca.client.session import TIMEOUT_MS, Session
from eruca.errors import BadField, MessageTooLarge, OutcomeUnknown, Refused, Unreachable
from eruca.message import COMPRESSION_ZLIB, Message, MessageQueue, Receipt, SendStatus
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.commands import SendMessageAnswer, SendMessageV2
from eruca.wire.fields import parse
from eruca.wire.names import TEMPLATE_TOPIC
from eruca.wire.record import COMPRESSED

ATTEMPT_COUNT: Final = 3
BODY_SIZE_MAX: Final = 4 * 1024 * 1024
COMPRESS_SIZE_MIN: Final = 4096
COMPRESS_LEVEL: Final = 5

STORED: Final = frozenset(int(status) for status in SendStatus)
RETRIED: Final = frozenset({
    ResponseCode.SYSTEM_ERROR, ResponseCode.SYSTEM_BUSY, ResponseCode.SERVICE_NOT_AVAILABLE,
    ResponseCode.NO_PERMISSION, ResponseCode.TOPIC_NOT_EXIST, ResponseCode.NO_BUYER_ID,
    ResponseCode.NOT_IN_CURRENT_UNIT, ResponseCode.GO_AWAY,
})  # fmt: skip

BATCH_HEAD: Final = struct.Struct(">iiiii")  # size, magic, body CRC, flag, body size


@final
class Producer:
    """Sends for one producer group."""

    def __init__(self, session: Session, group: str) -> None:
        self._session = session
        self._group = group
        self._turns: dict[str, int] = {}

    async def send(
        self, message: Message, queue: MessageQueue | None = None, timeout_ms: int = TIMEOUT_MS
    ) -> Receipt:
        """Store one message.

        Raises Refused, Unreachable, or OutcomeUnknown when it may have been stored all the same.
        """
        checked(message)
        message_id = self._session.ids.next()
        body, sys_flag = compressed(message.body)
        sending = _Sending(
            RequestCode.SEND_MESSAGE_V2,
            message.topic,
            message_id,
            body,
            message.property_text(message_id),
            sys_flag,
            message.flag,
        )
        return await self._send(sending, queue, timeout_ms)

    async def send_batch(
        self,
        messages: Sequence[Message],
        queue: MessageQueue | None = None,
        timeout_ms: int = TIMEOUT_MS,
    ) -> Receipt:
        """Store messages of one topic in one queue, all or none, one behind the other.

        The receipt is that of the first; its ids are those of all, separated by commas.
        """
        topic = messages[0].topic if messages else ""
        if any(message.topic != topic for message in messages):
            raise BadField("topic", "differs within the batch")
        ids = []
        parts = []
        for message in messages:
            checked(message)
            ids.append(self._session.ids.next())
            parts.append(batch_part(message, ids[-1]))
        body = b"".join(parts)
        if not body or len(body) > BODY_SIZE_MAX:
            raise MessageTooLarge(f"a batch of {len(body)} bytes, not 1 to {BODY_SIZE_MAX}")
        text = Message(topic, b"").property_text(self._session.ids.next())
        sending = _Sending(RequestCode.SEND_BATCH_MESSAGE, topic, ",".join(ids), body, text)
        return await self._send(sending, queue, timeout_ms)

    async def send_oneway(self, message: Message, queue: MessageQueue | None = None) -> str:
        """Send without an answer: it may be lost. Returns the message's id."""
        checked(message)
        message_id = self._session.ids.next()
        body, sys_flag = compressed(message.body)
        text = message.property_text(message_id)
        route = await self._session.publish_route(message.topic)
        queue = queue or self._next_queue(route, None)
        peer = await self._session.peer(route.address(queue.broker_name))
        code = RequestCode.SEND_MESSAGE_V2
        sending = _Sending(code, message.topic, message_id, body, text, sys_flag, message.flag)
        peer.send_oneway(code, self._header(sending, queue), body)
        return message_id

    async def _send(
        self, sending: "_Sending", queue: MessageQueue | None, timeout_ms: int
    ) -> Receipt:
        clock = self._session.clock
        deadline_ms = clock.mono_ms() + timeout_ms
        failed_broker: str | None = None
        problem: Exception = OutcomeUnknown(f"{timeout_ms} ms passed")
        for _ in range(1 if queue else ATTEMPT_COUNT):
            left_ms = deadline_ms - clock.mono_ms()
            if left_ms <= 0:
                break
            route = await self._session.publish_route(sending.topic)
            chosen = queue or self._next_queue(route, failed_broker)
            try:
                return await self._attempt(sending, route, chosen, left_ms)
            except (Unreachable, OutcomeUnknown) as error:
                problem = error
            except Refused as error:
                if error.code not in RETRIED:
                    raise
                problem = error
            failed_broker = chosen.broker_name
            self._session.forget(sending.topic)
        raise problem

    async def _attempt(
        self, sending: "_Sending", route: Route, queue: MessageQueue, timeout_ms: int
    ) -> Receipt:
        answer = await self._session.ask(
            route.address(queue.broker_name),
            sending.code,
            self._header(sending, queue),
            sending.body,
            fine=STORED,
            timeout_ms=timeout_ms,
        )
        stored = parse(SendMessageAnswer, answer.fields)
        return Receipt(
            SendStatus(answer.code),
            stored.batch_id or sending.message_id,
            stored.message_id,
            MessageQueue(sending.topic, queue.broker_name, stored.queue_id),
            stored.queue_offset,
            stored.transaction_id,
            stored.recall_handle,
        )

    def _header(self, sending: "_Sending", queue: MessageQueue) -> SendMessageV2:
        return SendMessageV2(
            producer_group=self._group,
            topic=sending.topic,
            default_topic=TEMPLATE_TOPIC,
            default_queue_count=DEFAULT_QUEUE_COUNT,
            queue_id=queue.queue_id,
            sys_flag=sending.sys_flag,
            born_ms=self._session.clock.now_ms(),
            flag=sending.flag,
            properties=sending.properties,
            reconsume_count=0,
            unit_mode=False,
            batch=sending.code == RequestCode.SEND_BATCH_MESSAGE,
            to_broker=queue.broker_name,
        )

    def _next_queue(self, route: Route, failed_broker: str | None) -> MessageQueue:
        """The queue whose turn it is, if possible not of the broker that has just failed."""
        queues = route.write_queues
        if not queues:
            raise Unreachable(f"topic {route.topic} has no queue that can be written to")
        turn = self._turns.get(route.topic)
        if turn is None:
            turn = self._session.rng.randrange(len(queues))
        elsewhere = (
            step
            for step in range(len(queues))
            if queues[(turn + step) % len(queues)].broker_name != failed_broker
        )
        turn += next(elsewhere, 0)
        self._turns[route.topic] = turn + 1
        return queues[turn % len(queues)]


@dataclass(frozen=True, slots=True)
class _Sending:
    """A request to store something, before its queue is known."""

    code: int
    topic: str
    message_id: str
    body: bytes
    properties: str
    sys_flag: int = 0
    flag: int = 0


def checked(message: Message) -> None:
    """Raise what the Java client would before it sends."""
    if not message.topic:
        raise BadField("topic", "is empty")
    if not message.body:
        raise BadField("body", "is empty")
    if len(message.body) > BODY_SIZE_MAX:
        raise MessageTooLarge(f"a body of {len(message.body)} bytes, more than {BODY_SIZE_MAX}")


def compressed(body: bytes) -> tuple[bytes, int]:
    """The body as it travels, and what the system flag says about it."""
    if len(body) < COMPRESS_SIZE_MIN:
        return body, 0
    return zlib.compress(body, COMPRESS_LEVEL), COMPRESSED | COMPRESSION_ZLIB


def batch_part(message: Message, message_id: str) -> bytes:
    """One message inside the body of a batch."""
    properties = message.property_text(message_id).encode("utf-8", "replace")
    size = BATCH_HEAD.size + len(message.body) + 2 + len(properties)
    head = BATCH_HEAD.pack(size, 0, 0, message.flag, len(message.body))
    return b"".join((head, message.body, len(properties).to_bytes(2, "big"), properties))
