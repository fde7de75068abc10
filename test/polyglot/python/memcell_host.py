"""Hosts a memcell plugin under the Extism Python SDK: capability ABI version 1 over one folder of files for each user.

A template to copy, with plugin_file.py, user_folder.py and refusal.py. A plugin has no network, no WASI, no environment
and no file beyond the scopes that its manifest names for a tool, in the folder of the user on whose behalf it is called.
"""

import json
import os
import re
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn

# wasmtime would keep compiled code in the home folder and run what it finds there, whoever has put it in. Who has a
# folder that only this program can write to may say so; loading a plugin then takes some milliseconds instead of seconds.
os.environ.setdefault("EXTISM_CACHE_CONFIG", "")

import extism  # noqa: E402
from extism.extism import CompiledPlugin  # noqa: E402

from plugin_file import RIGHT_OF, Tool, read_plugin  # noqa: E402
from refusal import Refusal, shown  # noqa: E402
from user_folder import FILE_BYTES_MAX, PATH_CHARS_MAX, SEGMENT, Move, UserFolder, Write  # noqa: E402

USER_ID_BYTES_MAX = 128
INPUT_BYTES_MAX = OUTPUT_BYTES_MAX = 512 * 1024
OUTPUT_DEPTH_MAX = 64
REQUESTS_MAX = 10_000
REQUEST_BYTES_MAX = 8 * 1024 * 1024
CHANGES_MAX = 2500
CALL_BYTES_MAX = SCOPE_BYTES_MAX = 64 * 1024 * 1024
LISTED_FILES_MAX = 20_000
# Requests, replies and the answer lie in the kernel's memory, which has no maximum of its own.
KERNEL_PAGES_MAX = 1024

# The keys of each capability's request.
KEYS = {
    "store_read": {"scope", "path"},
    "store_list": {"scope", "prefix"},
    "store_write": {"scope", "path", "content"},
    "store_trash": {"scope", "path"},
    "clock_now": set[str](),
}

# What a plugin may report without having been told it.
GUEST_CODES = frozenset(
    "INPUT_INVALID ENTRY_NOT_FOUND ENTRY_UNREADABLE NAME_RESERVED NAME_CONFLICT QUOTA_EXCEEDED CAPABILITY_DENIED "
    "GUEST_TRAPPED FUEL_EXHAUSTED MEMORY_EXCEEDED".split()
)
CODES = GUEST_CODES | frozenset(
    "TOOL_UNKNOWN USER_REQUIRED USER_INVALID BUSY CLOSED CANCELLED OUTPUT_INVALID DEADLINE_EXCEEDED OUTPUT_TOO_LARGE "
    "PLUGIN_REFUSED STORAGE_UNSAFE STORAGE_FULL STORAGE_FAILED INTERNAL".split()
)


class Host:
    """A plugin, compiled once. Each call gets an instance of its own."""

    def __init__(
        self,
        plugin_path: str | Path,
        data_dir: str | Path,
        *,
        sha256: str | None = None,
        fuel_polls: int | None = None,
        deadline_ms: int | None = None,
    ) -> None:
        """Raises `Refusal` when the file is no plugin. `sha256` pins the file; the limits can only be lowered."""
        plugin = read_plugin(Path(plugin_path).read_bytes(), sha256)
        self.tools = plugin.tools
        self._data_dir = Path(data_dir)
        self._deadline_ms = min(plugin.deadline_ms, deadline_ms or plugin.deadline_ms)
        manifest = {
            "wasm": [{"data": plugin.wasm}],
            "timeout_ms": self._deadline_ms,
            # How far the memories of guest and kernel may grow, together. The guest's own maximum holds besides.
            "memory": {"max_pages": plugin.memory_pages_max - plugin.memory_pages_min + KERNEL_PAGES_MAX},
            "config": {} if fuel_polls is None else {"memcell.fuelPolls": str(fuel_polls)},
        }
        try:
            # An explicit list: the default is every function that any module of the process has ever decorated.
            self._compiled = CompiledPlugin(manifest, wasi=False, functions=CAPABILITIES)
        except extism.Error as cause:
            raise Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it cannot be compiled or linked") from cause

    def call(
        self,
        tool_name: str,
        tool_input: object,
        user_id: str | None,
        *,
        audience: str = "model",
        epoch_ms: int | None = None,
    ) -> dict[str, Any]:
        """The envelope of one call: `{"ok": True, "message", "data"}` or `{"ok": False, "error"}`."""
        try:
            tool = self._tool(tool_name, audience)
            user = checked_user_id(user_id)
            text = checked_input(tool, tool_input)
            with UserFolder(self._data_dir, user, will_change=bool(tool.rights & {"write", "trash"})) as folder:
                call = Call(tool, folder, time.time_ns() // 1_000_000 if epoch_ms is None else epoch_ms)
                envelope = self._finish(call, self._run(call, text))
                if envelope["ok"] and call.changes:
                    folder.apply(call.changes)
                return envelope
        except Refusal as refusal:
            return refusal.envelope
        except OSError as error:
            return storage_failure(error).envelope

    def _tool(self, name: str, audience: str) -> Tool:
        tools = {tool.name: tool for tool in self.tools if tool.audience == audience}
        if name not in tools:
            raise Refusal("TOOL_UNKNOWN", f"Cannot call {shown(name)}: no such tool, allowed: {', '.join(tools)}")
        return tools[name]

    def _run(self, call: "Call", text: bytes) -> "Outcome":
        with Instance(self._compiled) as instance:
            start = time.monotonic()
            outcome = Outcome()
            try:
                # Of an output that is too long only the beginning is copied.
                outcome.output_bytes, outcome.output = instance.call(
                    call.tool.export,
                    text,
                    parse=lambda data: (len(data), data[: OUTPUT_BYTES_MAX + 1]),
                    host_context=call,
                )
            except extism.Error as error:
                outcome.error, outcome.is_trap = str(error), instance.code == Instance.FAILED
            except (ValueError, OverflowError, MemoryError):
                outcome.is_trap = True  # an error that is not UTF-8, or a length that nothing can have
            outcome.is_late = time.monotonic() - start > self._deadline_ms / 1000
            return outcome

    def _finish(self, call: "Call", outcome: "Outcome") -> dict[str, Any]:
        """Judges a call's outcome."""
        name = call.tool.name
        if call.fault is not None:
            raise call.fault
        if outcome.is_late:
            raise Refusal("DEADLINE_EXCEEDED", f"Cannot finish {name}: it ran for over {self._deadline_ms} ms")
        if call.verdict is not None:
            raise call.verdict
        if outcome.error == "oom":
            # libextism's word for memory that may not grow. Not the plugin's: that gets no turn to say so.
            raise Refusal("MEMORY_EXCEEDED", "Cannot finish the call: the plugin's wasm memory is used up")
        if outcome.is_trap:
            raise crashed(name)
        if outcome.error is not None:
            return judged_error(call, outcome.error)
        return judged_output(name, outcome)


class Instance(extism.Plugin):  # type: ignore[misc]
    """Keeps the code that the SDK drops. With it, an error that a guest sets before it traps is known for what it is."""

    FAILED = -1  # libextism's code for a function that did not return. A guest's own -1 counts as the same.
    code = FAILED

    def _check_error(self, code: int) -> None:
        self.code = code
        super()._check_error(code)


@dataclass
class Outcome:
    """What an export left: an output, or an error. Of a trap the text is the engine's and shown to nobody."""

    output: bytes = b""
    output_bytes: int = 0
    error: str | None = None
    is_trap: bool = False
    is_late: bool = False


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
    staged: dict[tuple[str, str], Staged | None] = field(default_factory=dict)  # None: moved away
    sizes: dict[str, dict[str, int]] = field(default_factory=dict)  # of the disk's files, by scope
    growth: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    written_bytes: int = 0
    told: set[str] = field(default_factory=set)
    verdict: Refusal | None = None  # decides the call, whatever the guest answers
    fault: BaseException | None = None

    def answer(self, name: str, request: bytes) -> bytes:
        """The reply to one request. Raises nothing: cffi prints what is raised here, and the guest goes on with 0."""
        try:
            return encoded({"ok": True, **self._perform(name, request)})
        except Refusal as error:
            refusal = error
        except OSError as error:
            refusal = storage_failure(error)
        except BaseException as error:  # a fault of the host, or Ctrl-C: raised again after the call
            self.fault = self.fault or error
            refusal = Refusal("INTERNAL", f"Cannot call {name}: the host has failed")
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
            denied(f'Cannot use path {shown(path)}: allowed are relative paths inside the scope, without "." and ".."')
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
        for (of_scope, other), staged in self.staged.items():
            if of_scope == scope and staged and (other.startswith(f"{path}/") or path.startswith(f"{other}/")):
                denied(f"Cannot write {shown(path)}: this call has made {shown(other)}")
        self._count_change(path)
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
        self._count_change(path)
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
        self.changes.append(Move(scope, path, target))
        self.staged |= {(scope, path): None, (scope, target): moved}
        return {"trashed": target}

    def _count_change(self, path: str) -> None:
        if len(self.changes) >= CHANGES_MAX:
            told = f"this call has changed {CHANGES_MAX} files, at most {CHANGES_MAX} allowed"
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


def denied(message: str) -> NoReturn:
    raise Refusal("CAPABILITY_DENIED", message)


def exceeded(path: str, reason: str) -> NoReturn:
    raise Refusal("QUOTA_EXCEEDED", f"Cannot write {shown(path)}: {reason}")


def crashed(tool_name: str) -> Refusal:
    return Refusal("GUEST_TRAPPED", f"Cannot finish {tool_name}: the plugin's code crashed")


def storage_failure(error: OSError) -> Refusal:
    """Without the error's own text, which may name places of this machine."""
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refusal("STORAGE_FULL", "Cannot use the user's folder: the disk is full")
    reason = errno.errorcode.get(error.errno or 0, "unknown")
    return Refusal("STORAGE_FAILED", f"Cannot use the user's folder: the disk refused ({reason})")


def is_path(path: str) -> bool:
    return len(path) <= PATH_CHARS_MAX and all(map(SEGMENT.fullmatch, path.split("/")))


def is_trash(path: str) -> bool:
    return path.lower() == "trash" or path.lower().startswith("trash/")


def encoded(value: object) -> bytes:
    """JSON in as few bytes as it takes. Half of a surrogate pair, which UTF-8 cannot hold, becomes an escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")


def no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def checked_user_id(user_id: object) -> str:
    if user_id is None:
        raise Refusal("USER_REQUIRED", "Cannot call a tool: ctx.userId is missing, every call needs a user")
    text = user_id if isinstance(user_id, str) else str(user_id)
    is_allowed = text == user_id and text == text.strip() and text not in (".", "..")
    is_plain = not any(character in "/\\" or unicodedata.category(character) in ("Cc", "Cs") for character in text)
    if not is_allowed or not is_plain or not 1 <= len(text.encode(errors="replace")) <= USER_ID_BYTES_MAX:
        allowed = '1 to 128 bytes without control characters, "/", "\\", leading or trailing space, and other than "." and ".."'
        raise Refusal("USER_INVALID", f"Cannot call a tool: ctx.userId is {shown(text)}, allowed: {allowed}")
    return text


def checked_input(tool: Tool, tool_input: object) -> bytes:
    """The JSON text that the guest gets."""
    try:
        text = encoded(tool_input)
    except (TypeError, ValueError, RecursionError):
        found, allowed = f"a {type(tool_input).__name__} that is not JSON", "a JSON value"
    else:
        if len(text) <= INPUT_BYTES_MAX:
            return text
        found, allowed = f"{len(text)} bytes of JSON", f"at most {INPUT_BYTES_MAX} bytes"
    issue = {"field": "input", "value": found, "allowed": allowed}
    raise Refusal("INPUT_INVALID", f"Cannot call {tool.name}: input is {found}, allowed: {allowed}", [issue])


def checked_fields(name: str, request: bytes) -> dict[str, str]:
    try:
        # Decoded here, because json.loads would guess UTF-16 and UTF-32 too. A number is wrong whatever its value: kept
        # out of Python, which fails for one of 5,000 digits.
        fields = json.loads(request.decode(), parse_constant=no_constant, parse_int=len, parse_float=len)
        json.dumps(fields, ensure_ascii=False).encode()  # fails for half of a surrogate pair
    except ValueError:
        denied(f"Cannot call {name}: the request is not JSON")
    except RecursionError:
        fields = None  # nested as deeply as no request is
    required = KEYS[name] - {"prefix"}
    if not isinstance(fields, dict) or not required <= fields.keys() <= KEYS[name] or not all_text(fields.values()):
        denied(f"Cannot call {name}: the request has not the form that ABI version 1 gives it")
    return fields


def all_text(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def levels(text: str) -> int:
    """How many arrays and objects lie in each other. Counted before the text is read: Python's reader recurses."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def judged_output(name: str, outcome: Outcome) -> dict[str, Any]:
    if outcome.output_bytes > OUTPUT_BYTES_MAX:
        told = f"its answer is {outcome.output_bytes} bytes, at most {OUTPUT_BYTES_MAX} allowed"
        raise Refusal("OUTPUT_TOO_LARGE", f"Cannot finish {name}: {told}")
    try:
        text = outcome.output.decode()
        depth = levels(text)
        if depth > OUTPUT_DEPTH_MAX:
            told = f"it is {depth} levels deep, at most {OUTPUT_DEPTH_MAX} allowed"
            raise Refusal("OUTPUT_INVALID", f"Cannot use the answer of {name}: {told}")
        envelope = json.loads(text, parse_constant=no_constant)
        encoded(envelope)  # fails for a number that only Python holds: 1e999 is its infinity
    except ValueError:
        envelope = None
    if isinstance(envelope, dict) and envelope.keys() == {"ok", "message", "data"}:
        if envelope["ok"] is True and isinstance(envelope["message"], str):
            return envelope
    raise Refusal("OUTPUT_INVALID", f"Cannot use the answer of {name}: its output is not a success envelope")


def judged_error(call: Call, text: str) -> dict[str, Any]:
    try:
        envelope = json.loads(text, parse_constant=no_constant) if levels(text) <= OUTPUT_DEPTH_MAX else None
    except ValueError:
        raise crashed(call.tool.name) from None
    refused = f"Cannot use the answer of {call.tool.name}: "
    if len(text.encode()) > OUTPUT_BYTES_MAX:
        raise Refusal("OUTPUT_INVALID", f"{refused}its error is too long")
    if not is_failure(envelope):
        raise Refusal("OUTPUT_INVALID", f"{refused}its error is not a failed envelope")
    code = envelope["error"]["code"]
    if code not in GUEST_CODES | call.told:
        raise Refusal("OUTPUT_INVALID", f"{refused}it reports {code}, which nobody told it")
    return dict(envelope)


def is_failure(envelope: Any) -> bool:
    if not isinstance(envelope, dict) or envelope.keys() != {"ok", "error"} or envelope["ok"] is not False:
        return False
    error = envelope["error"]
    if not isinstance(error, dict) or not {"code", "message"} <= error.keys() <= {"code", "message", "issues"}:
        return False
    issues = error.get("issues", [])
    return (
        all_text([error["code"], error["message"]])
        and error["code"] in CODES
        and isinstance(issues, list)
        and all(isinstance(issue, dict) and issue.keys() == {"field", "value", "allowed"} for issue in issues)
        and all(all_text(issue.values()) for issue in issues)
    )


def bind(name: str) -> extism.Function:
    # With the signature written out: the SDK's own conversions raise for a handle with its highest bit set.
    @extism.host_fn(  # type: ignore[untyped-decorator]
        name=name, namespace="extism:host/user", signature=([extism.ValType.PTR], [extism.ValType.PTR])
    )
    def capability(plugin: extism.CurrentPlugin, parameters: list[Any], results: list[Any], *_: object) -> None:
        call: Call = plugin.host_context()
        try:
            results[0].value = exchange(plugin, parameters[0].value, lambda request: call.answer(name, request))
        except BaseException as error:
            call.fault = call.fault or error

    return capability


def exchange(plugin: extism.CurrentPlugin, handle: int, answer: Callable[[bytes], bytes]) -> int:
    """Reads the block of a handle and returns one with the answer to it."""
    block = plugin.memory_at_offset(handle % 2**64)
    # A guest can write into the kernel's memory, and so forge a length: never read more than a request may be.
    is_request = 0 < block.length <= REQUEST_BYTES_MAX
    reply = answer(bytes(plugin.memory(block)[:]) if is_request else b"")
    made = plugin.alloc(len(reply))
    if made.offset == 0:
        # The SDK's return_bytes would write over the kernel's own data.
        raise Refusal("MEMORY_EXCEEDED", "Cannot finish the call: the plugin's wasm memory is used up")
    plugin.memory(made)[:] = reply
    return int(made.offset)


# Bound once: the SDK finds a function again by its place in a list that only grows.
CAPABILITIES = [bind(name) for name in RIGHT_OF]
