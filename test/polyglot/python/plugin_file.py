"""What a plugin's file says of itself: its manifest, held against the imports, exports and memory of the module."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from refusal import Refusal

RIGHT_OF = {
    "store_read": "read",
    "store_list": "list",
    "store_write": "write",
    "store_trash": "trash",
    "clock_now": "clock",
}

# The most that a manifest may ask for.
MEMORY_PAGES_MAX = 512
FUEL_POLLS_MAX = 20_000
DEADLINE_MS_MAX = 10_000

I32, I64 = b"\x7f", b"\x7e"
# Parameters and results, as the module's type section writes them.
TO_I64, TO_I32, LOAD = (b"", I64), (b"", I32), (I64, I64)
KERNEL = {
    "input_length": TO_I64,
    "input_load_u8": (I64, I32),
    **dict.fromkeys(("input_load_u64", "alloc", "length", "load_u64", "config_get"), LOAD),
    "load_u8": (I64, I32),
    "store_u8": (I64 + I32, b""),
    **dict.fromkeys(("store_u64", "output_set"), (I64 + I64, b"")),
    **dict.fromkeys(("free", "error_set", "log_debug", "log_info", "log_warn", "log_error"), (I64, b"")),
}

CUSTOM, TYPES, IMPORTS, FUNCTIONS, MEMORIES, EXPORTS, START = 0, 1, 2, 3, 5, 7, 8
FUNCTION_KIND, MEMORY_KIND = 0, 2


@dataclass(frozen=True)
class Tool:
    """A tool of the manifest, and what a call of it may do."""

    name: str
    export: str
    audience: str
    description: str
    input: dict[str, Any]
    output: dict[str, Any]
    scopes: tuple[str, ...]
    rights: frozenset[str]


@dataclass(frozen=True)
class PluginFile:
    wasm: bytes
    tools: tuple[Tool, ...]
    memory_pages_min: int
    memory_pages_max: int
    fuel_polls: int
    deadline_ms: int


def read_plugin(wasm: bytes, sha256: str | None = None) -> PluginFile:
    """The plugin in these bytes; raises `PLUGIN_REFUSED` when it is not exactly what ABI version 1 allows."""
    if sha256 is not None and hashlib.sha256(wasm).hexdigest() != sha256:
        _refuse("its SHA-256 is not the one that is pinned")
    try:
        sections = _sections(wasm)
        [text] = [data for identity, data in sections if identity == "memcell:manifest"]
        plugin = _plugin_of(_manifest(text), wasm)
        _check_module(dict(sections), plugin)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as cause:
        # Whatever cannot be read or unpacked is not of the form; what is wrong with it helps only who has made it.
        raise Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it is not of the form of ABI version 1") from cause
    return plugin


def _refuse(reason: str) -> NoReturn:
    raise Refusal("PLUGIN_REFUSED", f"Cannot load the plugin: {reason}")


class _Reader:
    """Reads one section; raises IndexError at its end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._data)

    def take(self, count: int) -> bytes:
        if count > len(self._data) - self._at:
            raise IndexError("the section ends too early")
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self) -> int:
        """An unsigned LEB128 number of at most 32 bits."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("a number is too long")

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def name(self) -> str:
        return self.take(self.number()).decode()


def _sections(wasm: bytes) -> list[tuple[int | str, bytes]]:
    """The sections by number, the custom ones by name. The engine checks their order, and that none stands twice."""
    reader, sections = _Reader(wasm), list[tuple[int | str, bytes]]()
    if reader.take(8) != b"\0asm\1\0\0\0":
        raise ValueError("not a WebAssembly module")
    while not reader.is_at_end:
        number = reader.number()
        body = _Reader(reader.take(reader.number()))
        sections.append((body.name() if number == CUSTOM else number, body.rest()))
    return sections


def _check_module(sections: dict[int | str, bytes], plugin: PluginFile) -> None:
    """What the module may use and must offer. Its names are for the linker, its types for the engine to keep to."""
    if START in sections:
        _refuse("it has a start function")
    types = [_function_type(reader) for reader in _items(sections[TYPES])]
    imported = list[tuple[bytes, bytes]]()
    seen = set[tuple[str, str]]()
    granted = frozenset[str]().union(*(tool.rights for tool in plugin.tools))
    capabilities = {name: LOAD for name, right in RIGHT_OF.items() if right in granted}
    allowed = {"extism:host/env": KERNEL, "extism:host/user": capabilities}
    for reader in _items(sections.get(IMPORTS, b"\0")):
        key = (reader.name(), reader.name())
        if reader.number() != FUNCTION_KIND or key in seen:
            raise ValueError("an import that is no function, or stands twice")
        seen.add(key)
        imported.append(types[reader.number()])
        if allowed.get(key[0], {}).get(key[1]) != imported[-1]:
            _refuse(f"it imports what no tool of it is granted: {key[0]} {key[1]}"[:200])
    functions = imported + [types[reader.number()] for reader in _items(sections[FUNCTIONS])]
    memories = [(reader.number(), reader.number(), reader.number()) for reader in _items(sections[MEMORIES])]
    # The flag says that there is a maximum, and nothing else: not shared, 32 bits wide.
    if memories != [(1, plugin.memory_pages_min, plugin.memory_pages_max)]:
        _refuse("its memory is not the manifest's")
    exports = {reader.name(): (reader.number(), reader.number()) for reader in _items(sections[EXPORTS])}
    if exports.pop("memory", None) != (MEMORY_KIND, 0) or exports.keys() != {tool.export for tool in plugin.tools}:
        _refuse("its exports are not the manifest's")
    if any(kind != FUNCTION_KIND or functions[index] != TO_I32 for kind, index in exports.values()):
        _refuse("an export of it is no function of a tool")


def _items(section: bytes) -> Iterator[_Reader]:
    """The section's reader, once for each item that it counts; nothing may follow them."""
    reader = _Reader(section)
    for _ in range(reader.number()):
        yield reader
    if not reader.is_at_end:
        raise ValueError("something follows a section's items")


def _function_type(reader: _Reader) -> tuple[bytes, bytes]:
    if reader.take(1) != b"\x60":
        raise ValueError("a type of another kind than a function's")
    return reader.take(reader.number()), reader.take(reader.number())


def _manifest(text: bytes) -> dict[str, Any]:
    # Decoded here, because json.loads would guess UTF-16 and UTF-32 too.
    value = json.loads(text.decode(), object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    keys = {"name", "version", "abi", "tools", "memoryPages", "fuelPolls", "deadlineMs"}
    return _object(value, keys)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs) or "__proto__" in value:
        raise ValueError("a key stands twice, or another reader would see another object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _plugin_of(manifest: dict[str, Any], wasm: bytes) -> PluginFile:
    _text(manifest["name"], "(?s).+")
    _text(manifest["version"], "(?s).+")
    if _whole(manifest["abi"], 1, 2**31) != 1:
        _refuse("it is for another version of the ABI")
    tools = tuple(_tool(each) for each in _list(manifest["tools"]))
    names, exports = {tool.name for tool in tools}, {tool.export for tool in tools} - {"memory"}
    if not len(tools) == len(names) == len(exports):
        raise ValueError("a tool stands twice, or takes the memory's place")
    pages = _object(manifest["memoryPages"], {"min", "max"})
    pages_max = _whole(pages["max"], 1, MEMORY_PAGES_MAX)
    return PluginFile(
        wasm,
        tools,
        _whole(pages["min"], 0, pages_max - 1),
        pages_max,
        _whole(manifest["fuelPolls"], 1, FUEL_POLLS_MAX),
        _whole(manifest["deadlineMs"], 1, DEADLINE_MS_MAX),
    )


def _tool(value: Any) -> Tool:
    keys = {"name", "export", "audience", "description", "input", "output", "scopes", "rights"}
    tool = _object(value, keys)
    rights = [_text(right, "|".join(RIGHT_OF.values())) for right in _list(tool["rights"])]
    return Tool(
        _text(tool["name"], "[A-Za-z][A-Za-z0-9_]{0,63}"),
        _text(tool["export"], "[a-z][a-z0-9_]{0,63}"),
        _text(tool["audience"], "model|host"),
        _text(tool["description"], "(?s).*"),
        _object(tool["input"]),
        _object(tool["output"]),
        tuple(_text(scope, "[a-z][a-z0-9-]{0,31}") for scope in _list(tool["scopes"])),
        frozenset(rights),
    )


def _object(value: Any, keys: set[str] | None = None) -> dict[str, Any]:
    if not isinstance(value, dict) or (keys is not None and value.keys() != keys):
        raise ValueError("not an object of these keys")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _text(value: Any, pattern: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ValueError("not a text of this form")
    return value


def _whole(value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError("not a number in these bounds")
    return value
