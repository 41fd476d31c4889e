# SPDX-License-Identifier: Apache-2.0
"""A name server: it owns the tables, the key values, the settings and the listening side.

Name servers know nothing of each other; brokers register with all of them. All files lie where the
start-up settings say, and nowhere that a request could name: the key values, and the properties
that were changed while it ran, which are applied again at the next start.

Two things happen without a request: brokers that were silent for too long are forgotten, and those
whose connection is lost, at once.

Made by `cli`; `requests` has what it is asked.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from eruca.clock import Clock, Timer
from eruca.config import Settings
from eruca.configure import NAMESERVER, changed
from eruca.errors import BadField, ConfigError, Unreachable
from eruca.nameserver.kv import KeyValues
from eruca.nameserver.requests import TABLE
from eruca.nameserver.routes import LiveBroker, Notice, Routes
from eruca.net.dial import dial
from eruca.net.peer import Peer
from eruca.net.server import Server
from eruca.store.disk import Disk
from eruca.wire.codes import RequestCode
from eruca.wire.commands import NotifyMinBrokerIdChange
from eruca.wire.javaproperties import read_properties, written_properties

log = logging.getLogger("eruca.nameserver")


class Nameserver:
    """One name server. `settings` is replaced as a whole when an option changes."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        *,
        dial: Callable[[str], Awaitable[Peer]] = dial,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.routes = Routes()
        self.kv = KeyValues(disk, settings.nameserver.kv_path)
        self._disk = disk
        self._config_path = settings.nameserver.config_path
        self._dial = dial
        self._started_ms = clock.mono_ms()
        self._sweep_timer: Timer | None = None
        self._telling: set[asyncio.Task[None]] = set()
        self._server = Server(self, TABLE, clock, idle_max_ms=settings.server.idle_s_max * 1000)

    async def start(self) -> int:
        """Read the files, then listen; the port it is."""
        self.load()
        settings = self.settings
        port = await self._server.listen(
            settings.server.bind_address, settings.nameserver.listen_port
        )
        self.sweep()
        log.info("name server started port=%d", port)
        return port

    async def stop(self) -> None:
        """Close what is open. Nothing needs saving: each change was stored when it was made."""
        self.routes = Routes()  # Connections that close from now on are no news.
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        await self._server.close()
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)
        log.info("name server stopped")

    def load(self) -> None:
        """Read the key values, and apply again what was changed while it last ran."""
        self._started_ms = self.clock.mono_ms()
        self.kv.load()
        for key, text in self._kept().items():
            try:
                self.settings = changed(self.settings, {key: text}, NAMESERVER)
            except ConfigError:
                continue  # The file may be a whole configuration: start-up has read the rest.
            except BadField as error:
                log.warning("ignored a kept option path=%s error=%s", self._config_path, error)

    # What requests need.

    def is_ready(self) -> bool:
        """Whether brokers had the time to register that the operator grants them."""
        settings = self.settings.nameserver
        waited_ms = self.clock.mono_ms() - self._started_ms
        return not settings.wait_for_service or waited_ms >= settings.wait_for_service_s * 1000

    def change(self, values: Mapping[str, str]) -> None:
        """Change options and keep the change. Raises ConfigError, BadField and OSError."""
        settings = changed(self.settings, values, NAMESERVER)
        if values:
            text = written_properties({**self._kept(), **values})
            self._disk.make_directory(self._config_path.rpartition("/")[0] or ".")
            self._disk.replace(self._config_path, text.encode(), keep_backup=True)
        self.settings = settings

    def watch(self, peer: Peer) -> None:
        """Forget the brokers behind this connection when it closes."""
        if self._connection_lost not in peer.on_close:
            peer.on_close.append(self._connection_lost)

    def tell(self, notice: Notice | None) -> None:
        """Tell brokers about their new lowest id, if that is wanted; none of them answers."""
        if notice is not None and self.settings.nameserver.notify_min_broker_id:
            for address in notice.addresses:
                task = asyncio.get_running_loop().create_task(self._tell(address, notice.change))
                self._telling.add(task)
                task.add_done_callback(self._telling.discard)

    # What happens by itself.

    def sweep(self) -> None:
        """Look for brokers that were silent for too long, now and again."""
        interval_ms = self.settings.nameserver.scan_interval_ms
        self._sweep_timer = self.clock.call_later_ms(interval_ms, self.sweep)
        for live in self.routes.silent(self.clock.mono_ms()):
            self._forget(live, "silence")

    def _connection_lost(self, peer: Peer) -> None:
        for live in self.routes.behind(peer):
            self._forget(live, "connection lost")

    def _forget(self, live: LiveBroker, reason: str) -> None:
        ask = live.ask
        log.warning(
            "forgot broker name=%s address=%s reason=%s",
            ask.broker_name,
            ask.broker_address,
            reason,
        )
        self.tell(self.routes.unregister(ask))

    async def _tell(self, address: str, change: NotifyMinBrokerIdChange) -> None:
        try:
            peer = await self._dial(address)
        except Unreachable as error:
            log.warning("cannot tell broker address=%s error=%s", address, error)
            return
        peer.send_oneway(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, change)
        peer.close()

    def _kept(self) -> dict[str, str]:
        data = self._disk.read(self._config_path)
        return {} if data is None else read_properties(data.decode("utf-8", "replace"))
