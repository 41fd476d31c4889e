# SPDX-License-Identifier: Apache-2.0
"""Options that are changed while the broker runs.

All of a change or none of it: the new settings are checked as a whole, kept in
config/broker.properties, and given to the parts. At the next start what was kept wins over what
the file and the arguments say, as it would have had Java rewritten its broker.conf.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from eruca.config import Settings
from eruca.configure import BROKER, changed
from eruca.errors import BadField, ConfigError
from eruca.store.disk import Disk
from eruca.store.store import RECORD_OVERHEAD_MAX
from eruca.wire.javaproperties import read_properties, written_properties

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

log = logging.getLogger("eruca.broker")


def with_kept(settings: Settings, disk: Disk) -> Settings:
    """The settings with the changes that were made when the broker last ran."""
    for key, text in _kept(settings, disk).items():
        try:
            settings = changed(settings, {key: text}, BROKER)
        except (ConfigError, BadField) as error:
            log.warning("ignored a kept option path=%s error=%s", _path(settings), error)
    return settings


def change(broker: "Broker", values: Mapping[str, str]) -> None:
    """Change options. Raises ConfigError, BadField and OSError; then nothing changed."""
    settings = changed(broker.all_settings, values, BROKER)
    if not values:
        return
    text = written_properties({**_kept(settings, broker.disk), **values})
    broker.disk.replace(_path(settings), text.encode(), keep_backup=True)
    perm_changes = settings.broker.perm != broker.settings.perm
    _apply(broker, settings)
    log.info("options changed keys=%s", sorted(values))
    if perm_changes:
        broker.registration.soon()


def _apply(broker: "Broker", settings: Settings) -> None:
    """Give the parts what they look at, and have the hot path ask everything anew."""
    broker.all_settings = settings
    for part in (broker, broker.topics, broker.groups, broker.offsets):
        part.settings = settings.broker
    store, hot = broker.store, broker.hot
    store.settings = settings.store
    store.log.record_size_max = settings.store.message_size_max + RECORD_OVERHEAD_MAX
    store.limits.memory_size = settings.store.memory_pull_size_max
    store.limits.memory_count = settings.store.memory_pull_count_max
    store.limits.disk_size = settings.store.disk_pull_size_max
    store.limits.disk_count = settings.store.disk_pull_count_max
    hot.message_size_max = settings.store.message_size_max
    hot.pull_count_max = settings.store.pull_count_max
    hot.topics.clear()
    hot.subscriptions.clear()


def _kept(settings: Settings, disk: Disk) -> dict[str, str]:
    data = disk.read(_path(settings))
    return {} if data is None else read_properties(data.decode("utf-8", "replace"))


def _path(settings: Settings) -> str:
    return f"{settings.store.root}/config/broker.properties"
