"""One user's files during one call: reached through open folders only, never by joining paths, and no link is followed."""

import errno
import fcntl
import hashlib
import os
import re
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from refusal import Refusal, shown

FILE_BYTES_MAX = 2 * 1024 * 1024
PATH_CHARS_MAX = 255
FOLDER_NAME_CHARS_MAX = 191
SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
TEMPORARY_NAME = "python.tmp"

# Without O_NONBLOCK, opening a pipe would wait for who writes into it.
NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Write:
    scope: str
    path: str
    content: bytes


@dataclass(frozen=True)
class Move:
    scope: str
    path: str
    target: str


def folder_name(user_id: str) -> str:
    """The name of the user's folder: another one for each user id, on every kind of disk, and never a path."""
    name = re.sub(r"[^A-Za-z0-9._@-]|\A\.|\.\Z", lambda found: _percent(found[0]), user_id)
    if re.match(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|\Z)", name):
        name = _percent(name[0]) + name[1:]
    if len(name) <= FOLDER_NAME_CHARS_MAX:
        return name
    ending = "%~" + hashlib.sha256(user_id.encode()).hexdigest()
    return name[: FOLDER_NAME_CHARS_MAX - len(ending)] + ending


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


class UserFolder:
    """Opens the folder at the first use, and locks it then when the call may change something. Has to be closed."""

    def __init__(self, data_dir: Path, user_id: str, *, will_change: bool) -> None:
        self._data_dir, self._user_id, self._will_change = data_dir, user_id, will_change
        self._folders = ExitStack()
        self._is_looked_up = False
        self._user: int | None = None

    def close(self) -> None:
        self._folders.close()  # gives back the lock too

    def read(self, scope: str, path: str) -> bytes | None:
        with self._parent(scope, path) as parent:
            return None if parent is None else _read_file(parent, path)

    def size(self, scope: str, path: str) -> int | None:
        """The bytes of a file that may be replaced or moved, `None` when nothing is there."""
        with self._parent(scope, path) as parent, ExitStack() as opened:
            found = None if parent is None else _open_file(parent, path, opened)
            return None if found is None else os.fstat(found).st_size

    def is_taken(self, scope: str, path: str) -> bool:
        """Whether anything lies there, be it what it may."""
        with self._parent(scope, path) as parent:
            try:
                return parent is not None and bool(os.lstat(_last(path), dir_fd=parent))
            except FileNotFoundError:
                return False

    def sizes(self, scope: str) -> dict[str, int]:
        """All files of a scope, without what is not to be used."""
        with self._parent(scope, "") as folder:
            return {} if folder is None else dict(_walk(folder, ""))

    def apply(self, changes: list[Write | Move]) -> None:
        """Makes the changes in their order. There is no journal: a power cut may leave only the first of them."""
        user = self._open_user()
        if user is None:
            user = self._make_user()
        own = _make(user, ".memcell", self._folders)
        if not self._has_owner(own):
            _replace(own, own, "owner", self._user_id.encode())
        for change in changes:
            self._apply(change, own, user)

    def _apply(self, change: Write | Move, own: int, user: int) -> None:
        if isinstance(change, Write):
            with _made_parent(user, change.scope, change.path) as parent:
                _replace(own, parent, _last(change.path), change.content)
            return
        origin, place = _made_parent(user, change.scope, change.path), _made_parent(user, change.scope, change.target)
        with origin as source, place as target:
            os.rename(_last(change.path), _last(change.target), src_dir_fd=source, dst_dir_fd=target)
            os.fsync(source)
            os.fsync(target)

    def _open_user(self) -> int | None:
        if self._is_looked_up:
            return self._user
        with ExitStack() as opened:
            user = self._find_user(opened)
            if user is not None:
                own = _make(user, ".memcell", opened) if self._will_change else _enter(user, ".memcell", opened)
                if own is not None:
                    if self._will_change:
                        _lock(own, opened)
                    self._has_owner(own)
            # Only now: a refusal closes what was opened, and is found again by the next request.
            self._folders, self._user, self._is_looked_up = opened.pop_all(), user, True
        return user

    def _has_owner(self, own: int) -> bool:
        """False when nobody has written yet. On a disk that folds case, the folder may be another user's."""
        owner = _read_file(own, "owner")
        if owner is not None and owner != self._user_id.encode():
            raise _unsafe("Cannot open the user's folder: it belongs to another user id")
        return owner is not None

    def _find_user(self, opened: ExitStack) -> int | None:
        try:
            # The data folder itself may be a link: it is the operator's to choose.
            data = _hold(os.open(self._data_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), opened)
        except FileNotFoundError:
            return None
        users = _enter(data, "users", opened)
        return None if users is None else _enter(users, folder_name(self._user_id), opened)

    def _make_user(self) -> int:
        """For a user without a folder: what this call has read, it read without the lock."""
        os.makedirs(self._data_dir, mode=0o700, exist_ok=True)
        data = _hold(os.open(self._data_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), self._folders)
        users = _make(data, "users", self._folders)
        user = _make(users, folder_name(self._user_id), self._folders)
        _lock(_make(user, ".memcell", self._folders), self._folders)
        if os.listdir(user) != [".memcell"]:
            raise _busy()  # somebody else was first, and has written since
        return user

    @contextmanager
    def _parent(self, scope: str, path: str) -> Iterator[int | None]:
        """The folder that a path's last segment lies in, `None` when there is none."""
        with ExitStack() as opened:
            folder = self._open_user()
            for name in (scope, *path.split("/")[:-1]):
                folder = None if folder is None else _enter(folder, name, opened)
            yield folder


@contextmanager
def _made_parent(folder: int, scope: str, path: str) -> Iterator[int]:
    with ExitStack() as opened:
        for name in (scope, *path.split("/")[:-1]):
            folder = _make(folder, name, opened)
        yield folder


def _hold(descriptor: int, opened: ExitStack) -> int:
    opened.callback(os.close, descriptor)
    return descriptor


def _unsafe(message: str) -> Refusal:
    return Refusal("STORAGE_UNSAFE", message)


def _busy() -> Refusal:
    return Refusal("BUSY", "Cannot use the user's folder: it is in use")


def _last(path: str) -> str:
    return path[path.rfind("/") + 1 :]


def _enter(parent: int, name: str, opened: ExitStack) -> int | None:
    """Opens a folder in an open folder, `None` when nothing is there."""
    try:
        return _hold(os.open(name, os.O_RDONLY | os.O_DIRECTORY | NO_LINK, dir_fd=parent), opened)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        raise _unsafe("Cannot open the user's folder: something else lies in a folder's place") from None


def _make(parent: int, name: str, opened: ExitStack) -> int:
    """Opens a folder in an open folder, and makes it before when nothing is there."""
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=parent)
        os.fsync(parent)
    folder = _enter(parent, name, opened)
    if folder is None:
        raise FileNotFoundError(errno.ENOENT, "a folder that was just there is gone", name)
    return folder


def _open_file(parent: int, path: str, opened: ExitStack) -> int | None:
    """Opens a regular file of one name for reading. It is judged when it is open: before that, it could be swapped."""
    try:
        file = _hold(os.open(_last(path), os.O_RDONLY | NO_LINK, dir_fd=parent), opened)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _unsafe(f"Cannot use {shown(path)}: a link is in its place") from None
        if error.errno == errno.ENXIO:  # a socket
            raise _unsafe(f"Cannot use {shown(path)}: it is not a regular file") from None
        raise
    fault = _fault(os.fstat(file))
    if fault is not None:
        raise _unsafe(f"Cannot use {shown(path)}: {fault}")
    return file


def _fault(found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    if found.st_nlink != 1:
        return f"it has {found.st_nlink} names on the disk, only 1 is allowed"
    if found.st_size > FILE_BYTES_MAX:
        return f"it is {found.st_size} bytes, at most {FILE_BYTES_MAX} allowed"
    return None


def _read_file(parent: int, path: str) -> bytes | None:
    with ExitStack() as opened:
        file = _open_file(parent, path, opened)
        if file is None:
            return None
        with open(file, "rb", closefd=False) as stream:
            return stream.read(FILE_BYTES_MAX)


def _walk(folder: int, prefix: str) -> Iterator[tuple[str, int]]:
    """Each file that may be used, and its bytes."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path = prefix + entry.name
            if not SEGMENT.fullmatch(entry.name) or len(path) > PATH_CHARS_MAX:
                continue
            if entry.is_dir(follow_symlinks=False):
                with ExitStack() as opened:
                    inner = _enter(folder, entry.name, opened)
                    if inner is not None:
                        yield from _walk(inner, f"{path}/")
            elif entry.is_file(follow_symlinks=False):
                # Who only reads has no lock: the file may be gone since it was found.
                with suppress(FileNotFoundError):
                    found = os.lstat(entry.name, dir_fd=folder)
                    if _fault(found) is None:
                        yield path, found.st_size


def _replace(own: int, folder: int, name: str, content: bytes) -> None:
    """Puts a whole file in the place of another. A crash leaves the one or the other, and at most the temporary one."""
    with suppress(FileNotFoundError):
        os.unlink(TEMPORARY_NAME, dir_fd=own)
    file = os.open(TEMPORARY_NAME, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o600, dir_fd=own)
    with os.fdopen(file, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.rename(TEMPORARY_NAME, name, src_dir_fd=own, dst_dir_fd=folder)
    os.fsync(folder)


def _lock(own: int, opened: ExitStack) -> None:
    """Takes the lock until `opened` is closed. A taken one is BUSY: the caller may come back later."""
    try:
        file = _hold(os.open("lock", os.O_RDWR | NO_LINK | os.O_CREAT, 0o600, dir_fd=own), opened)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise
        raise _unsafe('Cannot use "lock": it is not a regular file') from None
    fault = _fault(os.fstat(file))
    if fault is not None:
        raise _unsafe(f'Cannot use "lock": {fault}')
    try:
        if sys.platform == "linux":
            # struct flock: type, whence, start, length, process; of 64 bits, padded to 32 bytes. Unlike a lock of
            # fcntl.lockf it excludes other calls of this process too, and no other close of the file gives it back.
            request = struct.pack("@hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, request)
        else:
            # Elsewhere Python has no such locks. This one excludes other processes: make one call at a time here.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        raise _busy() from None
