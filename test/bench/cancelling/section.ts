/** 10. What another user's calls take beside a client that starts slow searches, and beside one that also hangs up. */
import { setTimeout } from "node:timers/promises";

import type { BenchRun } from "../bench-run.ts";
import { figureOf } from "../figure.ts";
import type { Section } from "../results.ts";
import { judged, targets } from "../targets.ts";
import { startAttackedServer } from "./server.ts";
import type { AttackedServer } from "./server.ts";

/** What the attacker does. */
type Attack = "none" | "waits" | "hangs up";
const attacks = ["none", "waits", "hangs up"] as const;

const requestsPerSecond = 10;
const readEveryMs = 20;
/** After this the attacker hangs up: the search has begun and not ended. */
const hangUpMs = 60;

export async function measureCancelling(run: BenchRun): Promise<Section> {
  await using server = await startAttackedServer(run.folder);
  const phaseMs = run.isQuick ? 300 : 2_000;
  const times: Record<Attack, number[][]> = { none: [], waits: [], "hangs up": [] };
  await phase(server, "waits", phaseMs);
  for (let round = 0; round < Math.min(run.rounds, 5); round++) {
    run.noise.sampleRound();
    for (const attack of attacks) times[attack].push(await phase(server, attack, phaseMs));
  }
  const waiting = { key: "victim-waits", rounds: times.waits };
  return {
    number: 10,
    title: "Cancelling",
    notes: [
      "memcell serve --http; the victim reads an entry 50 times a second",
      "the attacker searches 15 MB ten times a second, and either waits or hangs up after 60 ms",
    ],
    tables: [
      {
        key: "cancelling",
        title: "A user's read beside another user's slow searches",
        unit: "ms",
        figures: [
          figureOf({ key: "victim-alone", name: "alone", rounds: times.none }),
          figureOf({ ...waiting, name: "the other waits for each answer" }),
          figureOf({
            key: "victim-hangs-up",
            name: "the other hangs up",
            rounds: times["hangs up"],
            against: waiting,
            judge: (found) => [judged(targets.victimOfCancelling, found)],
          }),
        ],
      },
    ],
  };
}

/** Returns the times of the victim's calls. */
async function phase(server: AttackedServer, attack: Attack, phaseMs: number): Promise<number[]> {
  const until = performance.now() + phaseMs;
  const attacking = attack === "none" ? Promise.resolve() : searchUntil(server, until, attack);
  const reading: Promise<number>[] = [];
  // At a fixed pace, also while earlier reads wait: otherwise a stall would count as one slow read.
  while (performance.now() < until) {
    reading.push(readOnce(server));
    await setTimeout(readEveryMs);
  }
  await attacking;
  return await Promise.all(reading);
}

async function readOnce(server: AttackedServer): Promise<number> {
  const start = performance.now();
  const response = await fetch(server.url, server.request("victim", "ReadUserMemory", { name: "pref" }));
  const text = await response.text();
  if (!text.includes("Green tea")) throw new Error(text);
  return performance.now() - start;
}

async function searchUntil(server: AttackedServer, until: number, attack: Attack): Promise<void> {
  const asked: Promise<unknown>[] = [];
  while (performance.now() < until) {
    const signal = attack === "hangs up" ? { signal: AbortSignal.timeout(hangUpMs) } : {};
    const search = server.request("attacker", "memory_search", { query: "absent words", limit: 100 });
    asked.push(
      fetch(server.url, { ...search, ...signal })
        .then((response) => response.text())
        .catch(() => null),
    );
    await setTimeout(1_000 / requestsPerSecond);
  }
  await Promise.all(asked);
}
