/** Operations at the bounds that a user can reach. Each group fills a folder, and then does one thing after another. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { CallContext, Runtime } from "memcell";

import { pendingLimits } from "../../../shared/limits.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { userFolder } from "../../support/user-files.ts";
import { expectOk } from "../entry.ts";

/** What the cases of one group share. */
export interface HoldStage {
  readonly dataDir: string;
  readonly runtime: Runtime;
  /** As many of something as it takes to reach a bound, or some of them if only to see that it runs. */
  readonly count: (full: number) => number;
}

export interface HoldCase {
  readonly key: string;
  readonly name: string;
  /** Whether it changes what it is about, so that it cannot be repeated. */
  readonly isOnce?: boolean;
  readonly run: (runtime: Runtime) => Promise<unknown>;
}

export interface CaseGroup {
  readonly plugins: readonly string[];
  readonly prepare: (stage: HoldStage) => Promise<void>;
  readonly cases: readonly HoldCase[];
}

const day = "2026-01-01";
/** The clock of all calls. */
export const nowMs = Date.parse(`${day}T12:00:00Z`);
const alice: CallContext = { userId: "alice" };
const kib = 1_024;
const source = "https://x.example";

/** The journal of a day that is so large that each write of it is almost as large as one that waits can be. */
const waiting: CaseGroup = {
  plugins: ["journal"],
  prepare: async ({ runtime, count }) => {
    const content = lines(1, 56 * kib);
    for (let at = 0; at < 16; at++) {
      await expectOk(runtime.call("memory_write", { key: `owner-${at}`, content }, alice));
    }
    for (let at = 0; at < count(pendingLimits.writesMax); at++) {
      const origin = { class: "tool_external", run: `run-${Math.floor(at / 20)}`, source } as const;
      const input = { key: `page-${at}`, content: lines(at + 2, 56 * kib) };
      const answer = await runtime.call("memory_write", input, { ...alice, origin });
      if (!answer.ok && answer.error.code === "QUOTA_EXCEEDED") break;
      if (answer.ok || answer.error.code !== "WRITE_PENDING") throw new Error(JSON.stringify(answer));
    }
  },
  cases: [
    { key: "pending", name: "list the writes that wait", run: ({ upkeep }) => upkeep.pending(alice) },
    {
      key: "pending-plan-undo",
      name: "plan the undo of their source",
      run: ({ upkeep }) => upkeep.planUndo(alice, { source }),
    },
    {
      key: "pending-reject",
      isOnce: true,
      name: "undo their source: reject them all",
      run: ({ upkeep }) => upkeep.undo(alice, { source }),
    },
  ],
};

/** Two texts of which every line is in both, in another order: the most work for a comparison. */
function shuffledTexts(seed: number, bytes: number): [string, string] {
  const random = seededRandom(seed);
  const letters = Array.from({ length: bytes / 2 }, () => "ab"[Math.floor(random() * 2)] ?? "");
  const others = letters.map((letter) => (random() < 0.5 ? letter : "ab"[Math.floor(random() * 2)]));
  return [letters.join("\n"), others.join("\n")];
}

/** Compares the last two versions of a kind, of a file in a scope. */
async function diffOf({ upkeep }: Runtime, scope: string, wanted: string): Promise<unknown> {
  const versions = await upkeep.history(alice, { scope });
  const [last, before] = versions.filter(({ kind, path }) => [kind, path].includes(wanted));
  return await upkeep.diff(alice, last?.path ?? "", { from: before?.seq ?? 0, to: last?.seq ?? 0 });
}

const diffs: CaseGroup = {
  plugins: ["user-memory", "journal"],
  prepare: async ({ runtime, dataDir }) => {
    for (const body of shuffledTexts(1, 64 * kib)) {
      const input = { action: "upsert", name: "twice", type: "user", description: "Twice", body };
      await expectOk(runtime.call("UpdateUserMemory", input, alice));
    }
    await expectOk(runtime.call("memory_write", { key: "first", content: "x" }, alice));
    const file = join(userFolder(dataDir, "alice"), `journal/${day.replaceAll("-", "/")}.md`);
    for (const [at, text] of shuffledTexts(2, 1_024 * kib).entries()) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      await expectOk(runtime.call("memory_write", { key: `after-${at}`, content: "x" }, alice));
    }
  },
  cases: [
    {
      key: "diff-entry",
      name: "compare two hostile texts of 64 KiB",
      run: (runtime) => diffOf(runtime, "memory", "twice.md"),
    },
    {
      key: "diff-large",
      name: "compare two hostile texts of 1 MiB",
      run: (runtime) => diffOf(runtime, "journal", "edited"),
    },
  ],
};

/** A user who has grants of 300 stores, and has given 100. */
const grants: CaseGroup = {
  plugins: ["stores"],
  prepare: async ({ runtime, count }) => {
    for (let at = 0; at < count(300); at++) {
      await runtime.stores({ userId: `granter-${at}` }).grant("alice", { level: "read" });
    }
    for (let at = 0; at < count(100); at++) await runtime.stores(alice).grant(`grantee-${at}`, { level: "read" });
  },
  cases: [
    { key: "stores", name: "list 300 stores", run: (runtime) => runtime.stores(alice).list() },
    {
      key: "stores-search",
      name: "search them",
      run: (runtime) => expectOk(runtime.call("memory", { command: "search", query: "x" }, alice)),
    },
    {
      key: "grants-erase-plan",
      name: "plan to erase a grantee of 300 stores",
      run: ({ upkeep }) => upkeep.planErase(alice),
    },
    { key: "grants-erase", isOnce: true, name: "erase it", run: ({ upkeep }) => upkeep.erase(alice) },
  ],
};

/** Text without a line twice. */
function lines(seed: number, bytes: number): string {
  const random = seededRandom(seed);
  let text = "";
  while (text.length < bytes) text += `${Math.floor(random() * 1e9).toString(36)}\n`;
  return text.slice(0, bytes);
}

export const caseGroups: readonly CaseGroup[] = [waiting, diffs, grants];
