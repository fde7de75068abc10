"""What becomes of a call: its outcome, judged."""

import re
from dataclasses import dataclass
from typing import Any

from refusal import Refusal
from strict_json import all_text, decoded, encoded, levels

OUTPUT_BYTES_MAX = 512 * 1024
OUTPUT_DEPTH_MAX = 64

# What a plugin may report without having been told it.
GUEST_CODES = {
    "INPUT_INVALID",
    "ENTRY_NOT_FOUND",
    "ENTRY_UNREADABLE",
    "NAME_RESERVED",
    "NAME_CONFLICT",
    "QUOTA_EXCEEDED",
    "CAPABILITY_DENIED",
    "GUEST_TRAPPED",
    "FUEL_EXHAUSTED",
    "MEMORY_EXCEEDED",
}


@dataclass
class Outcome:
    """What an export left: an output, or an error. Of a trap the text is the engine's and shown to nobody."""

    deadline_ms: int
    took_ms: float = 0
    output: bytes = b""
    output_bytes: int = 0
    error: str | None = None
    is_trap: bool = False


def judged(outcome: Outcome, name: str, verdict: Refusal | None, told: set[str]) -> dict[str, Any]:
    """The envelope that a call of the tool answers; raises what the host says instead. `told` are the guest's codes."""
    if outcome.took_ms > outcome.deadline_ms:
        raise Refusal("DEADLINE_EXCEEDED", f"Cannot finish {name}: it ran for over {outcome.deadline_ms} ms")
    if verdict is not None:
        raise verdict
    if outcome.error == "oom":
        # libextism's word for memory that may not grow any more. The plugin gets no turn to say so itself.
        raise Refusal("MEMORY_EXCEEDED", "Cannot finish the call: the plugin's wasm memory is used up")
    if outcome.is_trap:
        raise crashed(name)
    return judged_output(name, outcome) if outcome.error is None else judged_error(name, outcome.error, told)


def crashed(tool_name: str) -> Refusal:
    return Refusal("GUEST_TRAPPED", f"Cannot finish {tool_name}: the plugin's code crashed")


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
        envelope = decoded(text)
        encoded(envelope)  # fails for a number that only Python holds: 1e999 is its infinity
    except ValueError:
        envelope = None
    if not is_success(envelope):
        raise Refusal("OUTPUT_INVALID", f"Cannot use the answer of {name}: its output is not a success envelope")
    return dict(envelope)


def judged_error(name: str, text: str, told: set[str]) -> dict[str, Any]:
    try:
        envelope: Any = decoded(text) if levels(text) <= OUTPUT_DEPTH_MAX else None
    except ValueError:
        raise crashed(name) from None
    refused = f"Cannot use the answer of {name}: "
    if len(text.encode()) > OUTPUT_BYTES_MAX:
        raise Refusal("OUTPUT_INVALID", f"{refused}its error is too long")
    if not is_failure(envelope):
        raise Refusal("OUTPUT_INVALID", f"{refused}its error is not a failed envelope")
    code = envelope["error"]["code"]
    if code not in GUEST_CODES | told:
        raise Refusal("OUTPUT_INVALID", f"{refused}it reports {code}, which nobody told it")
    return dict(envelope)


def is_success(envelope: Any) -> bool:
    if not isinstance(envelope, dict) or envelope.keys() != {"ok", "message", "data"}:
        return False
    return envelope["ok"] is True and isinstance(envelope["message"], str)


def is_failure(envelope: Any) -> bool:
    if not isinstance(envelope, dict) or envelope.keys() != {"ok", "error"} or envelope["ok"] is not False:
        return False
    error = envelope["error"]
    if not isinstance(error, dict) or not {"code", "message"} <= error.keys() <= {"code", "message", "issues"}:
        return False
    issues = error.get("issues", [])
    return (
        all_text([error["code"], error["message"]])
        and re.fullmatch("[A-Z_]{1,64}", error["code"]) is not None
        and isinstance(issues, list)
        and all(isinstance(issue, dict) and issue.keys() == {"field", "value", "allowed"} for issue in issues)
        and all(all_text(issue.values()) for issue in issues)
    )
