"""Serves one plugin over standard input and output: the first line of JSON says what to host, and each further line is a call."""

import json
import sys
from typing import Any

from memcell_host import Host, Refusal


def main() -> int:
    lines = iter(sys.stdin.buffer)
    hosted = json.loads(next(lines))
    limits = hosted.get("limits", {})
    try:
        host = Host(
            hosted["plugin"],
            hosted["dataDir"],
            sha256=hosted.get("sha256"),
            fuel_polls=limits.get("fuelPolls"),
            deadline_ms=limits.get("deadlineMs"),
        )
    except Refusal as refusal:
        say(refusal.envelope)
        return 1
    say({"ok": True})
    for line in lines:
        call = json.loads(line)
        context = call.get("context", {})
        answer = host.call(
            call["tool"],
            call.get("input"),
            context.get("userId"),
            audience=call.get("audience", "model"),
            epoch_ms=context.get("epochMs"),
        )
        say(answer)
    return 0


def say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    sys.exit(main())
