"""The five capabilities, as one call may use them: checked, limited, and staged until the call has succeeded."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import chain
from typing import Any, NoReturn

from plugin_file import RIGHT_OF, Tool
from refusal import Refusal, shown, storage_failure
from strict_json import all_text, decoded, encoded
from user_folder import FILE_BYTES_MAX, PATH_CHARS_MAX, SEGMENT, Move, UserFolder, Write

REQUESTS_MAX = 10_000
CHANGED_FILES_MAX = 2500
CALL_BYTES_MAX = SCOPE_BYTES_MAX = 64 * 1024 * 1024
LISTED_FILES_MAX = 20_000

# The keys of each capability's request.
KEYS = {
    "store_read": {"scope", "path"},
    "store_list": {"scope", "prefix"},
    "store_write": {"scope", "path", "content"},
    "store_trash": {"scope", "path"},
    "clock_now": set[str](),
}


@dataclass
class Staged:
    """A file as this call sees it: what it has written, or where on the disk it lies until the call has succeeded."""

    size: int
    content: bytes | None
    origin: str


@dataclass
class Call:
    """What the capabilities work on during one call. Changes are staged, so that a failed call leaves no trace."""

    tool: Tool
    folder: UserFolder
    epoch_ms: int
    changes: list[Write | Move] = field(default_factory=list)
    changed: set[tuple[str, str]] = field(default_factory=set)
    staged: dict[tuple[str, str], Staged | None] = field(default_factory=dict)  # None: moved away
    sizes: dict[str, dict[str, int]] = field(default_factory=dict)  # of the disk's files, by scope
    growth: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    written_bytes: int = 0
    told: set[str] = field(default_factory=set)
    verdict: Refusal | None = None  # decides the call, whatever the guest answers
    fault: BaseException | None = None  # of the host itself; raised again after the call

    def answer(self, name: str, request: bytes) -> bytes:
        """The reply to one request."""
        try:
            return encoded({"ok": True, **self._perform(name, request)})
        except Refusal as error:
            refusal = error
        except OSError as error:
            refusal = storage_failure(error)
        self.told.add(refusal.code)
        if refusal.code in ("CAPABILITY_DENIED", "BUSY"):
            self.verdict = self.verdict or refusal
        return encoded(refusal.envelope)

    def _perform(self, name: str, request: bytes) -> dict[str, Any]:
        if self.requests >= REQUESTS_MAX:
            denied(f"Cannot call {name}: this call has asked {REQUESTS_MAX} times, no more is allowed")
        self.requests += 1
        if RIGHT_OF[name] not in self.tool.rights:
            denied(f'Cannot call {name}: this call is not granted "{RIGHT_OF[name]}"')
        fields = checked_fields(name, request)
        if name == "clock_now":
            return {"epochMs": self.epoch_ms}
        scope = fields["scope"]
        if scope not in self.tool.scopes:
            granted = ", ".join(f'"{each}"' for each in self.tool.scopes)
            denied(f"Cannot use scope {shown(scope)}: this call is granted {granted}")
        if name == "store_list":
            return self._list(scope, fields.get("prefix", ""))
        path = fields["path"]
        if not is_path(path):
            denied_path(path)
        if name == "store_read":
            return self._read(scope, path)
        if is_trash(path):
            denied(f"Cannot change {shown(path)}: what lies in trash/ is not a tool's to change")
        return self._write(scope, path, fields["content"]) if name == "store_write" else self._trash(scope, path)

    def _read(self, scope: str, path: str) -> dict[str, Any]:
        staged = self.staged.get((scope, path), Staged(0, None, path))
        if staged is None:
            return {"content": None}
        content = self.folder.read(scope, staged.origin) if staged.content is None else staged.content
        try:
            return {"content": None if content is None else content.decode()}
        except UnicodeDecodeError:
            raise Refusal("ENTRY_UNREADABLE", f"Cannot read {shown(path)}: it is not UTF-8 text") from None

    def _list(self, scope: str, prefix: str) -> dict[str, Any]:
        if prefix and not is_path(prefix.removesuffix("/")):
            denied(f"Cannot list {shown(prefix)}: it is not the beginning of a path")
        files: dict[str, int | None] = {**self._sizes_on_disk(scope)}
        for (of_scope, path), staged in self.staged.items():
            if of_scope == scope:
                files[path] = None if staged is None else staged.size
        entries = [
            {"path": path, "bytes": size}
            for path, size in sorted(files.items())
            if size is not None and path.startswith(prefix) and (is_trash(prefix) or not is_trash(path))
        ]
        if len(entries) > LISTED_FILES_MAX:
            raise Refusal("QUOTA_EXCEEDED", f"Cannot list files: more than {LISTED_FILES_MAX} are there")
        return {"entries": entries}

    def _write(self, scope: str, path: str, text: str) -> dict[str, Any]:
        in_its_way = self._in_the_way(scope, path)
        if in_its_way is not None:
            denied(f"Cannot write {shown(path)}: this call has made {shown(in_its_way)}")
        self._count_change(scope, path)
        before, content = self._size(scope, path) or 0, text.encode()
        growth = self.growth.get(scope, 0) + len(content) - before
        if len(content) > FILE_BYTES_MAX:
            exceeded(path, f"it is {len(content)} bytes, at most {FILE_BYTES_MAX} allowed")
        total = sum(self._sizes_on_disk(scope).values()) + growth
        if total > SCOPE_BYTES_MAX and growth > 0:
            told = f"would hold {total} bytes with its trash, at most {SCOPE_BYTES_MAX} allowed"
            exceeded(path, f"the user's {shown(scope)} {told}")
        if self.written_bytes + len(content) > CALL_BYTES_MAX:
            told = f"would write {self.written_bytes + len(content)} bytes, at most {CALL_BYTES_MAX} allowed"
            exceeded(path, f"this call {told}")
        self.growth[scope] = growth
        self.written_bytes += len(content)
        self.changes.append(Write(scope, path, content))
        self.staged[scope, path] = Staged(len(content), content, path)
        return {}

    def _trash(self, scope: str, path: str) -> dict[str, Any]:
        """Stages a move to trash/<base>.<UTC stamp><ending>, with a number behind the stamp while that is taken."""
        self._count_change(scope, path)
        size = self._size(scope, path)
        if size is None:
            denied(f"Cannot trash {shown(path)}: no such file")
        moved = self.staged.get((scope, path)) or Staged(size, None, path)
        dot = path.rfind(".")
        base, ending = (path[:dot], path[dot:]) if dot > path.rfind("/") + 1 else (path, "")
        time_of_call = datetime.fromtimestamp(self.epoch_ms // 1000, timezone.utc)
        stamp = f"{time_of_call:%Y%m%dT%H%M%S}{self.epoch_ms % 1000:03d}Z"
        target, count = f"trash/{base}.{stamp}{ending}", 1
        while self.staged.get((scope, target)) or self.folder.is_taken(scope, target):
            count += 1
            target = f"trash/{base}.{stamp}-{count}{ending}"
        if not is_path(target):
            denied_path(target)
        self.changes.append(Move(scope, path, target))
        self.staged |= {(scope, path): None, (scope, target): moved}
        return {"trashed": target}

    def _in_the_way(self, scope: str, path: str) -> str | None:
        """A file of this call that would be a folder of the path, or lie in the path as in a folder."""
        above = (path[:end] for end, character in enumerate(path) if character == "/")
        below = (other for of_scope, other in self.staged if of_scope == scope and other.startswith(f"{path}/"))
        return next((other for other in chain(above, below) if self.staged.get((scope, other))), None)

    def _count_change(self, scope: str, path: str) -> None:
        self.changed.add((scope, path))
        if len(self.changed) > CHANGED_FILES_MAX:
            told = f"this call has changed {CHANGED_FILES_MAX} files, at most {CHANGED_FILES_MAX} allowed"
            raise Refusal("QUOTA_EXCEEDED", f"Cannot change {shown(path)}: {told}")

    def _size(self, scope: str, path: str) -> int | None:
        if (scope, path) not in self.staged:
            return self.folder.size(scope, path)
        staged = self.staged[scope, path]
        return None if staged is None else staged.size

    def _sizes_on_disk(self, scope: str) -> dict[str, int]:
        if scope not in self.sizes:
            self.sizes[scope] = self.folder.sizes(scope)
        return self.sizes[scope]


def checked_fields(name: str, request: bytes) -> dict[str, str]:
    try:
        # A number is wrong whatever its value: kept out of Python, which fails for one of 5,000 digits.
        fields = decoded(request.decode(), number=len)
        json.dumps(fields, ensure_ascii=False).encode()  # fails for half of a surrogate pair
    except ValueError:
        denied(f"Cannot call {name}: the request is not JSON")
    except RecursionError:
        fields = None  # nested as deeply as no request is
    required = KEYS[name] - {"prefix"}
    if not isinstance(fields, dict) or not required <= fields.keys() <= KEYS[name] or not all_text(fields.values()):
        denied(f"Cannot call {name}: the request has not the form that ABI version 1 gives it")
    return fields


def is_path(path: str) -> bool:
    return len(path) <= PATH_CHARS_MAX and all(map(SEGMENT.fullmatch, path.split("/")))


def is_trash(path: str) -> bool:
    return path.lower() == "trash" or path.lower().startswith("trash/")


def denied(message: str) -> NoReturn:
    raise Refusal("CAPABILITY_DENIED", message)


def denied_path(path: str) -> NoReturn:
    denied(f'Cannot use path {shown(path)}: allowed are relative paths inside the scope, without "." and ".."')


def exceeded(path: str, reason: str) -> NoReturn:
    raise Refusal("QUOTA_EXCEEDED", f"Cannot write {shown(path)}: {reason}")
