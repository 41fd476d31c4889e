# SPDX-License-Identifier: Apache-2.0
"""`eruca COMMAND`: find the command, run it, say in one line what went wrong.

Each command is a module here with `add(commands)`, which adds its parser and sets `run` to a
function from the arguments to the exit code: 0 done, 1 failed, 2 wrong arguments. Only the module
of the command that was asked for is imported: a server that starts must not wait for the others.
"""

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import eruca.errors as problems
from eruca.cli.output import fail

COMMANDS: Final = {
    "up": "name server and broker in one go, for this machine",
    "produce": "send each line of the input as a message",
    "consume": "print messages",
    "topic": "list, create, delete, describe topics",
    "group": "list, describe, delete consumer groups",
    "nameserver": "a name server alone",
    "broker": "a broker alone, from a broker.conf or a TOML file",
    "store": "look into store directories without a broker",
    "bench": "the canonical workload: how fast is it here",
}

INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        args = parser_for(words).parse_args(words)
    except SystemExit as end:  # argparse has said what is wrong, or printed the help.
        return int(end.code or 0)
    try:
        return int(args.run(args))
    except problems.ErucaError as error:
        return fail(explained(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # Whoever read our output has enough, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return fail(explained_os(error))


def parser_for(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of everything, complete for the command that `words` begin with."""
    parser = argparse.ArgumentParser(
        prog="eruca",
        description="Apache RocketMQ in Python.",
        epilog="example:\n  eruca up --data data\n  echo hello | eruca produce greetings\n"
        "  eruca consume greetings --from earliest --count 1",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version(words))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    wanted = next((word for word in words if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        if name == wanted:
            importlib.import_module(f"eruca.cli.{name}").add(commands)
        else:
            commands.add_parser(name, help=text, add_help=False)
    return parser


def command_parser(commands: Any, name: str, example: str, **words: Any) -> argparse.ArgumentParser:
    """A parser for one command, with an example below its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        description=words.pop("description", None) or COMMANDS.get(name),
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **words,
    )
    return parser


def explained(error: problems.ErucaError) -> str:
    """What went wrong, and what to do about it."""
    if isinstance(error, problems.Refused):
        return _refusal(error)
    if isinstance(error, problems.Unreachable):
        return f"{error}; is it up? `eruca up` starts one, --nameserver HOST:PORT names another"
    if isinstance(error, problems.OutcomeUnknown):
        return f"{error}; it may have been done all the same: look before you repeat it"
    if isinstance(error, problems.StoreLocked):
        return f"{error}; stop the other process, or choose another directory with --data"
    if isinstance(error, problems.DiskFull):
        return f"{error}; make room, or choose another directory with --data"
    return str(error)


def explained_os(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"{error.strerror or error}; stop what listens there, or choose other ports"
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def _refusal(error: problems.Refused) -> str:
    from eruca.wire.codes import ResponseCode

    try:
        code = ResponseCode(error.code).name
    except ValueError:
        code = f"code {error.code}"
    hints = {
        ResponseCode.TOPIC_NOT_EXIST: "`eruca topic list` shows topics, `eruca topic create` adds",
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: "`eruca group list` shows groups",
        ResponseCode.SYSTEM_BUSY: "try again later",
        ResponseCode.SERVICE_NOT_AVAILABLE: "the broker takes no messages: is its disk full?",
    }
    remark = error.remark.partition("\n")[0]
    hint = hints.get(error.code)  # type: ignore[call-overload]
    return f"refused: {code}: {remark}{f'; {hint}' if hint else ''}"


def _version(words: Sequence[str]) -> str:
    if "--version" not in words:
        return ""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"eruca {version('eruca')}"
    except PackageNotFoundError:
        return "eruca (not installed)"
