# SPDX-License-Identifier: Apache-2.0
"""Every command explains itself with an example; exit codes; one line for what failed."""

import asyncio
import subprocess
import sys

import pytest

from eruca.cli.main import COMMANDS, explained, main
from eruca.errors import DiskFull, OutcomeUnknown, Refused, StoreLocked, Unreachable
from eruca.wire.codes import ResponseCode

from .commands import eruca

ACTIONS = {
    "topic": ("list", "create", "delete", "describe", "route"),
    "group": ("list", "describe", "delete"),
    "store": ("check", "dump"),
}
EVERY = [
    *((name,) for name in COMMANDS),
    *((name, action) for name, actions in ACTIONS.items() for action in actions),
]


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_has_an_example(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert "example" in text
    assert f"eruca {' '.join(words)}" in text.partition("example")[2]


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"    {name}" in text for name in COMMANDS)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["topic"],
        ["topic", "create"],
        ["produce"],
        ["consume", "t", "--from", "yesterday"],
        ["up", "--shards", "0"],
        ["up", "--shards", "many"],
        ["bench", "nonsense"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_are_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "usage: eruca" in capsys.readouterr().err


def test_nobody_there_is_1_and_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topic", "list", "--nameserver", "127.0.0.1:1"]) == 1
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert "127.0.0.1:1" in text
    assert "eruca up" in text


def test_the_environment_may_name_the_name_server() -> None:
    ended = asyncio.run(eruca("topic", "list", env={"NAMESRV_ADDR": "127.0.0.1:2"}))
    assert ended.code == 1
    assert "127.0.0.1:2" in ended.err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Refused(ResponseCode.TOPIC_NOT_EXIST, "no t\nsee http"), "TOPIC_NOT_EXIST: no t; `eruca"),
        (Refused(4711, "odd"), "refused: code 4711: odd"),
        (Unreachable("x:1"), "x:1; is it up?"),
        (OutcomeUnknown("late"), "may have been done"),
        (StoreLocked("d"), "--data"),
        (DiskFull("d"), "make room"),
    ],
)
def test_errors_say_what_to_do(error: Exception, words: str) -> None:
    assert words in explained(error)  # type: ignore[arg-type]


def test_a_reader_that_has_enough_is_no_failure() -> None:
    ended = subprocess.run(
        f"{sys.executable} -m eruca produce --help | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("command", ["up", "nameserver", "broker"])
def test_servers_refuse_to_run_without_assertions(command: str) -> None:
    ended = asyncio.run(eruca(command, flags=("-O",)))
    assert ended.code == 1
    assert "python -O" in ended.err


def test_help_imports_no_server() -> None:
    code = (
        "import sys; from eruca.cli.main import main; main(['--help']);"
        "slow = ('eruca.broker', 'eruca.client', 'asyncio');"
        "bad = [name for name in sys.modules if name.startswith(slow)];"
        "sys.exit(' '.join(bad) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
