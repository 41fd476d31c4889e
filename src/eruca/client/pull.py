# SPDX-License-Identifier: Apache-2.0
"""One pull, and the offsets of one queue: the questions that consumers are made of."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from eruca.client.session import TIMEOUT_MS, Session
from eruca.message import MessageQueue, ReceivedMessage, read_records
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.commands import (
    GetMaxOffset,
    GetMaxOffsetAnswer,
    GetMinOffset,
    GetMinOffsetAnswer,
    PullMessage,
    PullMessageAnswer,
    QueryConsumerOffset,
    QueryConsumerOffsetAnswer,
    SearchOffset,
    SearchOffsetAnswer,
    UpdateConsumerOffset,
)
from eruca.wire.fields import parse
from eruca.wire.header import Command
from eruca.wire.hot import PULL_COMMITS, PULL_SUBSCRIBES, PULL_SUSPENDS


class Outcome(Enum):
    """What a pull found. Except for FOUND there are no messages, but the next offset counts."""

    FOUND = ResponseCode.SUCCESS
    NOTHING_NEW = ResponseCode.PULL_NOT_FOUND
    NO_MATCH = ResponseCode.PULL_RETRY_IMMEDIATELY
    MOVED = ResponseCode.PULL_OFFSET_MOVED  # The offset asked for does not exist (any more).


OUTCOMES: Final = frozenset(int(outcome.value) for outcome in Outcome)


@dataclass(frozen=True, slots=True)
class Page:
    """The answer to one pull. `next_offset` may be lower than what was asked for."""

    outcome: Outcome
    next_offset: int
    min_offset: int
    max_offset: int
    messages: list[ReceivedMessage] = field(default_factory=list)


async def pull(
    session: Session,
    group: str,
    queue: MessageQueue,
    queue_offset: int,
    *,
    count_max: int = 32,
    wait_ms: int = 0,
    expression: str = "*",
    expression_type: str = "TAG",
    commit_offset: int | None = None,
) -> Page:
    """Messages of `queue` from `queue_offset` on.

    With `wait_ms` the broker keeps the question for that long when there is nothing to answer.
    Tags match by their hash: the caller who cares compares the text.
    """
    sys_flag = PULL_SUBSCRIBES
    sys_flag |= PULL_SUSPENDS if wait_ms else 0
    sys_flag |= PULL_COMMITS if commit_offset is not None else 0
    ask = PullMessage(
        group=group,
        topic=queue.topic,
        queue_id=queue.queue_id,
        queue_offset=queue_offset,
        count_max=count_max,
        sys_flag=sys_flag,
        commit_offset=commit_offset or 0,
        wait_ms=wait_ms,
        subscription_version=0,
        subscription=expression,
        expression_type=expression_type,
        to_broker=queue.broker_name,
    )
    route = await session.route(queue.topic)
    answer = await session.ask(
        route.any_address(queue.broker_name),
        RequestCode.PULL_MESSAGE,
        ask,
        fine=OUTCOMES,
        timeout_ms=wait_ms + 2 * TIMEOUT_MS,
    )
    found = parse(PullMessageAnswer, answer.fields)
    return Page(
        Outcome(ResponseCode(answer.code)),
        found.next_offset,
        found.min_offset,
        found.max_offset,
        read_records(answer.body, queue.broker_name) if answer.code == 0 else [],
    )


async def min_offset(session: Session, queue: MessageQueue) -> int:
    """The first message that is still there."""
    ask = GetMinOffset(queue.topic, queue.queue_id, to_broker=queue.broker_name)
    answer = await _ask_broker(session, queue, RequestCode.GET_MIN_OFFSET, ask)
    return parse(GetMinOffsetAnswer, answer.fields).offset


async def max_offset(session: Session, queue: MessageQueue) -> int:
    """Where the next message will lie."""
    ask = GetMaxOffset(queue.topic, queue.queue_id, to_broker=queue.broker_name)
    answer = await _ask_broker(session, queue, RequestCode.GET_MAX_OFFSET, ask)
    return parse(GetMaxOffsetAnswer, answer.fields).offset


async def offset_at(session: Session, queue: MessageQueue, timestamp_ms: int) -> int:
    """The first message stored at `timestamp_ms` or later."""
    ask = SearchOffset(queue.topic, queue.queue_id, timestamp_ms, to_broker=queue.broker_name)
    answer = await _ask_broker(session, queue, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, ask)
    return parse(SearchOffsetAnswer, answer.fields).offset


async def committed(session: Session, group: str, queue: MessageQueue) -> int | None:
    """Where `group` continues, or None when it has never been here."""
    ask = QueryConsumerOffset(group, queue.topic, queue.queue_id, False, queue.broker_name)
    fine = frozenset({int(ResponseCode.SUCCESS), int(ResponseCode.QUERY_NOT_FOUND)})
    answer = await _ask_broker(session, queue, RequestCode.QUERY_CONSUMER_OFFSET, ask, fine)
    if answer.code == ResponseCode.QUERY_NOT_FOUND:
        return None
    return parse(QueryConsumerOffsetAnswer, answer.fields).offset


async def commit(session: Session, group: str, queue: MessageQueue, offset: int) -> None:
    """Let `group` continue at `offset`."""
    ask = UpdateConsumerOffset(group, queue.topic, queue.queue_id, offset, queue.broker_name)
    await _ask_broker(session, queue, RequestCode.UPDATE_CONSUMER_OFFSET, ask)


async def _ask_broker(
    session: Session,
    queue: MessageQueue,
    code: int,
    ask: object,
    fine: frozenset[int] = frozenset({0}),
) -> Command:
    route = await session.route(queue.topic)
    return await session.ask(route.any_address(queue.broker_name), code, ask, fine=fine)
