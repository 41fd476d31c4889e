# SPDX-License-Identifier: Apache-2.0
"""The broker's consumer groups: which there are, what they are allowed, how they are kept.

Like topics: the table in memory is the truth, `version` advances with every change, and
subscriptionGroup.json is saved some milliseconds later. A group is created when it is first asked
for, if that is allowed. `forbidden` says, per group and topic, what the group may not do; bit 2 is
reading.
"""

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from eruca.broker.attributes import GROUP_ATTRIBUTES, altered
from eruca.broker.persisted import StateFile
from eruca.clock import Clock
from eruca.config import BrokerSettings
from eruca.net.server import Response
from eruca.wire import names
from eruca.wire.bodies import DataVersion, GroupConfig, GroupTable
from eruca.wire.codes import ResponseCode

log = logging.getLogger("eruca.broker")

PAGE_COUNT_MAX: Final = 2000  # Java: splitMetadataSize
READ_FORBIDDEN: Final = 1 << 2


class Groups:
    """All consumer groups of one broker."""

    def __init__(self, settings: BrokerSettings, file: StateFile, clock: Clock) -> None:
        self.settings = settings
        self.version = DataVersion()
        self.dirty = False
        self.table = {name: GroupConfig(name) for name in names.START_GROUPS}
        self.forbidden: dict[str, dict[str, int]] = {}
        self.file = file
        self._clock = clock

    # Questions.

    def find(self, name: str) -> GroupConfig | None:
        """The group if there is one; it is not created."""
        return self.table.get(name)

    def ensure(self, name: str) -> GroupConfig | None:
        """The group, created if that is allowed and it may have that name; else None."""
        found = self.table.get(name)
        if found is not None:
            return found
        is_system = name.startswith(names.SYSTEM_GROUP_PREFIX)
        if not (
            self.settings.auto_create_group
            or (is_system and self.settings.auto_create_system_group)
        ):
            return None
        problem = names.group_problem(name)
        if problem is None and len(self.table) >= self.settings.group_count_max:
            problem = f"there are {len(self.table)} groups already"
        if problem is not None:
            log.warning("group not created group=%r problem=%s", name[:255], problem)
            return None
        log.info("group created group=%s", name)
        group = self.table[name] = GroupConfig(name)
        self._touch()
        return group

    def may_read(self, group: str, topic: str) -> bool:
        """False when an administrator forbade it."""
        return not self.forbidden.get(group, {}).get(topic, 0) & READ_FORBIDDEN

    def as_table(self, begin: int = 0, count: int | None = None) -> GroupTable:
        """What slaves and tools get: everything, or a page in the order of names."""
        if count is None:
            return GroupTable(self.table, self.forbidden, self.version)
        chosen = sorted(self.table)[begin : begin + min(count, PAGE_COUNT_MAX)]
        groups = {name: self.table[name] for name in chosen}
        forbidden = {name: self.forbidden[name] for name in chosen if name in self.forbidden}
        return GroupTable(groups, forbidden, self.version)

    # Changes by administrators.

    def update(self, groups: Iterable[GroupConfig]) -> Response | None:
        """Create or replace groups; their attributes are signed changes. All of them, or none.

        Returns the refusal, if it is one; raises BadField for attributes that do not fit.
        """
        after = []
        for asked in groups:
            problem = names.group_problem(asked.name)
            if problem is not None:
                return Response(ResponseCode.INVALID_PARAMETER, remark=problem)
            old = self.table.get(asked.name)
            current = None if old is None else old.attributes
            attributes = altered(current, asked.attributes, GROUP_ATTRIBUTES)
            after.append(replace(asked, attributes=attributes))
        new_names = {group.name for group in after} - self.table.keys()
        if new_names and len(self.table) + len(new_names) > self.settings.group_count_max:
            problem = f"there are {len(self.table)} groups already"
            return Response(ResponseCode.INVALID_PARAMETER, remark=problem)
        for group in after:
            log.info("group updated group=%s", group.name)
            self.table[group.name] = group
        self._touch()
        return None

    def delete(self, name: str) -> bool:
        """Forget a group and what it was forbidden; whether there was one."""
        forbidden = self.forbidden.pop(name, None)
        if self.table.pop(name, None) is None and forbidden is None:
            return False
        log.info("group deleted group=%s", name)
        self._touch()
        return True

    def allow_reading(self, group: str, topic: str, readable: bool) -> None:
        """Forbid a group to read a topic, or allow it again."""
        topics = self.forbidden.setdefault(group, {})
        bits = topics.get(topic, 0)
        topics[topic] = bits & ~READ_FORBIDDEN if readable else bits | READ_FORBIDDEN
        if not topics[topic]:
            del topics[topic]
        if not topics:
            del self.forbidden[group]
        self._touch()

    # Keeping.

    def load(self) -> None:
        """Read subscriptionGroup.json. Raises ConfigError when it and its .bak do not read."""
        found = self.file.load(GroupTable)
        if found is None:
            self._touch()
            return
        for name, group in found.groups.items():
            if names.is_safe(name):
                group.name = name
                self.table[name] = group
            else:
                self.file.skipped_count += 1
                log.warning("group left out name=%r", name[:255])
        self.forbidden = found.forbidden
        self.version = found.data_version

    def save_if_due(self) -> None:
        """Save what changed, unless that was done at great cost just now."""
        if self.dirty and self.file.is_rested:
            self.save_if_dirty()

    def save_if_dirty(self) -> None:
        if self.dirty:
            self.dirty = not self.file.save(self.as_table())

    def _touch(self) -> None:
        self.version = self.version.next(self._clock.now_ms())
        self.dirty = True
