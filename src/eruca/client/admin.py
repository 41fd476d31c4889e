# SPDX-License-Identifier: Apache-2.0
"""Administration of a cluster: topics, groups, where they are and how far they got.

What concerns one topic is asked of the brokers in its route; what concerns all, of every master.
"""

from collections.abc import AsyncIterator
from typing import Final, TypeVar, final

from eruca.client.routes import MASTER_ID, Route
from eruca.client.session import Session
from eruca.errors import Refused
from eruca.message import MessageQueue
from eruca.wire import javajson
from eruca.wire.bodies import (
    PERM_READ,
    PERM_WRITE,
    ClusterInfo,
    ConsumerConnection,
    GroupConfig,
    GroupList,
    GroupTable,
    TopicConfig,
    TopicList,
)
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.commands import (
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    DeleteTopicInNameServer,
    GetConsumerConnections,
    GetConsumeStats,
    GetTopicConfig,
    GetTopicStats,
    QueryTopicGroups,
)
from eruca.wire.fields import from_json, to_json
from eruca.wire.header import Command
from eruca.wire.names import (
    DEAD_LETTER_PREFIX,
    RETRY_PREFIX,
    SYSTEM_TOPIC_PREFIX,
    SYSTEM_TOPICS,
    TEMPLATE_TOPIC,
    reply_topic,
)
from eruca.wire.reports import ConsumeOffset, ConsumeStats, TopicOffset, TopicStatsTable

T = TypeVar("T")

TIMEOUT_MS: Final = 10_000

SYSTEM_PREFIXES: Final = (
    SYSTEM_TOPIC_PREFIX,
    SYSTEM_TOPIC_PREFIX.upper(),
    RETRY_PREFIX,
    DEAD_LETTER_PREFIX,
)


@final
class Admin:
    def __init__(self, session: Session) -> None:
        self._session = session

    # The cluster.

    async def cluster(self) -> ClusterInfo:
        answer = await self._session.ask_nameserver(RequestCode.GET_BROKER_CLUSTER_INFO)
        return _body(ClusterInfo, answer)

    async def masters(self) -> dict[str, str]:
        """Broker name -> address of every master."""
        brokers = (await self.cluster()).brokers
        return {
            name: brokers[name].addresses[MASTER_ID]
            for name in sorted(brokers)
            if MASTER_ID in brokers[name].addresses
        }

    # Topics.

    async def topics(self, *, system: bool = False) -> list[str]:
        """The names of all topics, those that no user made only if asked for."""
        answer = await self._session.ask_nameserver(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
        names = sorted(set(_body(TopicList, answer).topics))
        if system:
            return names
        cluster = await self.cluster()
        own = SYSTEM_TOPICS | set(cluster.brokers) | set(cluster.clusters)
        own |= {reply_topic(name) for name in cluster.clusters}
        return [name for name in names if name not in own and not name.startswith(SYSTEM_PREFIXES)]

    async def route(self, topic: str) -> Route:
        self._session.forget(topic)
        return await self._session.route(topic)

    async def create_topic(
        self,
        topic: str,
        queue_count: int,
        *,
        perm: int = PERM_READ | PERM_WRITE,
        order: bool = False,
        attributes: dict[str, str] | None = None,
    ) -> list[str]:
        """Create or change a topic on every master; the names of the brokers."""
        ask = CreateTopic(
            topic=topic,
            default_topic=TEMPLATE_TOPIC,
            read_queue_count=queue_count,
            write_queue_count=queue_count,
            perm=perm,
            filter_type="SINGLE_TAG",
            order=order,
            sys_flag=0,
            attributes=",".join(f"+{key}={value}" for key, value in (attributes or {}).items()),
        )
        masters = await self.masters()
        for address in masters.values():
            await self._ask(address, RequestCode.UPDATE_AND_CREATE_TOPIC, ask)
        self._session.forget(topic)
        return list(masters)

    async def delete_topic(self, topic: str) -> None:
        """Delete a topic, its messages and the offsets on it, everywhere."""
        for address in (await self.masters()).values():
            await self._ask(address, RequestCode.DELETE_TOPIC_IN_BROKER, DeleteTopic(topic))
        ask = DeleteTopicInNameServer(topic)
        await self._session.ask_nameservers(RequestCode.DELETE_TOPIC_IN_NAMESRV, ask)
        self._session.forget(topic)

    async def topic_stats(self, topic: str) -> dict[MessageQueue, TopicOffset]:
        """The offsets of every queue."""
        offsets: dict[MessageQueue, TopicOffset] = {}
        async for address in self._brokers_of(topic):
            answer = await self._ask(
                address, RequestCode.GET_TOPIC_STATS_INFO, GetTopicStats(topic)
            )
            offsets |= _body(TopicStatsTable, answer).offsets
        return dict(sorted(offsets.items()))

    async def topic_configs(self, topic: str) -> dict[str, TopicConfig]:
        """Broker name -> configuration of the topic there."""
        route = await self.route(topic)
        configs = {}
        for broker_name in sorted(route.brokers):
            address = route.any_address(broker_name)
            answer = await self._ask(address, RequestCode.GET_TOPIC_CONFIG, GetTopicConfig(topic))
            configs[broker_name] = _body(TopicConfig, answer)
        return configs

    async def topic_groups(self, topic: str) -> list[str]:
        """The groups that consume a topic, or once did."""
        groups: set[str] = set()
        async for address in self._brokers_of(topic):
            ask = QueryTopicGroups(topic)
            answer = await self._ask(address, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, ask)
            groups |= set(_body(GroupList, answer).groups)
        return sorted(groups)

    # Groups.

    async def groups(self) -> dict[str, GroupConfig]:
        """The consumer groups that any master knows."""
        groups: dict[str, GroupConfig] = {}
        for address in (await self.masters()).values():
            answer = await self._ask(address, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
            groups |= _body(GroupTable, answer).groups
        return dict(sorted(groups.items()))

    async def create_group(self, group: GroupConfig) -> None:
        """Create or change a group on every master."""
        body = javajson.dumps(to_json(group))
        for address in (await self.masters()).values():
            await self._ask(address, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)

    async def delete_group(self, group: str) -> None:
        """Delete a group and its offsets on every master."""
        ask = DeleteGroup(group, clean_offsets=True)
        for address in (await self.masters()).values():
            await self._ask(address, RequestCode.DELETE_SUBSCRIPTIONGROUP, ask)

    async def progress(self, group: str) -> dict[MessageQueue, ConsumeOffset]:
        """How far a group got in each queue it has consumed."""
        offsets: dict[MessageQueue, ConsumeOffset] = {}
        for address in (await self.masters()).values():
            answer = await self._ask(address, RequestCode.GET_CONSUME_STATS, GetConsumeStats(group))
            offsets |= _body(ConsumeStats, answer).offsets
        return dict(sorted(offsets.items()))

    async def members(self, group: str) -> list[ConsumerConnection]:
        """What each master says of the members that are online."""
        found = []
        ask = GetConsumerConnections(group)
        for address in (await self.masters()).values():
            try:
                answer = await self._ask(address, RequestCode.GET_CONSUMER_CONNECTION_LIST, ask)
            except Refused as error:
                if error.code != ResponseCode.CONSUMER_NOT_ONLINE:
                    raise
            else:
                found.append(_body(ConsumerConnection, answer))
        return found

    async def _brokers_of(self, topic: str) -> AsyncIterator[str]:
        route = await self.route(topic)
        for broker_name in sorted(route.brokers):
            yield route.any_address(broker_name)

    async def _ask(
        self, address: str, code: int, ask: object = None, *, body: bytes = b""
    ) -> Command:
        return await self._session.ask(address, code, ask, body, timeout_ms=TIMEOUT_MS)


def _body(kind: type[T], answer: Command) -> T:
    return from_json(kind, javajson.loads(answer.body))
