"""Runs a memcell plugin under the Extism Python SDK (wasmtime), with the five capabilities over files in memory.

Reads steps as JSON from standard input and prints the envelopes and the files that are left.
"""

import json
import re
import sys
from dataclasses import dataclass, field
from datetime import datetime, timezone

import extism
from extism.extism import CompiledPlugin

GRANTED_SCOPE = "memory"
PATH_CHARS_MAX = 255
EPOCH_MS = 1_700_000_000_000  # stands still, so that every host writes the same times

# The fields of each capability's request in ABI version 1; all but prefix are required.
REQUEST_FIELDS = {
    "store_read": {"scope", "path"},
    "store_list": {"scope", "prefix"},
    "store_write": {"scope", "path", "content"},
    "store_trash": {"scope", "path"},
    "clock_now": set(),
}

SCOPE_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


def is_scope_path(path: str) -> bool:
    return len(path) <= PATH_CHARS_MAX and SCOPE_PATH.fullmatch(path) is not None


def is_trash_path(path: str) -> bool:
    return path == "trash" or path.startswith("trash/")


class Denied(Exception):
    """A request that the grant does not cover."""


@dataclass
class Call:
    """What the capabilities of one tool call work on. Writes are staged, so that a failed call leaves no trace."""

    files: dict[str, str]
    staged: dict[str, str | None] = field(default_factory=dict)  # None: the call has moved the file away
    denial: dict | None = None  # the first one
    fault: Exception | None = None

    def answer(self, name: str, text: bytes) -> bytes:
        # Nothing may be raised from here: the SDK prints what a host function raises and lets the guest go on with
        # handle 0. Denials travel in the reply; a fault of this program is kept and raised after the call.
        try:
            reply = {"ok": True, **getattr(self, name)(**checked_request(name, text))}
        except Denied as denied:
            reply = {"ok": False, "error": {"code": "CAPABILITY_DENIED", "message": str(denied)}}
            self.denial = self.denial or reply
        except Exception as fault:
            reply = {"ok": False, "error": {"code": "INTERNAL", "message": f"Cannot call {name}: the host failed"}}
            self.fault = self.fault or fault
        return json.dumps(reply).encode()

    def store_read(self, path: str) -> dict:
        return {"content": self.content_at(path)}

    def store_list(self, prefix: str = "") -> dict:
        """Lists what lies in trash/ only for a prefix that begins there."""
        if prefix and not is_scope_path(prefix.removesuffix("/")):
            raise Denied(f"Cannot list {shown(prefix)}: it is not the beginning of a path")
        entries = [
            {"path": path, "bytes": len(content.encode())}
            for path, content in sorted((self.files | self.staged).items())
            if content is not None and path.startswith(prefix) and (is_trash_path(prefix) or not is_trash_path(path))
        ]
        return {"entries": entries}

    def store_write(self, path: str, content: str) -> dict:
        if is_trash_path(path):
            raise Denied(f'Cannot change "{path}": what lies in trash/ is not a tool\'s to change')
        self.staged[path] = content
        return {}

    def store_trash(self, path: str) -> dict:
        """Stages a move to trash/<base>.<UTC stamp><ending>, with a number before the ending while that is taken."""
        content = self.content_at(path)
        if is_trash_path(path) or content is None:
            raise Denied(f'Cannot trash "{path}": no such file outside trash/')
        dot = path.rfind(".")
        end_of_base = dot if dot > path.rfind("/") + 1 else len(path)
        base, ending = path[:end_of_base], path[end_of_base:]
        time = datetime.fromtimestamp(EPOCH_MS // 1000, timezone.utc)
        stamp = f"{time:%Y%m%dT%H%M%S}{EPOCH_MS % 1000:03d}Z"
        trashed, count = f"trash/{base}.{stamp}{ending}", 1
        while self.content_at(trashed) is not None:
            count += 1
            trashed = f"trash/{base}.{stamp}-{count}{ending}"
        self.staged |= {path: None, trashed: content}
        return {"trashed": trashed}

    def clock_now(self) -> dict:
        return {"epochMs": EPOCH_MS}

    def content_at(self, path: str) -> str | None:
        """A file's text as this call sees it, its own changes included."""
        return self.staged[path] if path in self.staged else self.files.get(path)

    def commit(self) -> None:
        for path, content in self.staged.items():
            if content is None:
                self.files.pop(path, None)
            else:
                self.files[path] = content


def checked_request(name: str, text: bytes) -> dict[str, str]:
    """Checks a request against the ABI and the grant, and returns its fields but the scope: there is only one."""
    try:
        # Decoded here, because json.loads would guess UTF-16 and UTF-32 too.
        request = json.loads(text.decode(errors="replace"))
        json.dumps(request, ensure_ascii=False).encode()  # fails for a lone surrogate, which no file can hold
    except (ValueError, RecursionError):
        raise Denied(f"Cannot call {name}: the request is no JSON, or its text holds a lone surrogate") from None
    fields = REQUEST_FIELDS[name]
    if not isinstance(request, dict) or not fields - {"prefix"} <= request.keys() <= fields:
        raise Denied(f"Cannot call {name}: the request has not the fields that ABI version 1 gives it")
    if not all(isinstance(value, str) for value in request.values()):
        raise Denied(f"Cannot call {name}: the request has a field that is no text")
    scope = request.pop("scope", GRANTED_SCOPE)
    if scope != GRANTED_SCOPE:
        raise Denied(f'Cannot use scope {shown(scope)}: this call is granted "{GRANTED_SCOPE}"')
    if "path" in request and not is_scope_path(request["path"]):
        raise Denied(f"Cannot use path {shown(request['path'])}: allowed are relative paths inside the scope")
    return request


def shown(text: str) -> str:
    return json.dumps(text[:60])


def bind_capability(name: str) -> extism.Function:
    @extism.host_fn(name=name, namespace="extism:host/user")
    def capability(plugin: extism.CurrentPlugin, request: bytes) -> bytes:
        return plugin.host_context().answer(name, request)

    return capability


def call_tool(plugin: CompiledPlugin, export: str, tool_input: object, files: dict[str, str]) -> dict:
    """Calls one export on an instance of its own, so that no call sees what a former one left in memory."""
    call = Call(files)
    with extism.Plugin(plugin) as instance:
        try:
            answer = instance.call(export, json.dumps(tool_input), host_context=call)
            is_success = True
        except extism.Error as error:
            answer = str(error)  # what the guest gave to error_set; of a trap, the reason
            is_success = False
    if call.fault:
        raise call.fault
    if call.denial:
        return call.denial  # decides the call, whatever the guest says afterwards
    try:
        envelope = json.loads(answer)
    except ValueError:
        raise ValueError(f"{export} gave no envelope: {answer[:300]!r}") from None
    if not isinstance(envelope, dict) or envelope.get("ok") is not is_success:
        raise ValueError(f"{export} gave an envelope that does not match its outcome: {answer[:300]!r}")
    if is_success:
        call.commit()
    return envelope


def main(wasm_path: str) -> None:
    steps = json.load(sys.stdin.buffer)
    manifest = {"wasm": [{"path": wasm_path}], "memory": {"max_pages": 1024}, "timeout_ms": 10_000}
    # An explicit list: the default is every function that any module of the process has ever decorated.
    functions = [bind_capability(name) for name in REQUEST_FIELDS]
    plugin = CompiledPlugin(manifest, wasi=False, functions=functions)
    files: dict[str, str] = {}
    results = [call_tool(plugin, step["export"], step["input"], files) for step in steps]
    print(json.dumps({"results": results, "files": dict(sorted(files.items()))}))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: smoke.py PLUGIN.wasm < STEPS.json")
    try:
        main(sys.argv[1])
    except Exception as error:
        sys.exit(f"smoke.py: {error}")
