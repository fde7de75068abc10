"""Hosts a memcell plugin under the Extism Python SDK: capability ABI version 1 over one folder of files for each user.

A template to copy, with the files beside it. A plugin has no network, no WASI, no environment, and no file but those of
the scopes that its manifest names for a tool, in the folder of the user on whose behalf the tool is called.

One thing libextism cannot keep a plugin from: it may write into the memory that requests travel in, forge the length of a
block there, and so end the whole process, which then reads beyond that memory. It learns nothing from it. Run a plugin
that nobody has audited in a process of its own.
"""

import os
import time
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import extism  # type: ignore[import-untyped]
from extism.extism import CompiledPlugin  # type: ignore[import-untyped]

from capabilities import Call
from outcome import OUTPUT_BYTES_MAX, Outcome, judged
from plugin_file import RIGHT_OF, Tool, read_plugin
from refusal import Refusal, shown, storage_failure
from strict_json import encoded
from user_folder import UserFolder

USER_ID_BYTES_MAX = 128
INPUT_BYTES_MAX = 512 * 1024
REQUEST_BYTES_MAX = 8 * 1024 * 1024
# Requests, replies and the answer lie in the kernel's memory, which has no maximum of its own.
KERNEL_PAGES_MAX = 1024


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
        self._deadline_ms = plugin.deadline_ms if deadline_ms is None else min(deadline_ms, plugin.deadline_ms)
        manifest = {
            "wasm": [{"data": plugin.wasm}],
            "timeout_ms": self._deadline_ms,
            # How far the memories of guest and kernel may grow, together. The guest's own maximum holds besides.
            "memory": {"max_pages": plugin.memory_pages_max - plugin.memory_pages_min + KERNEL_PAGES_MAX},
            "config": {} if fuel_polls is None else {"memcell.fuelPolls": str(fuel_polls)},
        }
        # wasmtime would keep compiled code in the home folder, and run what it finds there. Who has a folder that only
        # this program can write to may name it in a file, and that file in this variable.
        os.environ.setdefault("EXTISM_CACHE_CONFIG", "")
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
            will_change = bool(tool.rights & {"write", "trash"})
            with closing(UserFolder(self._data_dir, user, will_change=will_change)) as folder:
                call = Call(tool, folder, time.time_ns() // 1_000_000 if epoch_ms is None else epoch_ms)
                outcome = self._run(call, text)
                if call.fault is not None:
                    raise call.fault
                envelope = judged(outcome, tool.name, call.verdict, call.told)
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

    def _run(self, call: Call, text: bytes) -> Outcome:
        with Instance(self._compiled) as instance:
            start = time.monotonic()
            outcome = Outcome(self._deadline_ms)
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
            # Not by what libextism says: of a guest that has set an error before, it says that error.
            outcome.took_ms = (time.monotonic() - start) * 1000
            return outcome


class Instance(extism.Plugin):  # type: ignore[misc]
    """Keeps the code that the SDK drops. With it, an error that a guest sets before it traps is known for what it is."""

    FAILED = -1  # libextism's code for a function that did not return. A guest's own -1 counts as the same.
    code = FAILED

    def _check_error(self, code: int) -> None:
        self.code = code
        super()._check_error(code)


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
        found, allowed = "not JSON", "a JSON value"
    else:
        if len(text) <= INPUT_BYTES_MAX:
            return text
        found, allowed = f"{len(text)} bytes of JSON", f"at most {INPUT_BYTES_MAX} bytes"
    issue = {"field": "input", "value": found, "allowed": allowed}
    raise Refusal("INPUT_INVALID", f"Cannot call {tool.name}: input is {found}, allowed: {allowed}", [issue])


def bind(name: str) -> extism.Function:
    # With the signature written out: the SDK's own conversions raise for a handle with its highest bit set.
    @extism.host_fn(  # type: ignore[untyped-decorator]
        name=name, namespace="extism:host/user", signature=([extism.ValType.PTR], [extism.ValType.PTR])
    )
    def capability(plugin: extism.CurrentPlugin, parameters: list[Any], results: list[Any], *_: object) -> None:
        call: Call = plugin.host_context()
        try:
            results[0].value = exchange(plugin, parameters[0].value, lambda request: call.answer(name, request))
        except BaseException as error:  # noqa: BLE001 -- cffi would print it, and the call go on as if all were well
            call.fault = call.fault or error

    return capability


def exchange(plugin: extism.CurrentPlugin, handle: int, answer: Callable[[bytes], bytes]) -> int:
    """Reads the block of a handle and returns one with the answer to it."""
    block = plugin.memory_at_offset(handle % 2**64)
    # A guest can write into the kernel's memory, and so forge a length: never read more than a request may be.
    is_request = 0 < block.length <= REQUEST_BYTES_MAX
    reply = answer(plugin.memory(block)[:] if is_request else b"")
    made = plugin.alloc(len(reply))
    if made.offset == 0:
        # The SDK's return_bytes would write over the kernel's own data.
        raise Refusal("MEMORY_EXCEEDED", "Cannot finish the call: the plugin's wasm memory is used up")
    plugin.memory(made)[:] = reply
    return int(made.offset)


# Bound once: the SDK finds a function again by its place in a list that only grows.
CAPABILITIES = [bind(name) for name in RIGHT_OF]
