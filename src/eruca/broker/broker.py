# SPDX-License-Identifier: Apache-2.0
"""The broker: it owns the parts, and knows in which order they start and stop.

    start   store (recovers) -> topics, groups, offsets -> delays -> listen -> register
    stop    stop accepting -> unregister -> stop reading -> answer what is parked -> delays
            -> flush, which answers what is held -> close store -> close connections

Handlers (requests.py) get the broker and touch its parts directly. What one part must tell another
is a callable set here, so that the parts do not know each other.
"""

import logging
import random
from collections import deque
from collections.abc import Callable
from typing import final

from eruca.broker.delays import Delays
from eruca.broker.groups import Groups
from eruca.broker.hot import BrokerHot, Fetched
from eruca.broker.members import Members
from eruca.broker.offsets import Offsets
from eruca.broker.options import with_kept
from eruca.broker.order import Locks
from eruca.broker.persisted import StateFile
from eruca.broker.pull import admit_pull
from eruca.broker.registration import Registration
from eruca.broker.relays import Relays
from eruca.broker.requests import TABLE
from eruca.broker.send import admit_send, slow_send
from eruca.broker.statistics import LOOK_MS, Statistics
from eruca.broker.topics import Topics
from eruca.broker.waiting import Waiting
from eruca.clock import Clock, Timer
from eruca.config import Settings
from eruca.net.peer import Peer, host_bytes
from eruca.net.server import Server
from eruca.store.consumequeue import ConsumeQueue
from eruca.store.disk import Disk
from eruca.store.store import Store
from eruca.store.writer import tags_code
from eruca.wire.bodies import TopicConfig
from eruca.wire.codes import RequestCode
from eruca.wire.commands import NotifyConsumerIdsChanged
from eruca.wire.hot import PullAsk, SendAsk
from eruca.wire.ids import UniqueIds
from eruca.wire.names import SCHEDULE_TOPIC
from eruca.wire.record import Draft

log = logging.getLogger("eruca.broker")

Work = Callable[[], object]

SAVE_SOON_MS = 20
MEMBER_SWEEP_MS = 10_000
FAST_PORT_DISTANCE = 2  # Java: the "VIP" port lies two below the main one.


@final
class Broker:
    """One broker. `settings` is replaced as a whole when an option changes."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        rng: random.Random,
        memory_size: int,
    ) -> None:
        settings = with_kept(settings, disk)
        self.all_settings = settings
        self.settings = settings.broker
        self.disk = disk
        self.clock = clock
        self.rng = rng
        self.started_ms = clock.now_ms()
        host = host_bytes(self.settings.address, self.settings.listen_port)
        self.host_hex = host.hex().upper().encode()
        self.unique_ids = UniqueIds(
            self.settings.address, disk.owner_id(), rng.getrandbits(32), clock.now_ms
        )
        self.store = Store(settings.store, host, disk, clock, memory_size)
        self.hot = self._hot()
        config = f"{settings.store.root}/config"
        disk.make_directory(config)

        def file(name: str) -> StateFile:
            return StateFile(disk, f"{config}/{name}.json", clock)

        self.topics = Topics(self.settings, file("topics"), clock)
        self.groups = Groups(self.settings, file("subscriptionGroup"), clock)
        self.offsets = Offsets(
            self.settings, file("consumerOffset"), file("lmqConsumerOffset"), clock
        )
        self.members = Members()
        self.locks = Locks()
        self.fetched: dict[str, Fetched] = {}
        self.statistics = Statistics(self.store.writer.topics, self.fetched, clock)
        self.relays = Relays()
        self.delays = Delays(
            self.store, file("delayOffset"), clock, self.settings.delay_levels_ms, self.put,
            self.settle,
        )  # fmt: skip
        self.waiting = Waiting(
            self.hot,
            clock,
            count_max=self.settings.held_pull_count_max,
            peer_count_max=self.settings.peer_held_pull_count_max,
        )
        self.registration = Registration(self)
        self.server = Server(
            self,
            TABLE,
            clock,
            hot=self.hot,
            hold=self.store.flusher.hold,
            idle_max_ms=settings.server.idle_s_max * 1000,
        )
        self._timers: dict[str, Timer] = {}
        self._unflushed: deque[tuple[int, ConsumeQueue]] = deque()
        self._wire_parts()

    def _hot(self) -> BrokerHot:
        settings = self.settings
        store = self.store
        return BrokerHot(
            store.writer,
            store.limits,
            self.clock.now_ms,
            region=settings.region,
            trace_on=str(settings.trace_on).lower(),
            cluster=settings.cluster,
            dirty_size_max=store.dirty_size_max,
            message_size_max=store.settings.message_size_max,
            pull_count_max=store.settings.pull_count_max,
        )

    def _wire_parts(self) -> None:
        hot = self.hot
        hot.admit_send = self._admit_send
        hot.slow_send = self.slow_send
        hot.admit_pull = self._admit_pull
        hot.park = self.waiting.park
        self.waiting.wait_ms = self._wait_ms
        hot.commit = self.offsets.commit
        hot.pending_resets = self.offsets.resets
        self.store.writer.on_arrival = self._arrived
        self.store.on_change = self._store_changed
        self.store.flusher.on_flush = self._flushed
        self.topics.changed = self._topics_changed
        self.members.emptied = self.forget_group
        self.server.on_connect = lambda peer: peer.on_close.append(self._peer_closed)

    # Life.

    async def start(self) -> int:
        """Load the state, then listen, then register; the port it is."""
        self.topics.load()
        self.groups.load()
        self.offsets.load()
        self.store.start()
        self.delays.start()
        host = self.all_settings.server.bind_address
        port = await self.server.listen(host, self.settings.listen_port)
        if port > FAST_PORT_DISTANCE:
            try:
                await self.server.listen(host, port - FAST_PORT_DISTANCE)
            except OSError as error:
                log.warning("the fast port is taken error=%s", error)
        self._every("topics", SAVE_SOON_MS, self.topics.save_if_due)
        self._every("groups", SAVE_SOON_MS, self.groups.save_if_due)
        self._every("offsets", self.settings.offset_save_interval_ms, self.offsets.save_if_dirty)
        self._every("delays", self.settings.delay_save_interval_ms, self.delays.save)
        self._every("members", MEMBER_SWEEP_MS, self._sweep_members)
        self._every("statistics", LOOK_MS, self.statistics.look)
        self.registration.start()
        log.info("broker started name=%s port=%d", self.settings.name, port)
        return port

    async def stop(self) -> None:
        """Leave nothing undone that was promised, and the directory clean."""
        self.server.stop_accepting()
        for timer in self._timers.values():
            timer.cancel()
        await self.registration.stop()
        self.server.stop_reading()
        self.waiting.close()
        self.statistics.close()
        await self.relays.close()
        self.delays.close()
        self.topics.save_if_dirty()
        self.groups.save_if_dirty()
        self.offsets.save_if_dirty()
        await self.store.close()
        await self.server.close()
        log.info("broker stopped name=%s", self.settings.name)

    def _every(self, name: str, interval_ms: int, work: Work) -> None:
        def again() -> None:
            try:
                work()
            finally:
                self._timers[name] = self.clock.call_later_ms(interval_ms, again)

        self._timers[name] = self.clock.call_later_ms(interval_ms, again)

    # What handlers and parts call.

    def put(self, draft: Draft, due_ms: int = 0) -> None:
        """Store a message. `due_ms` is for delayed ones. Raises MessageTooLarge and DiskFull."""
        draft.scan.read(draft.properties)
        draft.tags_code = due_ms or tags_code(draft)
        writer = self.store.writer
        writer.append(draft, writer.queues_of(draft.topic), self.hot.now_ms())

    def settle(self) -> None:
        """End a turn that no connection began, so that nobody waits for what it wrote."""
        self.hot.end_turn()
        self.store.writer.settle()

    def notify_members(self) -> None:
        """Tell the members of groups that changed to share their queues anew."""
        if not self.settings.notify_members:
            return
        for name in self.members.take_changed():
            group = self.groups.find(name)
            if group is None or group.notify_members:
                for peer in self.members.peers(name):
                    peer.send_oneway(
                        RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, NotifyConsumerIdsChanged(name)
                    )

    def forget_topic(self, topic: str) -> None:
        self.hot.forget_topic(topic.encode())

    def forget_group(self, group: str) -> None:
        self.hot.forget_group(group.encode())

    # What the parts tell.

    def _admit_send(self, ask: SendAsk) -> bool:
        return admit_send(self, ask)

    def slow_send(self, peer: object, ask: SendAsk, body: bytes, kind: int) -> bytes:
        assert isinstance(peer, Peer)
        return slow_send(self, peer, ask, body, kind)

    def _admit_pull(self, peer: object, ask: PullAsk) -> bytes:
        assert isinstance(peer, Peer)
        return admit_pull(self, peer, ask)

    def _arrived(self, queues: list[ConsumeQueue]) -> None:
        """Messages came into watched queues: whoever waits may have them once they are visible."""
        for queue in queues:
            if queue.topic == SCHEDULE_TOPIC.encode():
                self.delays.arrived(queue)
        if self.store.dirty_size_max > 0:
            self.waiting.arrived(queues)
            return
        end = self.store.log.end
        self._unflushed.extend((end, queue) for queue in queues)
        self.store.flusher.request()  # What no connection wrote, nobody asked for.

    def _flushed(self) -> None:
        """With synchronous flush messages become visible when they are durable."""
        visible = []
        while self._unflushed and self._unflushed[0][0] <= self.store.log.flushed:
            visible.append(self._unflushed.popleft()[1])
        self.waiting.arrived(list(dict.fromkeys(visible)))

    def _store_changed(self) -> None:
        self.hot.open_for_sends = self.store.writable

    def _wait_ms(self, asked_ms: int) -> int:
        """How long a pull may wait."""
        return asked_ms if self.settings.long_polling else self.settings.short_poll_ms

    def _topics_changed(self, topics: list[TopicConfig]) -> None:
        for topic in topics:
            self.forget_topic(topic.name)
        self.registration.soon()

    def _peer_closed(self, peer: Peer) -> None:
        self.members.gone(peer)
        if self.settings.notify_at_once:
            self.notify_members()

    def _sweep_members(self) -> None:
        now_ms = self.clock.now_ms()
        for peer in self.members.expire(now_ms, self.settings.member_silence_ms_max):
            peer.close()
        self.locks.expire(now_ms)
        self.notify_members()
