# SPDX-License-Identifier: Apache-2.0
"""A disk in memory that forgets: after a power cut only what was synced is certain.

Every 4 KiB page that was not synced is then old, new, or torn at 512 bytes; every name that was not
synced with its directory is there or not. Files are real memory files, so compiled code maps what
it always maps. It can also be full.
"""

import mmap
import os
from collections.abc import Iterator
from random import Random

from eruca.errors import DiskFull
from eruca.store.disk import MappedFile

PAGE = 4096
SECTOR = 512


class File:
    """Memory that can be mapped, and what of it was synced."""

    def __init__(self, data: bytes = b"") -> None:
        self.fd = os.memfd_create("forgetful")
        os.pwrite(self.fd, data, 0)
        self.synced = data
        self.is_allocated = False

    def __del__(self) -> None:
        os.close(self.fd)

    @property
    def size(self) -> int:
        return os.fstat(self.fd).st_size

    def content(self) -> bytes:
        return os.pread(self.fd, self.size, 0)

    def copy(self) -> "File":
        copy = File(self.content())
        copy.synced = self.synced
        return copy

    def sync(self) -> None:
        self.synced = self.content()

    def after_power_cut(self, rng: Random) -> "File":
        old, new = self.synced, self.content()
        size = len(rng.choice((old, new)))
        old, new = old.ljust(size, b"\0")[:size], new.ljust(size, b"\0")[:size]
        kept = bytearray(old)
        for at in range(0, size, PAGE):
            fate = rng.randrange(3)
            for sector in range(at, min(at + PAGE, size), SECTOR):
                if fate == 1 or (fate == 2 and rng.randrange(2)):
                    kept[sector : sector + SECTOR] = new[sector : sector + SECTOR]
        return File(bytes(kept))


class ForgetfulDisk:
    """Everything that `eruca.store.disk.Disk` does."""

    def __init__(self) -> None:
        self.names_now: dict[str, File | None] = {"/": None}  # None: a directory.
        self.names_synced: dict[str, File | None] = {"/": None}
        self.open_files: dict[int, File] = {}
        self.last_id = 1000
        self.is_full = False
        self.ratio = 0.1
        self.changed: dict[str, int] = {}

    # What may happen to it.

    def killed(self) -> "ForgetfulDisk":
        """What the next process finds when this one is killed: everything."""
        disk = ForgetfulDisk()
        disk.names_now = {
            path: None if file is None else file.copy() for path, file in self.names_now.items()
        }
        copies = {id(file): disk.names_now[path] for path, file in self.names_now.items()}
        disk.names_synced = {
            path: None if file is None else (copies.get(id(file)) or file.copy())
            for path, file in self.names_synced.items()
        }
        disk.ratio = self.ratio
        return disk

    def after_power_cut(self, rng: Random) -> "ForgetfulDisk":
        disk = ForgetfulDisk()
        names: dict[str, File | None] = {}
        for path in sorted({*self.names_now, *self.names_synced}):
            is_now, was_synced = path in self.names_now, path in self.names_synced
            parent = path.rpartition("/")[0] or "/"
            if parent not in names and path != "/":
                continue
            if is_now and was_synced and self.names_now[path] is self.names_synced[path]:
                names[path] = self.names_now[path]
            elif rng.randrange(2):
                if is_now:
                    names[path] = self.names_now[path]
            elif was_synced:
                names[path] = self.names_synced[path]
        disk.names_now = {
            path: None if file is None else file.after_power_cut(rng)
            for path, file in names.items()
        }
        disk.names_synced = dict(disk.names_now)
        for file in disk.names_now.values():
            if file is not None:
                file.sync()
        return disk

    # Names and whole files.

    def exists(self, path: str) -> bool:
        return path in self.names_now

    def names(self, path: str) -> list[str]:
        prefix = path + "/"
        return sorted(
            name[len(prefix) :]
            for name in self.names_now
            if name.startswith(prefix) and "/" not in name[len(prefix) :]
        )

    def is_directory(self, path: str) -> bool:
        return path in self.names_now and self.names_now[path] is None

    def make_directory(self, path: str) -> None:
        while path and path not in self.names_now:
            self.names_now[path] = None
            path = path.rpartition("/")[0]

    def size(self, path: str) -> int:
        return self._file(path).size

    def changed_ms(self, path: str) -> int:
        return self.changed.get(path, 0)

    def used_ratio(self, path: str) -> float:
        return self.ratio

    def read(self, path: str) -> bytes | None:
        return self._file(path).content() if path in self.names_now else None

    def chunks(self, path: str, at: int = 0, size: int = 65536) -> Iterator[bytes]:
        data = self._file(path).content()
        for start in range(at, len(data), size):
            yield data[start : start + size]

    def replace(self, path: str, data: bytes, *, keep_backup: bool = False) -> None:
        if self.is_full:
            raise OSError(28, "no space left")
        if keep_backup and path in self.names_now:
            self.names_now[path + ".bak"] = self.names_now[path]
        self.names_now[path] = File(data)
        self.sync_parent(path)

    def remove(self, path: str) -> None:
        self.names_now.pop(path, None)

    def remove_tree(self, path: str) -> None:
        for name in [
            name for name in self.names_now if name == path or name.startswith(path + "/")
        ]:
            del self.names_now[name]

    # Mapped files.

    def map(self, path: str, size: int, *, allocate: bool = True) -> MappedFile:
        is_new = path not in self.names_now
        if is_new and self.is_full:
            raise DiskFull(path)
        file = self.names_now.setdefault(path, File())
        assert file is not None
        if allocate:
            os.ftruncate(file.fd, size)
        file.is_allocated = True
        assert file.size == size
        if is_new:
            self.sync_parent(path)
        return MappedFile(path, size, mmap.mmap(file.fd, size), self._opened(file))

    def allocate(self, file_id: int, size: int) -> None:
        assert self.open_files[file_id].size == size

    # Sparse files, read and written in place.

    def open(self, path: str, size: int = 0) -> int:
        if path not in self.names_now and self.is_full:
            raise DiskFull(path)
        file = self.names_now.setdefault(path, File())
        assert file is not None
        if size:
            os.ftruncate(file.fd, size)
        return self._opened(file)

    def read_at(self, file_id: int, at: int, size: int) -> bytes:
        return os.pread(self.open_files[file_id].fd, size, at)

    def peek(self, path: str, at: int, size: int) -> bytes:
        return os.pread(self._file(path).fd, size, at) if path in self.names_now else b""

    def cut(self, path: str, at: int, size: int) -> None:
        os.ftruncate(self._file(path).fd, at)
        os.ftruncate(self._file(path).fd, size)

    def write_at(self, file_id: int, at: int, data: bytes) -> None:
        if self.is_full and not self.open_files[file_id].is_allocated:
            raise DiskFull(str(file_id))
        os.pwrite(self.open_files[file_id].fd, data, at)

    def prefetch(self, path: str, at: int, size: int) -> None:
        pass

    def sync(self, file_id: int) -> None:
        self.open_files[file_id].sync()

    def sync_path(self, path: str) -> None:
        if path not in self.names_now:
            return
        if self.names_now[path] is not None:
            self._file(path).sync()
            return
        for name in {*self.names_now, *self.names_synced}:
            if (name.rpartition("/")[0] or "/") == path:
                if name not in self.names_now:
                    self.names_synced.pop(name)
                    continue
                self.names_synced[name] = self.names_now[name]

    def sync_parent(self, path: str) -> None:
        self.sync_path(path.rpartition("/")[0] or "/")

    def sync_all(self) -> None:
        for file in self.names_now.values():
            if file is not None:
                file.sync()
        self.names_synced = dict(self.names_now)

    def close(self, file_id: int) -> None:
        self.open_files.pop(file_id, None)

    # The right to a directory.

    def lock(self, path: str) -> int:
        return self.open(path)

    def owner_id(self) -> int:
        return 4711

    def _file(self, path: str) -> File:
        file = self.names_now[path]
        assert file is not None, f"{path} is a directory"
        return file

    def _opened(self, file: File) -> int:
        self.last_id += 1
        self.open_files[self.last_id] = file
        return self.last_id
