# SPDX-License-Identifier: Apache-2.0
"""The broker's topics: which there are, who may create one, how they are kept.

`table` is the truth, in memory; it is saved to topics.json some milliseconds after a change, not
at each one, so creating many topics costs one save. `version` advances with every change: name
servers and slaves compare it. `changed` is called with what was created or updated, so that the
broker can register it.

What the file holds wins over what is made at start, as in Java: a changed default for new topics
takes effect on an old store only through an update of TBW102.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from eruca.broker.attributes import (
    MESSAGE_TYPE,
    MIXED,
    TOPIC_ATTRIBUTES,
    altered,
)
from eruca.broker.persisted import StateFile
from eruca.clock import Clock
from eruca.config import BrokerSettings
from eruca.net.server import Response
from eruca.wire import names
from eruca.wire.bodies import (
    PERM_INHERIT,
    PERM_READ,
    PERM_WRITE,
    DataVersion,
    TopicConfig,
    TopicTable,
)
from eruca.wire.codes import ResponseCode

log = logging.getLogger("eruca.broker")

PAGE_COUNT_MAX: Final = 2000  # Java: splitMetadataSize
PERM_MAX: Final = 15
READ_WRITE: Final = PERM_READ | PERM_WRITE
SCHEDULE_QUEUE_COUNT: Final = 18  # Java: also when fewer or more delay levels are configured.
BENCHMARK_QUEUE_COUNT: Final = 1024
UNIT_SUBSCRIPTION_FLAG: Final = 2


class Topics:
    """All topics of one broker."""

    def __init__(self, settings: BrokerSettings, file: StateFile, clock: Clock) -> None:
        self.settings = settings
        self.version = DataVersion()
        self.dirty = False
        self.changed: Callable[[list[TopicConfig]], None] = lambda topics: None
        self.table = {topic.name: topic for topic in _made_at_start(settings)}
        self.file = file
        self._clock = clock
        self._system = names.SYSTEM_TOPICS | self.table.keys()

    # Questions.

    def find(self, name: str) -> TopicConfig | None:
        return self.table.get(name)

    def is_system(self, name: str) -> bool:
        return name in self._system or name.startswith(names.SYSTEM_TOPIC_PREFIX)

    def is_ordered(self, name: str) -> bool:
        topic = self.table.get(name)
        return topic is not None and topic.order

    def system_names(self) -> list[str]:
        return sorted(self._system)

    def as_table(self, begin: int = 0, count: int | None = None) -> TopicTable:
        """What name servers, slaves and tools get: everything, or a page in the order of names."""
        if count is None:
            return TopicTable(topics=self.table, data_version=self.version)
        chosen = sorted(self.table)[begin : begin + min(count, PAGE_COUNT_MAX)]
        return TopicTable(
            topics={name: self.table[name] for name in chosen}, data_version=self.version
        )

    # Creating by use.

    def auto_create(
        self, name: str, template_name: str, queue_count: int, sys_flag: int = 0
    ) -> TopicConfig | None:
        """The topic, created in the shape of `template_name` if that allows it; else None."""
        found = self.table.get(name)
        if found is not None:
            return found
        template = self.table.get(template_name)
        if template is None or not template.perm & PERM_INHERIT:
            return None
        if template_name == names.TEMPLATE_TOPIC and not self.settings.auto_create_topic:
            return None
        problem = names.topic_problem(name)
        if problem is None and len(self.table) >= self.settings.topic_count_max:
            problem = f"there are {len(self.table)} topics already"
        if problem is not None:
            log.warning("topic not created topic=%r problem=%s", name[:255], problem)
            return None
        count = max(0, min(queue_count, template.write_queue_count))
        topic = TopicConfig(
            name=name,
            read_queue_count=count,
            write_queue_count=count,
            perm=template.perm & ~PERM_INHERIT,
            filter_type=template.filter_type,
            sys_flag=sys_flag,
        )
        self._put([topic])
        return topic

    def ensure(
        self,
        name: str,
        queue_count: int = 1,
        *,
        perm: int = READ_WRITE,
        order: bool = False,
        sys_flag: int = 0,
    ) -> TopicConfig:
        """One of the broker's own topics, created if it is missing. The caller checked the name."""
        assert names.is_safe(name)
        found = self.table.get(name)
        if found is None:
            found = TopicConfig(name, queue_count, queue_count, perm, "SINGLE_TAG", sys_flag, order)
            self._put([found])
        return found

    def ensure_retry(
        self, group: str, queue_count: int, *, order: bool = False, unit: bool = False
    ) -> TopicConfig:
        """The retry topic of a group; it is ordered when the group reads any ordered topic."""
        name = names.retry_topic(group)
        sys_flag = UNIT_SUBSCRIPTION_FLAG if unit else 0
        topic = self.ensure(name, queue_count, order=order, sys_flag=sys_flag)
        if topic.order != order:
            topic = replace(topic, order=order)
            self._put([topic])
        return topic

    def ensure_dead_letter(self, group: str) -> TopicConfig:
        return self.ensure(names.dead_letter_topic(group))  # Java: readable too, since 5.x.

    # Changes by administrators.

    def refusal(self, name: str) -> Response | None:
        """Why an administrator may neither change nor delete this topic, or None."""
        problem = names.topic_problem(name)
        if problem is None and self.settings.system_topics_protected and self.is_system(name):
            problem = f"{name} is a system topic"
        return _refused(problem)

    def update(self, topics: Iterable[TopicConfig]) -> Response | None:
        """Create or replace topics; their attributes are signed changes. All of them, or none.

        Returns the refusal, if it is one; raises BadField for attributes that do not fit.
        """
        after = []
        for asked in topics:
            refusal = self.refusal(asked.name) or self._misshapen(asked)
            if refusal is not None:
                return refusal
            old = self.table.get(asked.name)
            current = None if old is None else old.attributes
            attributes = altered(current, asked.attributes, TOPIC_ATTRIBUTES)
            topic = replace(asked, attributes=attributes)
            if topic != old:
                after.append(topic)
        new_names = {topic.name for topic in after} - self.table.keys()
        if new_names and len(self.table) + len(new_names) > self.settings.topic_count_max:
            return _refused(f"there are {len(self.table)} topics already")
        if after:
            self._put(after)
        return None

    def delete(self, name: str, groups: Iterable[str] = ()) -> list[str]:
        """Delete a topic and what POP made for it and these groups; the names that are gone."""
        doomed = [name]
        if self.settings.delete_pop_retry_topics:
            doomed += [each for group in groups for each in names.pop_retry_topics(name, group)]
        gone = [each for each in doomed if self.table.pop(each, None) is not None]
        if gone:
            log.info("topics deleted topics=%s", gone)
            self._touch()
        return gone

    def mark_ordered(self, ordered: Iterable[str]) -> None:
        """Make ordered what the name server says is; it never makes anything unordered."""
        after = [
            replace(topic, order=True)
            for name in ordered
            if (topic := self.table.get(name)) is not None and not topic.order
        ]
        if after:
            self._put(after)

    # Keeping.

    def load(self) -> None:
        """Read topics.json. Raises ConfigError when it and its .bak do not read."""
        found = self.file.load(TopicTable)
        if found is None:
            self._touch()
            return
        for name, topic in found.topics.items():
            if names.is_safe(name):
                topic.name = name
                self.table[name] = topic
            else:
                self.file.skipped_count += 1
                log.warning("topic left out name=%r", name[:255])
        self.version = found.data_version

    def save_if_due(self) -> None:
        """Save what changed, unless that was done at great cost just now."""
        if self.dirty and self.file.is_rested:
            self.save_if_dirty()

    def save_if_dirty(self) -> None:
        if self.dirty:
            self.dirty = not self.file.save(self.as_table())

    def _misshapen(self, topic: TopicConfig) -> Response | None:
        most, mixed = self.settings.topic_queue_count_max, self.settings.mixed_message_type
        counts = (topic.read_queue_count, topic.write_queue_count)
        problem = None
        if not all(0 <= count <= most for count in counts):
            problem = f"{topic.name}: a topic has at most {most} queues"
        elif not 0 <= topic.perm <= PERM_MAX:
            problem = f"{topic.name}: perm {topic.perm} is not in 0..{PERM_MAX}"
        elif topic.filter_type not in ("SINGLE_TAG", "MULTI_TAG"):
            problem = f"{topic.name}: filter type {topic.filter_type!r}"
        elif topic.attributes.get("+" + MESSAGE_TYPE) == MIXED and not mixed:
            problem = "MIXED message type is not supported"
        return _refused(problem)

    def _put(self, topics: list[TopicConfig]) -> None:
        for topic in topics:
            if topic.name not in self.table:
                log.info("topic created topic=%s queues=%d", topic.name, topic.write_queue_count)
            self.table[topic.name] = topic
        self._touch()
        self.changed(topics)

    def _touch(self) -> None:
        self.version = self.version.next(self._clock.now_ms())
        self.dirty = True


def _refused(problem: str | None) -> Response | None:
    return None if problem is None else Response(ResponseCode.INVALID_PARAMETER, remark=problem)


def _made_at_start(settings: BrokerSettings) -> list[TopicConfig]:
    """Java makes the same ones; some only wait for a feature to be used."""
    own = PERM_INHERIT | READ_WRITE
    cluster_perm = own if settings.cluster_topic else PERM_INHERIT
    broker_perm = own if settings.broker_topic else PERM_INHERIT
    counts = {
        names.SELF_TEST_TOPIC: 1,
        names.BENCHMARK_TOPIC: BENCHMARK_QUEUE_COUNT,
        names.OFFSET_MOVED_TOPIC: 1,
        names.SCHEDULE_TOPIC: SCHEDULE_QUEUE_COUNT,
        names.reply_topic(settings.cluster): 1,
        names.revive_topic(settings.cluster): settings.revive_queue_count,
        names.HALF_TOPIC: 1,
        names.OP_HALF_TOPIC: 1,
        names.ROCKS_HALF_TOPIC: 1,
        names.ROCKS_OP_HALF_TOPIC: 1,
    }
    if settings.trace_topic:
        counts[settings.trace_topic_name] = 1
    if settings.timer:
        counts[names.TIMER_TOPIC] = 1
    made = [TopicConfig(name, count, count, READ_WRITE) for name, count in counts.items()]
    made.append(TopicConfig(settings.cluster, perm=cluster_perm))
    made.append(TopicConfig(settings.name, 1, 1, broker_perm))
    made.append(TopicConfig(names.member_sync_topic(settings.name), 1, 1, PERM_INHERIT))
    if settings.auto_create_topic:
        count = settings.default_topic_queue_count
        made.append(TopicConfig(names.TEMPLATE_TOPIC, count, count, own))
    return made
