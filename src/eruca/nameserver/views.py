# SPDX-License-Identifier: Apache-2.0
"""A route as one asker is to see it: acting masters, zones.

Pure functions from route to route; the tables behind it stay as they are.
"""

from dataclasses import replace
from typing import Final

from eruca.nameserver.routes import MASTER_ID
from eruca.wire.bodies import PERM_WRITE, BrokerData, TopicRouteData

# Marks a topic by which brokers watch each other: it must show who is really there.
MEMBER_TOPIC_PREFIX: Final = "rmq_sys_SYNC_BROKER_MEMBER_"


def with_acting_masters(topic: str, route: TopicRouteData) -> TopicRouteData:
    """Show the lowest slave of a set without master as its master, where nobody may write."""
    if topic.startswith(MEMBER_TOPIC_PREFIX):
        return route
    writable = {queue.broker_name for queue in route.queues if queue.perm & PERM_WRITE}
    return replace(
        route,
        brokers=[
            _acted(broker)
            if broker.acting_master and broker.broker_name not in writable
            else broker
            for broker in route.brokers
        ],
    )


def within_zone(route: TopicRouteData, zone: str) -> TopicRouteData:
    """Only the brokers of a zone, and those without a master: any slave is better than none."""
    kept = [
        broker
        for broker in route.brokers
        if MASTER_ID not in broker.addresses or (broker.zone or "").lower() == zone.lower()
    ]
    names = {broker.broker_name for broker in kept}
    queues = [queue for queue in route.queues if queue.broker_name in names]
    return replace(route, brokers=kept, queues=queues)


def _acted(broker: BrokerData) -> BrokerData:
    lowest_id = min(broker.addresses)
    addresses = {
        MASTER_ID if broker_id == lowest_id else broker_id: address
        for broker_id, address in broker.addresses.items()
    }
    return replace(broker, addresses=addresses)
