"""A failure with a code of the contract's table, and how a text from outside is shown in its message."""

import errno
import unicodedata
from typing import Any

SHOWN_CHARS_MAX = 60


class Refusal(Exception):
    """What a host answers in place of a result: to the plugin for one request, or to the caller for the whole call."""

    def __init__(self, code: str, message: str, issues: list[dict[str, str]] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.envelope: dict[str, Any] = {"ok": False, "error": {"code": code, "message": message}}
        if issues is not None:
            self.envelope["error"]["issues"] = issues


def shown(text: str) -> str:
    """A text between quotes, cut, and without characters that could hide or reorder what stands around them."""
    rest = "…" if len(text) > SHOWN_CHARS_MAX else ""
    return f'"{"".join(map(_shown_character, text[:SHOWN_CHARS_MAX]))}{rest}"'


def _shown_character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character == "\n":
        return "\\n"
    if unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs"):
        return character
    number = f"{ord(character):04x}"
    return f"\\u{number}" if len(number) == 4 else f"\\u{{{number}}}"


def storage_failure(error: OSError) -> Refusal:
    """Without the error's own text, which may name places of this machine."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refusal("STORAGE_FULL", "Cannot use the user's folder: the disk is full")
    reason = errno.errorcode.get(error.errno or 0, "unknown")
    return Refusal("STORAGE_FAILED", f"Cannot use the user's folder: the disk refused ({reason})")
