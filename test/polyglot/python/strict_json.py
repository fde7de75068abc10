"""JSON as RFC 8259 has it. Python's own reader and writer take more: NaN, and other encodings than UTF-8."""

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn


def encoded(value: object) -> bytes:
    """JSON in as few bytes as it takes. Half of a surrogate pair, which UTF-8 cannot hold, becomes an escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")


def decoded(text: str, number: Callable[[str], Any] | None = None) -> Any:
    """The value, its numbers made by `number`. Raises ValueError for what is not JSON, or a number too long for Python.

    It takes text: of bytes, json.loads would guess whether they are UTF-16.
    """
    return json.loads(text, parse_constant=_no_constant, parse_int=number, parse_float=number)


def levels(text: str) -> int:
    """How many arrays and objects lie in each other. Counted before the text is read, for Python's reader recurses."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def all_text(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
