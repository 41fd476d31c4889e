# SPDX-License-Identifier: Apache-2.0
"""Pulls without messages: parked with a deadline, woken by what arrives in their queue.

Who calls: `park` the pull handler, when it found nothing; `arrived` the store, at the end of a turn
in which a watched queue grew; `drop` whoever takes a queue away. A parked pull is asked again from
where its filter had come to, so what did not match is looked at once. All deadlines sit in one
heap behind one timer. Entries of closed connections go when they are met.

What another kind of waiting must do: give `Parked` its own way to ask again, nothing else.
"""

import heapq
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

from librt.strings import BytesWriter

from eruca.broker.hot import (
    PULL_NOT_FOUND,
    PULL_RETRY_AT_ONCE,
    BrokerHot,
    HotSubscription,
    pull_code,
)
from eruca.clock import Clock, Timer
from eruca.net.peer import Peer
from eruca.net.server import Response, encode_response
from eruca.store.consumequeue import ConsumeQueue
from eruca.store.reader import NO_MATCHED_MESSAGE, Slice
from eruca.wire.codes import ResponseCode
from eruca.wire.header import Command
from eruca.wire.hot import PullAsk

log = logging.getLogger("eruca.broker")


@dataclass(slots=True, eq=False)
class Parked:
    """One pull that waits. `asked_from` is the offset its consumer knows."""

    peer: Peer
    ask: PullAsk
    subscription: HotSubscription
    queue: ConsumeQueue
    asked_from: int
    done: bool = field(default=False)


@final
class Waiting:
    """Every parked pull of the broker."""

    def __init__(
        self, hot: BrokerHot, clock: Clock, *, count_max: int, peer_count_max: int
    ) -> None:
        self._hot = hot
        self._clock = clock
        self._count_max = count_max
        self._peer_count_max = peer_count_max
        self._by_queue: dict[ConsumeQueue, list[Parked]] = {}
        self._by_peer: dict[Peer, int] = {}
        self._deadlines: list[tuple[int, int, Parked]] = []
        self._number = itertools.count()
        self._timer: Timer | None = None
        self._timer_at = 0
        self.wait_ms: Callable[[int], int] = lambda asked_ms: asked_ms

    @property
    def count(self) -> int:
        return sum(self._by_peer.values())

    def park(
        self, peer: object, ask: PullAsk, subscription: HotSubscription, queue: ConsumeQueue
    ) -> None:
        """Answer later: when something arrives that matches, or when the time is up."""
        assert isinstance(peer, Peer)
        count = self._by_peer.get(peer, 0)
        if count >= self._peer_count_max or len(self._deadlines) >= self._count_max:
            self._answer_now(peer, ask, subscription, queue)
            return
        if count == 0:
            peer.on_close.append(self._peer_closed)
        self._by_peer[peer] = count + 1
        parked = Parked(peer, ask, subscription, queue, ask.queue_offset)
        self._by_queue.setdefault(queue, []).append(parked)
        queue.watched = True
        deadline_ms = self._clock.mono_ms() + self.wait_ms(ask.wait_ms)
        heapq.heappush(self._deadlines, (deadline_ms, next(self._number), parked))
        self._arm(deadline_ms)

    def arrived(self, queues: list[ConsumeQueue]) -> None:
        """Ask again what waits for one of these queues."""
        for queue in queues:
            waiting = self._by_queue.get(queue)
            if waiting:
                still = [parked for parked in waiting if not self._try(parked)]
                if still:
                    self._by_queue[queue] = still
                else:
                    del self._by_queue[queue]
                    queue.watched = False

    def drop(self, topic: bytes) -> None:
        """Answer every pull parked on a topic that goes away; the client asks for its route."""
        for queue in [queue for queue in self._by_queue if queue.topic == topic]:
            for parked in self._by_queue.pop(queue):
                self._finish(parked)
                request = Command(0, parked.ask.opaque, kind=parked.ask.kind)
                gone = Response(ResponseCode.TOPIC_NOT_EXIST, remark="the topic was deleted")
                parked.peer.write(encode_response(request, gone))

    def close(self) -> None:
        """Answer everything with what there is: the broker stops."""
        if self._timer is not None:
            self._timer.cancel()
        for waiting in list(self._by_queue.values()):
            for parked in waiting:
                self._expire(parked)
        self._by_queue.clear()

    def _try(self, parked: Parked) -> bool:
        """Whether `parked` is done with: answered, or nobody wants the answer any more."""
        if parked.done:
            return True
        if parked.peer.closed:
            self._finish(parked)
            return True
        ask = parked.ask
        found = self._hot.read(ask, parked.subscription, parked.queue)
        code = pull_code(found, ask.queue_offset)
        if code == PULL_NOT_FOUND:
            return False
        if code == PULL_RETRY_AT_ONCE and found.status == NO_MATCHED_MESSAGE:
            ask.queue_offset = found.next_offset
            return False
        self._finish(parked)
        self._answer(parked.peer, ask, parked.subscription, parked.queue, found)
        return True

    def _expire(self, parked: Parked) -> None:
        """The time is up: answer with what there is, which may be only a later offset."""
        if parked.done or self._try(parked):
            return
        self._finish(parked)
        ask = parked.ask
        found = self._hot.read(ask, parked.subscription, parked.queue)
        if ask.queue_offset != parked.asked_from and found.count == 0:
            found.status = NO_MATCHED_MESSAGE  # Java: the offset moves on over what did not match.
        self._answer(parked.peer, ask, parked.subscription, parked.queue, found)

    def _answer_now(
        self, peer: Peer, ask: PullAsk, subscription: HotSubscription, queue: ConsumeQueue
    ) -> None:
        log.warning("too many parked pulls peer=%s", peer.address)
        self._answer(peer, ask, subscription, queue, self._hot.read(ask, subscription, queue))

    def _answer(
        self,
        peer: Peer,
        ask: PullAsk,
        subscription: HotSubscription,
        queue: ConsumeQueue,
        found: Slice,
    ) -> None:
        out = BytesWriter()
        self._hot.answer_pull(out, ask, subscription, queue, found)
        peer.write(out.getvalue() + found.body)

    def _finish(self, parked: Parked) -> None:
        if not parked.done:
            parked.done = True
            left = self._by_peer.get(parked.peer, 0) - 1
            if left > 0:
                self._by_peer[parked.peer] = left
            elif self._by_peer.pop(parked.peer, None) is not None and not parked.peer.closed:
                parked.peer.on_close.remove(self._peer_closed)

    def _peer_closed(self, peer: Peer) -> None:
        if self._by_peer.pop(peer, 0):
            for queue, waiting in list(self._by_queue.items()):
                still = [parked for parked in waiting if parked.peer is not peer]
                for parked in waiting:
                    parked.done = parked.done or parked.peer is peer
                if still:
                    self._by_queue[queue] = still
                else:
                    del self._by_queue[queue]
                    queue.watched = False

    # Deadlines.

    def _arm(self, deadline_ms: int) -> None:
        if self._timer is None or deadline_ms < self._timer_at:
            if self._timer is not None:
                self._timer.cancel()
            wait_ms = max(0, deadline_ms - self._clock.mono_ms())
            self._timer = self._clock.call_later_ms(wait_ms, self._time_is_up)
            self._timer_at = deadline_ms

    def _time_is_up(self) -> None:
        self._timer = None
        now_ms = self._clock.mono_ms()
        deadlines = self._deadlines
        while deadlines and (deadlines[0][0] <= now_ms or deadlines[0][2].done):
            _, _, parked = heapq.heappop(deadlines)
            if not parked.done:
                self._expire(parked)
                self._forget(parked)
        if deadlines:
            self._arm(deadlines[0][0])

    def _forget(self, parked: Parked) -> None:
        waiting = self._by_queue.get(parked.queue)
        if waiting is not None and parked in waiting:
            waiting.remove(parked)
            if not waiting:
                del self._by_queue[parked.queue]
                parked.queue.watched = False
