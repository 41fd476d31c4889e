# SPDX-License-Identifier: Apache-2.0
"""`eruca store`: check and dump store directories, Eruca's or Java's, without a broker."""

import base64
import sys
from argparse import ArgumentParser, Namespace
from typing import Any, Final

from eruca.cli.main import command_parser
from eruca.cli.output import fail, say, show_json
from eruca.clock import Clock
from eruca.errors import ConfigError
from eruca.message import host_text
from eruca.store.audit import Finding, Report, audit
from eruca.store.disk import Disk
from eruca.store.walk import log_files, walk
from eruca.wire.properties import decode_properties
from eruca.wire.record import Record, decode_record

BAR_SIZE: Final = 30
BAR_INTERVAL_MS: Final = 200


def add(commands: Any) -> None:
    parser = command_parser(commands, "store", "eruca store check data/store")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    text = "read everything, compare log, queues and index"
    check = command_parser(
        actions, "check", "eruca store check data/store --json", help=text, description=text
    )
    _add_directory(check)
    check.add_argument("--json", action="store_true", help="print JSON")
    check.add_argument(
        "--index-slots",
        type=int,
        default=0,
        metavar="N",
        help="maxHashSlotNum of who wrote it (default: found out)",
    )
    check.set_defaults(run=run_check)

    text = "print records as JSON, one on a line"
    dump = command_parser(
        actions,
        "dump",
        "eruca store dump data/store --topic orders --count 10",
        help=text,
        description=text,
    )
    _add_directory(dump)
    dump.add_argument("--topic", help="only those of this topic")
    dump.add_argument(
        "--from",
        dest="begin",
        type=int,
        default=0,
        metavar="OFFSET",
        help="the log offset where to begin: a record's (default: the beginning)",
    )
    dump.add_argument("--count", type=int, metavar="N", help="stop after so many")
    dump.set_defaults(run=run_dump)


def _add_directory(parser: ArgumentParser) -> None:
    parser.add_argument("directory", help="storePathRootDir, or the --data of `eruca up`")
    parser.add_argument("--log", metavar="DIR", help="storePathCommitLog, if it lies elsewhere")


def _places(args: Namespace, disk: Disk) -> tuple[str, str]:
    """The store's directory and that of its log. Raises ConfigError when there is none."""
    for root in (args.directory, f"{args.directory}/store"):
        log_path = args.log or f"{root}/commitlog"
        if disk.is_directory(root) and disk.is_directory(log_path):
            return root, log_path
    raise ConfigError(
        f"{args.directory}: no store here: name the directory that has `commitlog` in it, "
        "or that one with --log"
    )


def run_check(args: Namespace) -> int:
    disk = Disk()
    root, log_path = _places(args, disk)
    bar = _Bar()
    report = audit(disk, root, log_path, bar.show, index_slot_count=args.index_slots)
    bar.clear()
    if args.json:
        show_json({"sound": report.is_sound, **_plain(report)})
    else:
        _say(report)
    return 0 if report.is_sound else 1


def _plain(report: Report) -> dict[str, object]:
    return {
        "log_begin": report.log_begin,
        "log_end": report.log_end,
        "segments": report.segment_count,
        "records": report.record_count,
        "queues": report.queue_count,
        "entries": report.entry_count,
        "index_files": report.index_file_count,
        "keys": report.key_count,
        "errors": report.error_count,
        "notes": report.note_count,
        "findings": [
            {"kind": _kind(each), "where": each.where, "what": each.problem}
            for each in report.findings
        ],
    }


def _kind(finding: Finding) -> str:
    return "error" if finding.is_error else "note"


def _say(report: Report) -> None:
    for each in report.findings:
        say(f"{_kind(each)}: {each.where}: {each.problem}")
    unlisted = report.error_count + report.note_count - len(report.findings)
    if unlisted:
        say(f"and {unlisted} more")
    say(
        f"{'sound' if report.is_sound else 'NOT SOUND'}: "
        f"{report.record_count} records in {report.segment_count} segments "
        f"({report.log_begin}..{report.log_end}), "
        f"{report.entry_count} entries in {report.queue_count} queues, "
        f"{report.key_count} keys in {report.index_file_count} index files; "
        f"{report.error_count} errors, {report.note_count} notes"
    )


def run_dump(args: Namespace) -> int:
    disk = Disk()
    _, log_path = _places(args, disk)
    files = log_files(disk, log_path)
    if not files:
        return fail(f"{log_path}: no log there")
    topic = None if args.topic is None else args.topic.encode()
    count = 0
    for stretch in walk(disk, files, args.begin):
        if args.count is not None and count >= args.count:
            break
        if stretch.size == 0:
            if not stretch.is_end:
                return fail(f"no sound record at {stretch.log_offset}")
            continue
        record = decode_record(stretch.data, stretch.at)
        if topic is None or record.topic == topic:
            show_json(_record(record), flush=False)
            count += 1
    sys.stdout.flush()
    return 0


def _record(record: Record) -> dict[str, object]:
    try:
        body: dict[str, object] = {"body": record.body.decode()}
    except UnicodeDecodeError:
        body = {"body_base64": base64.b64encode(record.body).decode()}
    return {
        "log_offset": record.log_offset,
        "size": record.size,
        "topic": record.topic.decode("utf-8", "replace"),
        "queue": record.queue_id,
        "offset": record.queue_offset,
        "stored_ms": record.store_ms,
        "born_ms": record.born_ms,
        "born_host": host_text(record.born_host),
        "store_host": host_text(record.store_host),
        "system_flag": record.sys_flag,
        "flag": record.flag,
        "reconsumed": record.reconsume_count,
        "properties": decode_properties(record.properties.decode("utf-8", "replace")),
        **body,
    }


class _Bar:
    """How far it is, how fast, on standard error if somebody looks at it."""

    def __init__(self) -> None:
        self._is_seen = sys.stderr.isatty()
        self._clock = Clock()
        self._begin_ms = self._shown_ms = self._clock.mono_ms()

    def show(self, done: int, of: int) -> None:
        now_ms = self._clock.mono_ms()
        if not self._is_seen or now_ms - self._shown_ms < BAR_INTERVAL_MS:
            return
        self._shown_ms = now_ms
        filled = BAR_SIZE * done // max(of, 1)
        rate = done / max(now_ms - self._begin_ms, 1) / 1e3
        bar = "#" * filled + "." * (BAR_SIZE - filled)
        sys.stderr.write(f"\r[{bar}] {done / 1e6:,.0f} of {of / 1e6:,.0f} MB, {rate:,.0f} MB/s ")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._is_seen:
            sys.stderr.write("\r\033[K")
