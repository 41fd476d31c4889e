# SPDX-License-Identifier: Apache-2.0
"""Namespaces of keys and values, kept in one file that Java can read.

    {"configTable":{"ORDER_TOPIC_CONFIG":{"topicA":"broker-a:4;broker-b:4"}}}

Always true: what `find` and `table` show is on the disk; every name and value is text that is not
empty. An entry that could not be read back is never stored: Java stored a null key once, and no
broker could start until somebody edited the file.

Called by `requests`.
"""

import logging
from typing import Final

from eruca.errors import BadField
from eruca.store.disk import Disk
from eruca.wire import javajson

log = logging.getLogger("eruca.nameserver")

ORDER_TOPICS: Final = "ORDER_TOPIC_CONFIG"  # The one namespace the name server itself uses.

NAME_LENGTH_MAX: Final = 255
VALUE_LENGTH_MAX: Final = 32_768
ENTRY_COUNT_MAX: Final = 20_000

_TABLE: Final = "configTable"

Table = dict[str, dict[str, str]]


class KeyValues:
    """The table, and its file."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._table: Table = {}
        self.bad_entry_count = 0

    def load(self) -> None:
        """Read the file, or the one before it when it is damaged; bad entries are left out."""
        damaged = False
        for path in (self._path, self._path + ".bak"):
            data = self._disk.read(path)
            if data is None:
                continue
            try:
                self._table = self._sound(javajson.loads(data))
            except BadField as error:
                damaged = True
                log.error("cannot read key values path=%s error=%s", path, error)
                self._disk.replace(path + ".damaged", data)  # The next write must not end it.
                continue
            if damaged:
                log.warning("key values are those before the last change path=%s", path)
            return
        if damaged:
            log.error("starting without key values path=%s", self._path)

    def find(self, namespace: str, key: str) -> str | None:
        return self._table.get(namespace, {}).get(key)

    def table(self, namespace: str) -> dict[str, str] | None:
        """All of a namespace, or None when there never was one."""
        return self._table.get(namespace)

    def put(self, namespace: str, key: str, value: str) -> None:
        """Store, and return when it would survive a power cut. Raises BadField and OSError."""
        _check("namespace", namespace, NAME_LENGTH_MAX)
        _check("key", key, NAME_LENGTH_MAX)
        _check("value", value, VALUE_LENGTH_MAX)
        entries = self._table.get(namespace, {})
        if key not in entries and sum(map(len, self._table.values())) >= ENTRY_COUNT_MAX:
            raise BadField("key", f"is one more than the {ENTRY_COUNT_MAX} that fit")
        self._store({**self._table, namespace: {**entries, key: value}})

    def delete(self, namespace: str, key: str) -> None:
        """Delete; nothing happens when it is not there. Raises OSError."""
        entries = self._table.get(namespace, {})
        if key in entries:
            kept = {each: value for each, value in entries.items() if each != key}
            self._store({**self._table, namespace: kept})

    def _store(self, table: Table) -> None:
        data = javajson.dumps({_TABLE: table})
        assert javajson.loads(data) == {_TABLE: table}  # What is stored can be read back.
        self._disk.make_directory(self._path.rpartition("/")[0] or ".")
        self._disk.replace(self._path, data, keep_backup=True)
        self._table = table

    def _sound(self, document: object) -> Table:
        namespaces = document.get(_TABLE) if isinstance(document, dict) else None
        if not isinstance(namespaces, dict):
            raise BadField(_TABLE, "is not an object")
        table: Table = {}
        for namespace, entries in namespaces.items():
            found = table.setdefault(str(namespace), {})
            for key, value in entries.items() if isinstance(entries, dict) else [("", None)]:
                if isinstance(key, str) and isinstance(value, str):
                    found[key] = value
                else:
                    self.bad_entry_count += 1
                    log.warning("left out a bad entry %.80r %.80r %.80r", namespace, key, value)
        return table


def _check(name: str, text: str, length_max: int) -> None:
    """Raise BadField for a text that must not be stored."""
    if not text.strip():
        raise BadField(name, "is empty")
    if len(text) > length_max:
        raise BadField(name, f"has {len(text)} characters, more than {length_max}")
    if any("\ud800" <= each <= "\udfff" for each in text):
        raise BadField(name, "has half a character")  # JSON can say it, UTF-8 cannot.
