/**
 * SIGKILL at each system call with an effect while a write begins to wait, is approved, and is rejected. Afterwards it
 * waits or does not, it is applied as a whole or not at all, and the same decision again ends in the same state. Whoever
 * rejects what a killed process was approving either rejects it, or is told that it was approved. By default
 * every third call; `TEST_LONG=1` takes all.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";

import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { twoAtATime } from "../../support/two-at-a-time.ts";
import { whyNoTracing } from "../strace.ts";
import { isChange } from "../syscall-log.ts";
import { callsOf, runKilledAt } from "./killed-run.ts";
import { alice, decide, openPendingRuntime, writeOfPage, writeOwn } from "./pending-user.ts";
import type { Decision } from "./pending-user.ts";

const isLong = process.env["TEST_LONG"] === "1";
const reason = await whyNoTracing();

interface State {
  readonly waiting: number;
  /** The entry's text. */
  readonly body: string;
  /** How many versions an approval has made. */
  readonly approved: number;
}

const own = "from direct_user";
const ofPage = "from tool_external";

/** What a kill may leave, and what the same decision again ends in. */
const states: Readonly<Record<Decision, { readonly left: readonly State[]; readonly end: State }>> = {
  wait: {
    left: [
      { waiting: 0, body: own, approved: 0 },
      { waiting: 1, body: own, approved: 0 },
    ],
    end: { waiting: 1, body: own, approved: 0 },
  },
  approve: {
    left: [
      { waiting: 1, body: own, approved: 0 },
      { waiting: 0, body: ofPage, approved: 1 },
    ],
    end: { waiting: 0, body: ofPage, approved: 1 },
  },
  reject: {
    left: [
      { waiting: 1, body: own, approved: 0 },
      { waiting: 0, body: own, approved: 0 },
    ],
    end: { waiting: 0, body: own, approved: 0 },
  },
};

test.for(["wait", "approve", "reject"] as const)(
  "a process that is killed while it does '%s' leaves all of it or nothing",
  { timeout: 1_800_000 },
  async (decision, context) => {
    if (reason !== null) skipWithReason(context, reason);
    using folder = temporaryFolder();
    const place = (name: string): string => join(folder.path, name);
    let id = "";
    {
      await using runtime = await openPendingRuntime(place("template"));
      await writeOwn(runtime);
      if (decision !== "wait") id = await writeOfPage(runtime);
    }
    const copy = (name: string) => {
      cpSync(place("template"), place(name), { recursive: true });
      return { script: "kill/pending-workload.js", workload: { dataDir: place(name), decision } };
    };
    const calls = await callsOf(copy("rehearsal"), place("log"), () => {});
    expect(await newStateIn(place("rehearsal"))).toEqual(states[decision].end);
    const points = calls.filter(isChange).filter((_, at) => isLong || at % 3 === 0);
    const failures: unknown[] = [];
    let killed = 0;
    await twoAtATime(points, async (point, at) => {
      const { isKilled, isAcknowledged } = await runKilledAt(copy(`${at}`), point);
      if (decision === "approve") {
        cpSync(place(`${at}`), place(`${at}-rejected`), { recursive: true });
        failures.push(...(await rejectedAfter(place(`${at}-rejected`), id)));
      }
      const left = await decidedAgain(place(`${at}`), decision);
      const { left: allowed, end } = states[decision];
      const isAllowed = allowed.some((state) => isSame(state, left)) && (!isAcknowledged || isSame(left, end));
      const ended = await newStateIn(place(`${at}`));
      if (isKilled) killed++;
      // A run that retires its log at another time has no such call, and ends by itself.
      if ((isKilled || isAcknowledged) && isAllowed && isSame(ended, end)) return;
      failures.push({ at: point.text, isKilled, isAcknowledged, left, ended });
    });
    console.log(`${decision}: killed at ${killed} of ${points.length} points`);
    expect(failures).toEqual([]);
    expect(killed).toBeGreaterThan(points.length / 2);
  },
);

const isSame = (one: State, other: State): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Returns the state that a kill has left. If it is still to be decided, the same decision follows. */
async function decidedAgain(dataDir: string, decision: Decision): Promise<State> {
  await using runtime = await openPendingRuntime(dataDir);
  const left = await stateOf(runtime);
  if (left.waiting === (decision === "wait" ? 0 : 1)) await decide(runtime, decision);
  return left;
}

/** Rejects what a killed process was approving. Returns the state if it is not what is told. */
async function rejectedAfter(dataDir: string, id: string): Promise<unknown[]> {
  await using runtime = await openPendingRuntime(dataDir);
  const told = await runtime.upkeep.reject(alice, id).then(
    () => "rejected",
    ({ message }: Error) => message,
  );
  const state = await stateOf(runtime);
  const rejected: State = { waiting: 0, body: own, approved: 0 };
  const approved: State = { waiting: 0, body: ofPage, approved: 1 };
  const isTrue =
    told === "rejected" ? isSame(state, rejected) : told.includes("was approved at") && isSame(state, approved);
  return isTrue ? [] : [{ told, state }];
}

/** The state that a new runtime finds. */
async function newStateIn(dataDir: string): Promise<State> {
  await using runtime = await openPendingRuntime(dataDir);
  return await stateOf(runtime);
}

async function stateOf(runtime: Runtime): Promise<State> {
  const read = await runtime.call("ReadUserMemory", { name: "mine" }, alice);
  const versions = await runtime.upkeep.history(alice, { path: "mine.md" });
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  return {
    waiting: (await runtime.upkeep.pending(alice)).length,
    body: read.ok ? (read.data as { readonly body: string }).body : read.error.code,
    approved: versions.filter(({ kind }) => kind === "approved").length,
  };
}
