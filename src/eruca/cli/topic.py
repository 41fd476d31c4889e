# SPDX-License-Identifier: Apache-2.0
"""`eruca topic`: list, create, delete, describe, route."""

from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from eruca.cli.client import with_session
from eruca.cli.main import command_parser
from eruca.cli.output import say, show_json, show_table
from eruca.cli.running import add_client_options
from eruca.client.admin import Admin

QUEUE_COUNT_DEFAULT = 8


def add(commands: Any) -> None:
    parser = command_parser(commands, "topic", "eruca topic describe greetings")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    listing = _action(actions, "list", "eruca topic list --json", list_topics)
    listing.add_argument("--all", action="store_true", help="also those that no user made")

    create = _action(actions, "create", "eruca topic create orders --queues 16", create_topic)
    create.add_argument("topic")
    create.add_argument(
        "--queues",
        type=int,
        default=QUEUE_COUNT_DEFAULT,
        help="queues on each broker (default: %(default)s)",
    )
    create.add_argument("--order", action="store_true", help="mark it as ordered")
    create.add_argument(
        "--attribute",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="for example message.type=FIFO",
    )
    for name, run, text in (
        ("delete", delete_topic, "its messages and offsets go with it"),
        ("describe", describe_topic, "configuration, offsets of every queue, groups"),
        ("route", route_topic, "which broker has which queues"),
    ):
        action = _action(actions, name, f"eruca topic {name} orders", run, text)
        action.add_argument("topic")


def _action(
    actions: Any,
    name: str,
    example: str,
    work: Callable[[Admin, Namespace], Awaitable[int]],
    text: str | None = None,
) -> ArgumentParser:
    parser = command_parser(actions, name, example, help=text, description=text)
    add_client_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(
        run=lambda args: with_session(args, lambda session: work(Admin(session), args))
    )
    return parser


async def list_topics(admin: Admin, args: Namespace) -> int:
    topics = await admin.topics(system=args.all)
    if args.json:
        show_json(topics)
    else:
        for topic in topics:
            say(topic)
    return 0


async def create_topic(admin: Admin, args: Namespace) -> int:
    attributes = dict(pair.split("=", 1) for pair in args.attribute if "=" in pair)
    brokers = await admin.create_topic(
        args.topic, args.queues, order=args.order, attributes=attributes
    )
    if args.json:
        show_json({"topic": args.topic, "queues": args.queues, "brokers": brokers})
    else:
        say(f"{args.topic}: {args.queues} queues on {', '.join(brokers) or 'no broker'}")
    return 0 if brokers else 1


async def delete_topic(admin: Admin, args: Namespace) -> int:
    await admin.delete_topic(args.topic)
    show_json({"deleted": args.topic}) if args.json else say(f"{args.topic}: deleted")
    return 0


async def describe_topic(admin: Admin, args: Namespace) -> int:
    configs = await admin.topic_configs(args.topic)
    stats = await admin.topic_stats(args.topic)
    groups = await admin.topic_groups(args.topic)
    queues = [
        {
            "broker": queue.broker_name,
            "queue": queue.queue_id,
            "min_offset": offset.min_offset,
            "max_offset": offset.max_offset,
            "messages": offset.max_offset - offset.min_offset,
            "last_ms": offset.last_update_ms or None,
        }
        for queue, offset in stats.items()
    ]
    if args.json:
        brokers = {name: asdict(config) for name, config in configs.items()}
        show_json({"topic": args.topic, "brokers": brokers, "queues": queues, "groups": groups})
        return 0
    for name, config in configs.items():
        more = f"  {config.attributes}" if config.attributes else ""
        say(
            f"{name}: {config.read_queue_count} queues to read, {config.write_queue_count} to "
            f"write, {permissions(config.perm)}{'  ordered' if config.order else ''}{more}"
        )
    show_table(
        ("broker", "queue", "first", "next", "messages"),
        [[*queue.values()][:5] for queue in queues],
    )
    say(f"groups: {', '.join(groups) or 'none'}")
    return 0


async def route_topic(admin: Admin, args: Namespace) -> int:
    route = await admin.route(args.topic)
    rows = []
    for name, addresses in sorted(route.brokers.items()):
        reads = sum(queue.broker_name == name for queue in route.read_queues)
        writes = sum(queue.broker_name == name for queue in route.write_queues)
        for broker_id, address in sorted(addresses.items()):
            rows.append((name, broker_id, address, reads, writes if broker_id == 0 else 0))
    head = ("broker", "id", "address", "read_queues", "write_queues")
    if args.json:
        show_json([dict(zip(head, row, strict=True)) for row in rows])
    else:
        show_table(head, rows)
    return 0


def permissions(perm: int) -> str:
    words = [word for bit, word in ((4, "readable"), (2, "writable")) if perm & bit]
    return " and ".join(words) or "closed"
