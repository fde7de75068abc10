"""Hosts a memcell plugin under the Extism Python SDK: the capability ABI, version 1, over a folder for each user.

Copy this file. A plugin gets no network, no WASI and no environment. Its only files are those of the scopes that its manifest
names for the tool, in the folder of the call's user.

This host leaves to you: quotas for a user's folder and for a call, an audit log, a queue, and a write-ahead log (a power cut
between two files of one call keeps only the first). Audit a plugin file first (`memcell audit`), and pin it by its SHA-256.
Run a plugin that nobody has reviewed in its own process: WebAssembly that forges the lengths of the SDK's blocks can end it.
"""

import errno
import fcntl
import hashlib
import json
import os
import re
import stat
import struct
import time
import unicodedata
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timezone

import extism
from extism.extism import CompiledPlugin

INPUT_BYTES_MAX = OUTPUT_BYTES_MAX = 512 * 1024
FILE_BYTES_MAX = 2 * 1024 * 1024
REQUESTS_MAX, REQUEST_BYTES_MAX = 10_000, 8 * 1024 * 1024
KERNEL_PAGES_MAX = 1024  # pages of 64 KiB; the kernel's memory holds requests, replies and answers

# Each capability: the right it needs and the keys of its request.
CAPABILITIES = {
    "store_read": ("read", {"scope", "path"}),
    "store_list": ("list", {"scope", "prefix"}),
    "store_write": ("write", {"scope", "path", "content"}),
    "store_trash": ("trash", {"scope", "path"}),
    "clock_now": ("clock", set()),
}
FOLDER_TAKEN = "Cannot open the user's folder: something else is in a folder's place"
SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
# Codes that a guest may report on its own, besides those that its manifest declares.
GUEST_CODES = {
    "INPUT_INVALID", "ENTRY_NOT_FOUND", "ENTRY_UNREADABLE", "NAME_RESERVED", "NAME_CONFLICT",
    "VERSION_CONFLICT", "QUOTA_EXCEEDED", "CAPABILITY_DENIED", "GUEST_TRAPPED", "FUEL_EXHAUSTED", "MEMORY_EXCEEDED",
}  # fmt: skip


class Refusal(Exception):
    """An error of the contract: a code, and a message for a model that reveals nothing about the machine."""

    def __init__(self, code: str, message: str, **more: object) -> None:
        self.code = code
        self.envelope = {"ok": False, "error": {"code": code, "message": message, **more}}


def readable(content: bytes) -> str:
    """What can be read of bytes that are not UTF-8. UTF-16 that begins with a byte order mark is decoded."""
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return re.sub("\ufffd+", "\ufffd", content.decode(encoding, "replace"))


def denied(message: str) -> Refusal:
    return Refusal("CAPABILITY_DENIED", message)


def disk_failure(error: OSError) -> tuple[str, str]:
    """The code of a disk's error, and the reason as a clause."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "STORAGE_FULL", "the disk is full"
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        return "STORAGE_BUSY", "the machine is short of open files or memory"
    return "STORAGE_FAILED", "the disk refused"


class Host:
    """A compiled plugin and the folder of its users' data. Serves one call at a time."""

    def __init__(self, plugin_path, data_dir, *, sha256=None, fuel_polls=None, deadline_ms=None) -> None:
        """Raises `Refusal` if the file is not the pinned one, or not a plugin. Limits can only lower the manifest's."""
        with open(plugin_path, "rb") as file:
            wasm = file.read()
        if sha256 not in (None, hashlib.sha256(wasm).hexdigest()):
            raise Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it is not the pinned file")
        plugin = manifest_of(wasm)
        self.tools = plugin["tools"]
        self.codes = {each["code"] for each in plugin.get("errors", [])}
        self.data_dir = data_dir
        self.deadline_ms = min(plugin["deadlineMs"], deadline_ms or plugin["deadlineMs"])
        # Otherwise wasmtime caches compiled code in the home folder, and runs whatever it finds there.
        os.environ.setdefault("EXTISM_CACHE_CONFIG", "")
        hosted = {
            "wasm": [{"data": wasm}],
            "timeout_ms": self.deadline_ms,
            # How far the guest's memory and the kernel's can grow together. The guest's memory also has its own maximum.
            "memory": {"max_pages": plugin["memoryPages"]["max"] + KERNEL_PAGES_MAX},
            "config": {} if fuel_polls is None else {"memcell.fuelPolls": str(fuel_polls)},
        }
        try:
            # An explicit list, because the default is every function that any module of the process has decorated.
            self.compiled = CompiledPlugin(hosted, wasi=False, functions=[bind(name) for name in CAPABILITIES])
            with extism.Plugin(self.compiled):
                pass  # link once, so that a file that imports more is refused now
        except extism.Error as cause:
            raise Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it cannot be compiled or linked") from cause

    def call(self, tool_name, tool_input, user_id, *, audience="model", epoch_ms=None) -> dict:
        """Returns the call's envelope: {"ok": True, "message", "data"} or {"ok": False, "error": {"code", "message"}}."""
        try:
            tools = {tool["name"]: tool for tool in self.tools if tool["audience"] == audience}
            if tool_name not in tools:
                allowed = ", ".join(tools)
                raise Refusal("TOOL_UNKNOWN", f"Cannot call {quoted(tool_name)}: no such tool, allowed: {allowed}")
            tool = tools[tool_name]
            check_user_id(user_id)
            try:
                text = json.dumps(tool_input, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
                text = text.encode(errors="backslashreplace")
                found, most = f"{len(text)} bytes of JSON", f"at most {INPUT_BYTES_MAX} bytes"
            except (TypeError, ValueError, RecursionError):
                text, found, most = None, "not serialisable", "a JSON object"
            if text is None or len(text) > INPUT_BYTES_MAX:
                issues = [{"field": "input", "value": found, "allowed": most}]
                message = f"Cannot call {tool_name}: input is {found}, allowed: {most}"
                raise Refusal("INPUT_INVALID", message, issues=issues)
            with ExitStack() as opened:
                files = UserFiles(self.data_dir, user_id, {"write", "trash"} & set(tool["rights"]), opened)
                call = Call(tool, files, time.time_ns() // 1_000_000 if epoch_ms is None else epoch_ms)
                envelope = self.run(call, text)
                if envelope["ok"]:
                    files.apply(call.staged)
                return envelope
        except Refusal as refusal:
            return refusal.envelope
        except OSError as error:
            code, reason = disk_failure(error)
            return Refusal(code, f"Cannot use the user's folder: {reason}").envelope

    def run(self, call, text) -> dict:
        """Runs the tool on a new instance, so that nothing in memory is left from an earlier call."""
        name = call.tool["name"]
        output, error, start = b"", None, time.monotonic()
        try:
            with extism.Plugin(self.compiled) as instance:
                output = instance.call(call.tool["export"], text, parse=bytes, host_context=call)
        except (extism.Error, ValueError, OverflowError) as failure:
            error = str(failure)  # the text that the guest gave to error_set; after a trap, the engine's message
        if call.fault:
            raise call.fault
        # Measured here: if a guest sets an error and then spins, libextism reports that error and no timeout.
        if (time.monotonic() - start) * 1000 > self.deadline_ms:
            message = f"Cannot finish {name}: it ran for over {self.deadline_ms} ms"
            raise Refusal("DEADLINE_EXCEEDED", message)
        if call.denial:  # ends the call, whatever the guest answered afterwards
            raise call.denial
        if error == "oom":  # what libextism reports when memory cannot grow
            raise Refusal("MEMORY_EXCEEDED", "Cannot finish the call: the plugin's wasm memory is used up")
        return judged_output(name, output) if error is None else judged_error(name, error, call.told | self.codes)


def manifest_of(wasm: bytes) -> dict:
    """Returns the one custom section `memcell:manifest`. `memcell audit` judges the rest of the file."""

    def number(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            value, shift = value | (wasm[at] & 0x7F) << shift, shift + 7
            at += 1
            if wasm[at - 1] < 0x80:
                return value, at

    name, found, at = b"memcell:manifest", [], 8
    try:
        while at < len(wasm):
            section, (size, start) = wasm[at], number(at + 1)
            at = start + size
            if section == 0:
                length, start = number(start)
                if wasm[start : start + length] == name:
                    found.append(wasm[start + length : at])
        (text,) = found
        manifest = json.loads(text.decode())
        if manifest["abi"] != 1:
            raise ValueError(manifest["abi"])
        return manifest
    except (IndexError, KeyError, RecursionError, TypeError, ValueError) as cause:
        raise Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it does not have exactly one manifest of ABI version 1") from cause


def bind(name: str):
    # The signature is explicit, because the SDK's conversions raise for some handles that a guest can invent.
    @extism.host_fn(name=name, namespace="extism:host/user", signature=([extism.ValType.PTR], [extism.ValType.PTR]))
    def capability(plugin, parameters, results, *_):
        call = plugin.host_context()
        try:
            block = plugin.memory_at_offset(parameters[0].value % 2**64)
            # A hostile guest can forge the length of a block, and libextism trusts it.
            is_request = 0 < block.length <= REQUEST_BYTES_MAX
            reply = call.answer(name, bytes(plugin.memory(block)) if is_request else b"")
            reply = json.dumps(reply, ensure_ascii=False).encode()
            made = plugin.alloc(len(reply))
            if made.offset == 0:  # writing to it would overwrite the kernel's data
                raise Refusal("MEMORY_EXCEEDED", "Cannot finish the call: no block is left for a reply")
            plugin.memory(made)[:] = reply
            results[0].value = made.offset
        except BaseException as fault:  # noqa: BLE001 -- otherwise cffi prints it and the guest continues with handle 0
            call.fault = call.fault or fault

    return capability


class Call:
    """The state of the capabilities during one call. Changes are staged, so that a failed call changes nothing."""

    def __init__(self, tool, files, epoch_ms) -> None:
        self.tool, self.files, self.epoch_ms = tool, files, epoch_ms
        # By scope and path: bytes for a text, a path for a file moved from there, None for a removed file.
        self.staged: dict[tuple[str, str], bytes | str | None] = {}
        self.requests, self.told, self.denial, self.fault = 0, set(), None, None

    def answer(self, name: str, request: bytes) -> dict:
        try:
            return {"ok": True, **getattr(self, name)(**self.checked(name, request))}
        except Refusal as refusal:
            self.told.add(refusal.code)
            if refusal.code == "CAPABILITY_DENIED":
                self.denial = self.denial or refusal
            return refusal.envelope

    def checked(self, name: str, text: bytes) -> dict[str, str]:
        """Checks the request against the ABI and the grant, before any file is touched. Returns its values."""
        right, keys = CAPABILITIES[name]
        self.requests += 1
        if self.requests > REQUESTS_MAX:
            raise denied(f"Cannot call {name}: this call has made {REQUESTS_MAX} requests, the maximum")
        if right not in self.tool["rights"]:
            raise denied(f'Cannot call {name}: this call is not granted "{right}"')
        request = decoded(text)
        if request is NO_JSON:
            raise denied(f"Cannot call {name}: the request is not JSON")
        is_fit = isinstance(request, dict) and keys - {"prefix"} <= request.keys() <= keys
        if not is_fit or not all(isinstance(value, str) for value in request.values()):
            raise denied(f"Cannot call {name}: the request does not have the form of ABI version 1")
        if request.get("scope") not in (None, *self.tool["scopes"]):
            granted = ", ".join(map(quoted, self.tool["scopes"]))
            raise denied(f"Cannot use scope {quoted(request['scope'])}: this call is granted {granted}")
        if "path" in request:
            check_path(request["path"])
            if right in ("write", "trash") and is_trash(request["path"]):
                path = quoted(request["path"])
                raise denied(f"Cannot change {path}: tools cannot change files in trash/")
        return request

    def store_read(self, scope: str, path: str) -> dict:
        content = self.content(scope, path)
        try:
            return {"content": None if content is None else content.decode()}
        except ValueError:
            refusal = Refusal("ENTRY_UNREADABLE", f"Cannot read {quoted(path)}: it is not UTF-8 text")
            refusal.envelope["readable"] = readable(content)
            raise refusal from None

    def store_list(self, scope: str, prefix: str = "") -> dict:
        if prefix and not is_path(prefix.removesuffix("/")):
            raise denied(f"Cannot list {quoted(prefix)}: it is not the beginning of a path")
        on_disk = self.files.walk(scope)
        files: dict[str, tuple[int | None, int]] = dict(on_disk)
        for (of, path), change in self.staged.items():
            if of == scope:
                files[path] = (len(change) if isinstance(change, bytes) else on_disk.get(change or "", (None,))[0], 0)
        entries = [
            {"path": path, "bytes": size, "changedUs": changed_us}
            for path, (size, changed_us) in sorted(files.items())
            if size is not None and path.startswith(prefix) and (is_trash(prefix) or not is_trash(path))
        ]
        return {"entries": entries}

    def store_write(self, scope: str, path: str, content: str) -> dict:
        self.content(scope, path)  # refuses a file that must not be replaced
        data = content.encode()
        if len(data) > FILE_BYTES_MAX:
            message = f"Cannot write {quoted(path)}: it is {len(data)} bytes, at most {FILE_BYTES_MAX} allowed"
            raise Refusal("QUOTA_EXCEEDED", message)
        self.staged[scope, path] = data
        return {}

    def store_trash(self, scope: str, path: str) -> dict:
        if self.content(scope, path) is None:
            raise denied(f"Cannot trash {quoted(path)}: no such file")
        base, dot, ending = path.rpartition(".")
        if not base or base.endswith("/") or "/" in ending:  # the dot is in a folder's name, or starts the file's
            base, dot, ending = path, "", ""
        moment = datetime.fromtimestamp(self.epoch_ms // 1000, timezone.utc)
        stamp, number = f"{moment:%Y%m%dT%H%M%S}{self.epoch_ms % 1000:03}Z", 1
        trashed = f"trash/{base}.{stamp}{dot}{ending}"
        while is_path(trashed) and self.content(scope, trashed) is not None:
            number += 1
            trashed = f"trash/{base}.{stamp}-{number}{dot}{ending}"
        check_path(trashed)
        self.staged[scope, trashed] = self.staged.get((scope, path), path)
        self.staged[scope, path] = None
        return {"trashed": trashed}

    def clock_now(self) -> dict:
        return {"epochMs": self.epoch_ms}

    def content(self, scope: str, path: str) -> bytes | None:
        """Returns a file as this call sees it."""
        change = self.staged.get((scope, path), path)
        return self.files.read(scope, change) if isinstance(change, str) else change


class UserFiles:
    """One user's files during one call. They are reached only through open folders; no path is joined, no link followed."""

    def __init__(self, data_dir, user_id: str, may_change, opened: ExitStack) -> None:
        self.data_dir, self.folder_name, self.opened = data_dir, folder_name(user_id), opened
        self.user: int | None = None
        with suppress(FileNotFoundError):
            data = self.hold(os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY))  # the operator's choice, so it may be a link
            users = self.enter(data, "users", opened)
            self.user = None if users is None else self.enter(users, self.folder_name, opened)
        self.own = self.lock() if self.user is not None and may_change else None

    def hold(self, descriptor: int) -> int:
        self.opened.callback(os.close, descriptor)
        return descriptor

    def enter(self, parent: int, name: str, opened: ExitStack, make: bool = False) -> int | None:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=parent)
        try:
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
            opened.callback(os.close, folder)
            return folder
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise Refusal("STORAGE_UNSAFE", FOLDER_TAKEN) from None

    def lock(self) -> int:
        """Locks the user's folder until the call ends. It is BUSY if another host holds the lock; the caller can retry."""
        own = self.enter(self.user, ".memcell", self.opened, make=True)
        file = self.hold(os.open("lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=own))
        # struct flock, 64 bits: type, whence, start, length, process. Unlike a lock of fcntl.lockf it belongs to the open
        # file: closing another descriptor in this process does not release it. Linux only.
        whole = struct.pack("@hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, whole)
        except (BlockingIOError, PermissionError):
            raise Refusal("BUSY", "Cannot use the user's folder: it is in use") from None
        return own

    @contextmanager
    def parent(self, scope: str, path: str, make: bool = False):
        """Yields a file's folder and its name there. Closes the folder at once, because descriptors are few."""
        with ExitStack() as opened:
            folder, (*names, last) = self.user, [scope, *path.split("/")]
            for name in names:
                folder = None if folder is None else self.enter(folder, name, opened, make)
            yield folder, last

    def read(self, scope: str, path: str) -> bytes | None:
        try:  # without O_NONBLOCK, opening a pipe would block until someone writes
            with self.parent(scope, path) as (folder, name):
                if folder is None:
                    return None
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = {errno.ELOOP: "a link is in its place", errno.ENXIO: "it is not a regular file"}.get(error.errno)
            if reason is None:
                raise
            raise Refusal("STORAGE_UNSAFE", f"Cannot use {quoted(path)}: {reason}") from None
        try:
            if reason := unfit(os.fstat(file)):
                raise Refusal("STORAGE_UNSAFE", f"Cannot use {quoted(path)}: {reason}")
            with open(file, "rb", closefd=False) as stream:
                return stream.read(FILE_BYTES_MAX)
        finally:
            os.close(file)

    def walk(self, scope: str) -> dict[str, tuple[int, int]]:
        """Returns the size of every file of a scope, and when it was last changed. Leaves out files that could not be read."""
        found: dict[str, tuple[int, int]] = {}

        def walk(parent: int, name: str, prefix: str) -> None:
            with ExitStack() as opened:
                folder = self.enter(parent, name, opened)
                for name in [] if folder is None else os.listdir(folder):  # listdir(None) lists the working directory
                    with suppress(FileNotFoundError):  # vanished meanwhile
                        status = os.lstat(name, dir_fd=folder)
                        if is_path(prefix + name) and stat.S_ISDIR(status.st_mode):
                            walk(folder, name, f"{prefix}{name}/")
                        elif is_path(prefix + name) and not unfit(status):
                            # Not the time of the last write, which programs can set.
                            found[prefix + name] = (status.st_size, status.st_ctime_ns // 1000)

        if self.user is not None:
            walk(self.user, scope, "")
        return found

    def apply(self, staged: dict) -> None:
        """Performs the moves, then the removals of files that were overwritten and then moved, then the writes."""
        if not staged:
            return
        texts = {place: change for place, change in staged.items() if isinstance(change, bytes)}
        moves = {place: change for place, change in staged.items() if isinstance(change, str)}
        made = texts.keys() | moves.keys()
        if any((scope, path[: dot.start()]) in made for scope, path in made for dot in re.finditer("/", path)):
            raise Refusal("STORAGE_UNSAFE", FOLDER_TAKEN)  # this call itself would put a file in a folder's place
        if self.own is None:  # the user had no folder when this call began
            os.makedirs(self.data_dir, mode=0o700, exist_ok=True)
            data = self.hold(os.open(self.data_dir, os.O_RDONLY | os.O_DIRECTORY))
            users = self.enter(data, "users", self.opened, make=True)
            self.user = self.enter(users, self.folder_name, self.opened, make=True)
            self.own = self.lock()
            if os.listdir(self.user) != [".memcell"]:
                raise Refusal("BUSY", "Cannot use the user's folder: it is in use")  # another host created it first
        for number, content in enumerate(texts.values()):  # a full disk fails here, before anything has changed
            self.write_new(f"new{number}", content)
        for (scope, path), origin in moves.items():
            with self.parent(scope, origin, make=True) as source, self.parent(scope, path, make=True) as target:
                os.rename(source[1], target[1], src_dir_fd=source[0], dst_dir_fd=target[0])
                os.fsync(target[0])
        for scope, path in [place for place, change in staged.items() if change is None]:
            with self.parent(scope, path) as (folder, name), suppress(FileNotFoundError):
                if folder is not None:
                    os.unlink(name, dir_fd=folder)
        for number, (scope, path) in enumerate(texts):
            with self.parent(scope, path, make=True) as (folder, name):
                os.rename(f"new{number}", name, src_dir_fd=self.own, dst_dir_fd=folder)
                os.fsync(folder)

    def write_new(self, name: str, content: bytes) -> None:
        """Writes into the hosts' own folder. Renaming from there is atomic: a crash leaves the old file or the new one."""

        def discard() -> None:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self.own)

        discard()
        self.opened.callback(discard)  # fails if it was renamed, which is fine
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=self.own)
        with open(file, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(file)


def unfit(status: os.stat_result) -> str | None:
    """Returns why a file is not used: another hard link can be another user's, and a sparse file can claim any size."""
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    if status.st_nlink != 1:
        return f"it has {status.st_nlink} names on the disk, only 1 is allowed"
    if status.st_size > FILE_BYTES_MAX:
        return f"it is {status.st_size} bytes, at most {FILE_BYTES_MAX} allowed"
    return None


def folder_name(user_id: str) -> str:
    """Unique for each user id, on every kind of disk, and never a path."""
    is_device = re.match(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|\Z)", user_id)
    odd = r"[^A-Za-z0-9._@-]|\A\.|\.\Z" + (r"|\A." if is_device else "")
    name = re.sub(odd, lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), user_id)
    if len(name) <= 191:
        return name
    mark = f"%~{hashlib.sha256(user_id.encode()).hexdigest()}"
    return name[: 191 - len(mark)] + mark


def is_path(path: str) -> bool:
    return len(path) <= 255 and all(SEGMENT.fullmatch(each) for each in path.split("/"))


def check_path(path: str) -> None:
    if not is_path(path):
        allowed = 'allowed are relative paths inside the scope, without "." and ".."'
        raise denied(f"Cannot use path {quoted(path)}: {allowed}")


def is_trash(path: str) -> bool:
    """Ignores case, because some disks do not distinguish TRASH from trash."""
    return path.lower().split("/")[0] == "trash"


def check_user_id(user_id: object) -> None:
    if user_id is None:
        raise Refusal("USER_REQUIRED", "Cannot call a tool: ctx.userId is missing, every call needs a user")
    text = str(user_id)
    is_odd = any(character in "/\\" or unicodedata.category(character) in ("Cc", "Cs") for character in text)
    is_named = text == user_id and text not in ("", ".", "..") and text == text.strip().strip("\ufeff")
    if is_odd or not is_named or len(text.encode()) > 128:
        allowed = '1 to 128 bytes without control characters, "/", "\\", leading or trailing space, and other than'
        message = f'Cannot call a tool: ctx.userId is {quoted(text)}, allowed: {allowed} "." and ".."'
        raise Refusal("USER_INVALID", message)


def quoted(text: str) -> str:
    """Escapes an untrusted text, so that it cannot end the quotation or hide or reorder the text around it."""

    def escaped(character: str) -> str:
        if character in '"\\':
            return f"\\{character}"
        if character == "\n":
            return "\\n"
        if unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            return character
        code = f"{ord(character):04x}"
        return f"\\u{code}" if len(code) == 4 else f"\\u{{{code}}}"

    return '"' + "".join(map(escaped, text[:60])) + ("…" if len(text) > 60 else "") + '"'


def judged_output(name: str, output: bytes) -> dict:
    if len(output) > OUTPUT_BYTES_MAX:
        found = f"its answer is {len(output)} bytes, at most {OUTPUT_BYTES_MAX} allowed"
        raise Refusal("OUTPUT_TOO_LARGE", f"Cannot finish {name}: {found}")
    envelope = decoded(output)
    is_success = isinstance(envelope, dict) and envelope.keys() == {"ok", "message", "data"}
    if is_success and envelope["ok"] is True and isinstance(envelope["message"], str):
        return envelope
    raise Refusal("OUTPUT_INVALID", f"Cannot use the answer of {name}: its output is not a success envelope")


def judged_error(name: str, text: str, known: set[str]) -> dict:
    envelope = decoded(text.encode())
    if envelope is NO_JSON:  # a trap, or a code other than 0 without an error
        raise Refusal("GUEST_TRAPPED", f"Cannot finish {name}: the plugin's code crashed")
    refused = f"Cannot use the answer of {name}: "
    error = envelope.get("error") if isinstance(envelope, dict) and envelope.keys() == {"ok", "error"} else None
    is_failure = isinstance(error, dict) and {"code", "message"} <= error.keys() <= {"code", "message", "issues"}
    is_text = is_failure and isinstance(error["code"], str) and isinstance(error["message"], str)
    if not is_text or envelope["ok"] is not False or not re.fullmatch("[A-Z_]{1,64}", code := error["code"]):
        raise Refusal("OUTPUT_INVALID", f"{refused}its error is not a failed envelope")
    if code not in GUEST_CODES | known:
        raise Refusal("OUTPUT_INVALID", f"{refused}it reports {code}, a code that it neither declares nor received")
    return envelope


NO_JSON = object()


def decoded(text: bytes) -> object:
    try:
        # Decodes here, because json.loads would guess UTF-16. Encodes again, which fails for half a surrogate pair.
        value = json.loads(text.decode(), parse_constant=int)
        json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError):
        return NO_JSON
