"""Grades memcell and a plain dictionary with the benchmark of agent-memory-guard.

Speaks JSON lines: asks for what memcell does on standard output, and gets the answers on standard input. The last line
has the results.
"""

import json
import sys
from dataclasses import replace

from agent_memory_guard.bench.adapter import MemorySystemAdapter, RememberOutcome
from agent_memory_guard.bench.harness import run_suite
from agent_memory_guard.bench.scenarios import default_corpus
from agent_memory_guard.bench.scoring import score_report


def ask(command, **request):
    print(json.dumps({"command": command, **request}), flush=True)
    answer = json.loads(sys.stdin.readline())
    if "failed" in answer:
        raise RuntimeError(f"{command}: {answer['failed']}")
    return answer


class Dictionary(MemorySystemAdapter):
    """Stores whatever it is told."""

    name = "a dictionary"

    def __init__(self):
        self._values = {}

    def remember(self, key, value, *, source_class="external_tool"):
        self._values[key] = value
        return RememberOutcome.STORED

    def recall(self, key):
        return self._values.get(key)


def memcell(prompts, approves):
    """An adapter over memcell. `prompts` gets the index of each recall; `approves`: the owner approves what waits."""

    class Memcell(MemorySystemAdapter):
        name = "memcell"

        def __init__(self):
            ask("begin")

        def remember(self, key, value, *, source_class="external_tool"):
            return RememberOutcome(ask("remember", key=key, value=value, source=source_class)["outcome"])

        def recall(self, key):
            answer = ask("recall", key=key)
            prompts.append(answer["index"])
            return answer["value"]

        def context_reset(self):
            ask("reset", approves=approves)

    return Memcell


def stated(source):
    """The benchmark's scenarios, with all writes from one source if one is given."""
    corpus = default_corpus()
    if source is None:
        return corpus
    return [replace(each, steps=tuple(replace(step, source_class=source) for step in each.steps)) for each in corpus]


def result(system, source, approves=False):
    prompts = []
    corpus = stated(source)
    report = run_suite(Dictionary if system == "dictionary" else memcell(prompts, approves), corpus)
    card = score_report(report)
    of_attacks = [(each.malicious, each.canary) for each in corpus]
    runs = zip(report.runs, of_attacks, prompts)
    in_prompt = [run.scenario_id for run, (malicious, canary), index in runs if malicious and canary in index]
    return {
        "system": system,
        "source": source,
        "approves": approves,
        "attacks": card.malicious_total,
        "honest": card.benign_total,
        "active": [run.scenario_id for run in report.runs if run.breached],
        "lost": [run.scenario_id for run in report.runs if run.false_positive],
        "waiting": [run.scenario_id for run in report.runs if run.final_outcome == "quarantined"],
        "inPrompt": in_prompt,
        "errors": [run.scenario_id for run in report.runs if run.recall_error],
        "grade": card.grade.value,
    }


def main():
    results = [
        result("dictionary", None),
        result("memcell", None),
        result("memcell", "user_input"),
        result("memcell", "agent_authored"),
        result("memcell", "unknown"),
        result("memcell", "external_tool"),
        result("memcell", "external_tool", approves=True),
    ]
    print(json.dumps({"command": "results", "results": results}), flush=True)


main()
