# SPDX-License-Identifier: Apache-2.0
"""Files: the only module that asks the system for them.

Everything else is handed a `Disk`. A simulator hands in another one, whose maps are anonymous and
which forgets what was not synced; so nothing outside may open, map, rename or remove a file.

A mapped file is allocated before it is mapped: on a full disk that is an error when the file is
made (`DiskFull`), and never a signal that kills the process when a page is first touched.
"""

import errno
import fcntl
import mmap
import os
import shutil
from collections.abc import Iterator
from typing import final

from eruca.errors import DiskFull, StoreLocked

READ_CHUNK_SIZE = 1 << 20
PREFETCH_SIZE = 1 << 20


@final
class MappedFile:
    """A file of fixed size in memory: `map` is its bytes, `file_id` what `Disk.sync` takes."""

    __slots__ = ("file_id", "map", "path", "size")

    def __init__(self, path: str, size: int, mapped: mmap.mmap, file_id: int) -> None:
        self.path = path
        self.size = size
        self.map = mapped
        self.file_id = file_id


@final
class Disk:
    """The file system of this machine."""

    # Names and whole files.

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def names(self, path: str) -> list[str]:
        """The sorted names in a directory; none when there is no such directory."""
        try:
            return sorted(os.listdir(path))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def make_directory(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def size(self, path: str) -> int:
        return os.path.getsize(path)

    def changed_ms(self, path: str) -> int:
        """When the file was last written to."""
        return os.stat(path).st_mtime_ns // 1_000_000

    def used_ratio(self, path: str) -> float:
        """How full the disk is that holds `path`: 0.0 to 1.0, as df tells it."""
        usage = os.statvfs(path)
        used = usage.f_blocks - usage.f_bfree
        return used / (used + usage.f_bavail) if used + usage.f_bavail else 0.0

    def read(self, path: str) -> bytes | None:
        """The whole file, or None when there is none."""
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def chunks(self, path: str, at: int = 0, size: int = READ_CHUNK_SIZE) -> Iterator[bytes]:
        """The file from `at` on, piece by piece: a damaged file is read, never mapped."""
        with open(path, "rb") as file:
            file.seek(at)
            while chunk := file.read(size):
                yield chunk

    def replace(self, path: str, data: bytes, *, keep_backup: bool = False) -> None:
        """Put `data` into `path` so that a crash leaves the old or the new content, whole.

        With `keep_backup` the old content stays beside it as `path`.bak, as Java leaves it.
        """
        aside = path + ".tmp"
        with open(aside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if keep_backup and os.path.exists(path):
            os.replace(path, path + ".bak")
        os.replace(aside, path)
        self.sync_parent(path)

    def remove(self, path: str) -> None:
        try:
            os.remove(path)
        except FileNotFoundError:
            pass

    def remove_tree(self, path: str) -> None:
        shutil.rmtree(path, ignore_errors=True)

    # Mapped files.

    def map(self, path: str, size: int, *, allocate: bool = True) -> MappedFile:
        """Map `path`, made, allocated to `size` bytes and entered in its directory first.

        Raises DiskFull; a file that it made is gone then. Without `allocate` the file, which
        exists with this size, is not written to any more.
        """
        is_new = not os.path.exists(path)
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if allocate:
                if os.fstat(fd).st_size != size:
                    os.ftruncate(fd, size)
                os.posix_fallocate(fd, 0, size)
            if is_new:
                self.sync_parent(path)
            return MappedFile(path, size, mmap.mmap(fd, size), fd)
        except OSError as error:
            os.close(fd)
            if is_new:
                os.remove(path)
            raise _refused(error, path) from None

    def allocate(self, file_id: int, size: int) -> None:
        """Have the disk hold room for all of a file. Raises DiskFull."""
        try:
            os.posix_fallocate(file_id, 0, size)
        except OSError as error:
            raise _refused(error, str(file_id)) from None

    def unmap(self, file: MappedFile) -> None:
        file.map.close()
        os.close(file.file_id)

    # Sparse files, read and written in place.

    def open(self, path: str, size: int = 0) -> int:
        """A file to `read_at` and `write_at`, made with `size` bytes (a hole) when missing."""
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            if size and os.fstat(fd).st_size != size:
                os.ftruncate(fd, size)
        except OSError as error:
            raise _refused(error, path) from None
        return fd

    def read_at(self, file_id: int, at: int, size: int) -> bytes:
        return os.pread(file_id, size, at)

    def peek(self, path: str, at: int, size: int) -> bytes:
        """Up to `size` bytes of a file that is not kept open; nothing when there is none."""
        try:
            fd = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return b""
        try:
            return os.pread(fd, size, at)
        finally:
            os.close(fd)

    def cut(self, path: str, at: int, size: int) -> None:
        """Make everything from byte `at` on a hole, in a file that keeps `size` bytes."""
        fd = os.open(path, os.O_RDWR)
        try:
            os.ftruncate(fd, at)
            os.ftruncate(fd, size)
        finally:
            os.close(fd)

    def write_at(self, file_id: int, at: int, data: bytes) -> None:
        """Write all of `data`. Raises DiskFull."""
        try:
            while data:
                done = os.pwrite(file_id, data, at)
                data = data[done:]
                at += done
        except OSError as error:
            raise _refused(error, str(file_id)) from None

    def prefetch(self, path: str, at: int, size: int) -> None:
        """Have these bytes in memory, so that writing them need not wait for it. Blocks.

        They are read, since advice reaches only as far as the kernel is set to read ahead; and in
        small parts, since the kernel locks the pages of a part, and its core, until it has all.
        """
        nowhere = [bytearray(PREFETCH_SIZE // 8)] * 8
        fd = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)  # No more than is asked for.
            for begin in range(at, at + size, PREFETCH_SIZE):
                os.preadv(fd, nowhere, begin)
        finally:
            os.close(fd)

    def sync(self, file_id: int) -> None:
        """Return when what was written to the file would survive a power cut. Blocks."""
        os.fdatasync(file_id)

    def sync_path(self, path: str) -> None:
        """The same for a file or a directory that is not open; nothing if it is gone."""
        try:
            fd = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_parent(self, path: str) -> None:
        """Make the name of a file or directory durable."""
        self.sync_path(os.path.dirname(os.path.abspath(path)))

    def sync_all(self) -> None:
        """The same for every file of the machine: cheaper than thousands one by one."""
        os.sync()

    def close(self, file_id: int) -> None:
        os.close(file_id)

    # The right to a directory.

    def lock(self, path: str) -> int:
        """Hold `path` against other processes, Java's included. Raises StoreLocked."""
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        except OSError:
            os.close(fd)
            raise StoreLocked(f"{path} is held by another process") from None
        os.pwrite(fd, b"lock", 0)
        return fd

    def owner_id(self) -> int:
        return os.getpid()


def _refused(error: OSError, path: str) -> Exception:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"no room for {path}")
    return error
