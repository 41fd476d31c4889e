# SPDX-License-Identifier: Apache-2.0
"""One JSON file of the broker's state, its previous version beside it as `.bak`, as in Java.

Always true: of the file and its .bak, one is whole, whenever the machine stops. So a file that
does not read is a warning and the .bak is used; when both exist in vain, or one alone does not
read, the start is refused: to begin from nothing would lose topics, or consumers' places, in
silence. An entry that does not read is left out, with a warning, and the rest is used.

Topics, groups and offsets own one each. They change in memory and are saved as a whole; a file
rests for nine times as long as its last save took, so that saving a large one often costs at
most a tenth of the time.
"""

import logging
from typing import Any, TypeVar

from eruca.clock import Clock
from eruca.errors import BadField, ConfigError, DiskFull
from eruca.store.disk import Disk
from eruca.wire import javajson
from eruca.wire.fields import from_json, to_json

log = logging.getLogger("eruca.broker")

T = TypeVar("T")

REST_FACTOR = 9
REST_AFTER_FAILURE_MS = 1000


class StateFile:
    """Reads and replaces one file."""

    def __init__(self, disk: Disk, path: str, clock: Clock) -> None:
        self.path = path
        self.fallback_count = 0
        self.skipped_count = 0
        self.failed_count = 0
        self._disk = disk
        self._clock = clock
        self._is_sound = True
        self._rest_until_ms = 0

    @property
    def is_rested(self) -> bool:
        """Whether saving again would not cost too much of the time."""
        return self._clock.mono_ms() >= self._rest_until_ms

    def load(self, kind: type[T]) -> T | None:
        """What the file says, as a `kind` whose members may all be missing; None if there is none.

        Raises ConfigError when something is there and none of it reads.
        """
        broken = []
        for path in (self.path, self.path + ".bak"):
            data = self._disk.read(path)
            if data is None:
                continue
            try:
                found = self._read(kind, javajson.loads(data))
            except (BadField, RecursionError) as error:
                log.error("state file does not read path=%s error=%s", path, error)
                broken.append(path)
                continue
            if broken:
                self.fallback_count += 1
                self._is_sound = False  # Whatever replaces it must not replace the .bak too.
                log.warning("using the previous version path=%s", path)
            return found
        if broken:
            raise ConfigError(
                f"{' and '.join(broken)}: not readable; restore one of them, or remove them "
                "to start without what they held"
            )
        return None

    def save(self, content: object) -> bool:
        """Replace the file by a dataclass of wire fields; False when the disk refused."""
        began_ms = self._clock.mono_ms()
        data = javajson.dumps(to_json(content))
        try:
            self._disk.replace(self.path, data, keep_backup=self._is_sound)
        except (OSError, DiskFull) as error:
            self.failed_count += 1
            self._rest_until_ms = began_ms + REST_AFTER_FAILURE_MS
            log.error("state file not saved path=%s error=%s", self.path, error)
            return False
        self._is_sound = True
        ended_ms = self._clock.mono_ms()
        self._rest_until_ms = ended_ms + REST_FACTOR * (ended_ms - began_ms)
        return True

    def _read(self, kind: type[T], raw: Any) -> T:
        try:
            return from_json(kind, raw)
        except BadField:
            if not isinstance(raw, dict):
                raise
        sound = {member: self._sound_part(kind, member, each) for member, each in raw.items()}
        return from_json(kind, sound)

    def _sound_part(self, kind: type[Any], member: str, value: Any) -> Any:
        """`value` without those of its entries that do not read."""
        if not isinstance(value, dict) or _reads(kind, {member: value}):
            return value
        entries = {key: each for key, each in value.items() if _reads(kind, {member: {key: each}})}
        for key in value.keys() - entries.keys():
            self.skipped_count += 1
            log.warning("entry left out path=%s entry=%s.%s", self.path, member, key)
        return entries


def _reads(kind: type[Any], raw: dict[str, Any]) -> bool:
    try:
        from_json(kind, raw)
    except BadField:
        return False
    return True
