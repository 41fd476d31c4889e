# SPDX-License-Identifier: Apache-2.0
"""The broker tells every name server what it has: at start, on change, and now and again.

Name servers know nothing of each other, so each has its own task, which keeps one connection. It
registers when a change wakes it, at the latest when the period is over, and a little later after
a failure. Registering ten thousand topics takes a while, so changes rest in proportion to what the
last registration cost: a broker on which topics are being created still has time for messages.

Names of ordered topics come back with the answer, and are marked so here.
"""

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from eruca.errors import BadField, OutcomeUnknown, Unreachable
from eruca.net.dial import dial
from eruca.net.peer import Peer
from eruca.wire import javajson
from eruca.wire.bodies import (
    PERM_READ,
    PERM_WRITE,
    KVTable,
    RegisterBrokerBody,
    TopicTable,
)
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.commands import RegisterBroker, UnregisterBroker
from eruca.wire.fields import from_json
from eruca.wire.registration import crc_of, encode

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

log = logging.getLogger("eruca.broker")

READ_WRITE: Final = PERM_READ | PERM_WRITE
CHANGE_REST_MS: Final = 5
REST_FACTOR: Final = 9  # A registration that took 10 ms is followed by 90 ms without one.
RETRY_MS: Final = 1000
UNREGISTER_WAIT_MS: Final = 1000


class Registration:
    """Keeps the broker known to its name servers."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._tasks: list[asyncio.Task[None]] = []
        self._changes: list[asyncio.Event] = []
        self._peers: dict[str, Peer] = {}
        self._change = 0  # The number of the last change, and what each name server has heard of.
        self._heard: dict[str, int] = {}
        self._news = asyncio.Event()

    @property
    def address(self) -> str:
        settings = self._broker.settings
        return f"{settings.address}:{settings.listen_port}"

    @property
    def ha_address(self) -> str:
        return f"{self._broker.settings.ha_address}:{self._broker.store.settings.ha_port}"

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        for name_server in self._broker.settings.name_server_list:
            changed = asyncio.Event()
            self._changes.append(changed)
            self._tasks.append(loop.create_task(self._keep(name_server, changed)))

    def soon(self) -> None:
        """Something about the topics changed."""
        self._change += 1
        for changed in self._changes:
            changed.set()

    async def told(self, wait_ms: int) -> None:
        """Return when all name servers have heard of the last change, or when the time is up."""
        change = self._change
        try:
            async with asyncio.timeout(wait_ms / 1000):
                while any(self._heard.get(each, 0) < change for each in self._name_servers):
                    await self._news.wait()
        except TimeoutError:
            log.warning("not all name servers have heard of a change wait_ms=%d", wait_ms)

    @property
    def _name_servers(self) -> list[str]:
        return self._broker.settings.name_server_list

    async def stop(self) -> None:
        """Tell every name server that the broker goes; those that do not listen notice it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        farewell = UnregisterBroker(
            broker_name=self._broker.settings.name,
            broker_address=self.address,
            cluster=self._broker.settings.cluster,
            broker_id=self._broker.settings.broker_id,
        )
        for name_server, peer in self._peers.items():
            try:
                await peer.call(
                    RequestCode.UNREGISTER_BROKER, farewell, timeout_ms=UNREGISTER_WAIT_MS
                )
            except (Unreachable, OutcomeUnknown) as error:
                log.warning("not unregistered name_server=%s error=%s", name_server, error)
            peer.close()

    async def _keep(self, name_server: str, changed: asyncio.Event) -> None:
        clock = self._broker.clock
        is_known = True
        while True:
            changed.clear()
            change = self._change
            began_ms = clock.mono_ms()
            try:
                await self._register(name_server)
            except (Unreachable, OutcomeUnknown, BadField) as error:
                if is_known:
                    log.warning("not registered name_server=%s error=%s", name_server, error)
                is_known = False
                await clock.sleep_ms(RETRY_MS)
                continue
            if not is_known:
                log.info("registered again name_server=%s", name_server)
            is_known = True
            self._heard[name_server] = change
            self._news.set()
            self._news.clear()
            cost_ms = clock.mono_ms() - began_ms
            await clock.sleep_ms(CHANGE_REST_MS + REST_FACTOR * cost_ms)
            try:
                async with asyncio.timeout(self._period_ms() / 1000):
                    await changed.wait()
            except TimeoutError:
                pass

    def _period_ms(self) -> int:
        return max(10_000, min(60_000, self._broker.settings.register_interval_ms))

    async def _register(self, name_server: str) -> None:
        peer = self._peers.get(name_server)
        if peer is None or peer.closed:
            peer = self._peers[name_server] = await dial(name_server, self._broker.server.answer)
        settings = self._broker.settings
        body = encode(RegisterBrokerBody(self._topics()))
        header = RegisterBroker(
            broker_name=settings.name,
            broker_address=self.address,
            cluster=settings.cluster,
            ha_address=self.ha_address,
            broker_id=settings.broker_id,
            acting_master=False,
            compressed=False,
            body_crc=crc_of(body),
        )
        answer = await peer.call(
            RequestCode.REGISTER_BROKER, header, body, timeout_ms=settings.register_wait_ms
        )
        if answer.code != ResponseCode.SUCCESS:
            raise Unreachable(f"{name_server} refused: {answer.code} {answer.remark}")
        if answer.body:
            ordered = from_json(KVTable, javajson.loads(answer.body))
            self._broker.topics.mark_ordered(ordered.table)

    def _topics(self) -> TopicTable:
        """The topics as clients shall see them: a broker's own permission limits all of theirs."""
        table = self._broker.topics.as_table()
        allowed = self._broker.settings.perm
        if allowed & READ_WRITE != READ_WRITE:
            limited = {
                name: replace(topic, perm=topic.perm & allowed)
                for name, topic in table.topics.items()
            }
            table = TopicTable(topics=limited, data_version=table.data_version)
        return table
