/** The bytes of all writes that wait have a bound, and it keeps no owner from deciding. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";
import { expect, test } from "vitest";

import { pendingIdOf } from "../stage/pending.ts";
import type { PendingWrite } from "../stage/pending.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
import { waitingId } from "../support/waiting-id.ts";

const owner: CallContext = { userId: "alice" };
const user: CallContext = { userId: "alice", origin: { class: "direct_user", run: "r-1" } };
const source = "https://x.example";
const web: CallContext = { userId: "alice", origin: { class: "tool_external", run: "r-2", source } };
const ofRun = (run: string): CallContext => ({ ...web, origin: { class: "tool_external", run } });

const noon = Date.parse("2026-01-01T12:00:00Z");

/** A journal whose file of the day is so large that each write to it that waits takes almost as much as one may. */
async function openFullDay(dataDir: string): Promise<Runtime> {
  const runtime = await createRuntime({ dataDir, plugins: ["journal"], clock: () => noon });
  expect((await writePage(runtime, user, "mine")).ok).toBe(true);
  const file = join(userFolder(dataDir, "alice"), "journal", "2026", "01", "01.md");
  const block = readFileSync(file, "utf8");
  writeFileSync(file, Array.from({ length: 14 }, (_, at) => block.replace("mine", `mine-${at}`)).join(""));
  return runtime;
}

const writePage = (runtime: Runtime, ctx: CallContext, key: string): Promise<ToolResult> =>
  runtime.call("memory_write", { key, content: "page\n".repeat(13_000) }, ctx);

test("the bytes of waiting writes are bounded for a run and for a user, and who decides makes room", async () => {
  using folder = temporaryFolder();
  await using runtime = await openFullDay(folder.path);
  const ofRuns: string[][] = [];
  const refusals: string[] = [];
  for (let run = 0; run < 6; run++) {
    const ids: string[] = [];
    for (let at = 0; at < 20; at++) {
      const answer = await writePage(runtime, ofRun(`run-${run}`), `page-${run}-${at}`);
      if (!answer.ok && answer.error.code === "QUOTA_EXCEEDED") refusals[run] = answer.error.message;
      if (refusals[run] !== undefined) break;
      ids.push(waitingId(answer));
    }
    ofRuns.push(ids);
    if (ids.length === 0) break;
  }
  expect(refusals[0]).toMatch(
    /the records of the writes of this run .* at most 4194304 allowed; the owner can approve/,
  );
  expect(refusals.at(-1)).toMatch(
    /the records of the writes that wait .* at most 16777216 allowed; the owner can approve/,
  );
  const waiting = await runtime.upkeep.pending(owner);
  expect(waiting.map(({ id }) => id).toSorted()).toEqual(ofRuns.flat().toSorted());
  // One run leaves others their share.
  expect(ofRuns.filter((ids) => ids.length > 0).length).toBeGreaterThanOrEqual(4);
  // What the owner decides is never refused for its bytes: it waits again, under another id.
  await writePage(runtime, user, "later");
  const [first, second] = waiting;
  const again = await runtime.upkeep.approve(owner, first?.id ?? "");
  expect(again.applied).toBe(false);
  await runtime.upkeep.reject(owner, again.write.id);
  await runtime.upkeep.reject(owner, second?.id ?? "");
  waitingId(await writePage(runtime, ofRun("another"), "page"));
});

test("waiting writes above the bounds, of a host that had none, are listed, undone and decided", async () => {
  using folder = temporaryFolder();
  await using runtime = await openFullDay(folder.path);
  const id = waitingId(await writePage(runtime, web, "page"));
  const pending = join(userFolder(folder.path, "alice"), ".memcell", "pending");
  const { id: _, ...facts } = JSON.parse(readFileSync(join(pending, `${id}.json`), "utf8")) as PendingWrite;
  for (let at = 0; at < 20; at++) {
    const other = { ...facts, callId: `call-${at}` };
    const name = pendingIdOf(other);
    writeFileSync(join(pending, `${name}.json`), JSON.stringify({ id: name, ...other }));
  }
  expect(await runtime.upkeep.pending(owner)).toHaveLength(21);
  expect(await writePage(runtime, web, "more")).toMatchObject({ error: { code: "QUOTA_EXCEEDED" } });
  expect(await runtime.upkeep.showPending(owner, id)).toMatchObject({ id, isCurrent: true });
  expect(await runtime.upkeep.approve(owner, id)).toMatchObject({ applied: true });
  const [next] = await runtime.upkeep.pending(owner);
  expect(await runtime.upkeep.reject(owner, next?.id ?? "")).toMatchObject({ id: next?.id });
  const planned = await runtime.upkeep.planUndo(owner, { source });
  expect(planned.waiting).toHaveLength(19);
  expect((await runtime.upkeep.undo(owner, { source })).waiting).toEqual(planned.waiting);
  expect(await runtime.upkeep.pending(owner)).toEqual([]);
});
