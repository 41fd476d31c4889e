# SPDX-License-Identifier: Apache-2.0
"""`eruca group`: list, describe, delete."""

from argparse import Namespace
from collections.abc import Awaitable, Callable
from typing import Any

from eruca.cli.client import with_session
from eruca.cli.main import command_parser
from eruca.cli.output import say, show_json, show_table
from eruca.cli.running import add_client_options
from eruca.client.admin import Admin
from eruca.wire.codes import version_name


def add(commands: Any) -> None:
    parser = command_parser(commands, "group", "eruca group describe billing")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    work: Callable[[Admin, Namespace], Awaitable[int]]
    for name, example, work, text in (
        ("list", "list", list_groups, "all groups that a broker knows"),
        ("describe", "describe billing", describe_group, "members, and how far behind it is"),
        ("delete", "delete billing", delete_group, "its offsets go with it"),
    ):
        action = command_parser(
            actions, name, f"eruca group {example}", help=text, description=text
        )
        add_client_options(action)
        action.add_argument("--json", action="store_true", help="print JSON")
        if name != "list":
            action.add_argument("group")
        action.set_defaults(run=_runner(work))


def _runner(
    work: Callable[[Admin, Namespace], Awaitable[int]],
) -> Callable[[Namespace], int]:
    return lambda args: with_session(args, lambda session: work(Admin(session), args))


async def list_groups(admin: Admin, args: Namespace) -> int:
    groups = await admin.groups()
    if args.json:
        show_json(list(groups.values()))
    else:
        for name in groups:
            say(name)
    return 0


async def delete_group(admin: Admin, args: Namespace) -> int:
    await admin.delete_group(args.group)
    show_json({"deleted": args.group}) if args.json else say(f"{args.group}: deleted")
    return 0


async def describe_group(admin: Admin, args: Namespace) -> int:
    members = [
        {
            "client_id": connection.client_id,
            "address": connection.client_address,
            "language": connection.language.name if connection.language else None,
            "version": version_name(connection.version),
        }
        for part in await admin.members(args.group)
        for connection in part.connections
    ]
    queues = [
        {
            "topic": queue.topic,
            "broker": queue.broker_name,
            "queue": queue.queue_id,
            "offset": offset.consumer_offset,
            "end": offset.broker_offset,
            "behind": offset.broker_offset - offset.consumer_offset,
        }
        for queue, offset in (await admin.progress(args.group)).items()
    ]
    behind = sum(int(str(queue["behind"])) for queue in queues)
    if args.json:
        show_json({"group": args.group, "behind": behind, "members": members, "queues": queues})
        return 0
    if members:
        show_table(tuple(members[0]), [tuple(member.values()) for member in members])
    else:
        say("no member is online")
    if queues:
        say()
        show_table(tuple(queues[0]), [tuple(queue.values()) for queue in queues])
    say(f"\n{behind} messages behind")
    return 0
