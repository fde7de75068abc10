/** The bytes of all writes that wait have a bound, and it keeps no owner from deciding. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { CallContext } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { pendingIdOf } from "../stage/pending.ts";
import type { PendingWrite } from "../stage/pending.ts";
import { userFolder } from "../support/user-files.ts";
import { waitingId } from "../support/waiting-id.ts";
import { inRun, openGateStage, owner, web } from "./gate-stage.ts";
import type { GateStage } from "./gate-stage.ts";

let stage: GateStage;
beforeAll(async () => {
  stage = await openGateStage("files");
});
afterAll(() => stage[Symbol.asyncDispose]());

test("the bytes of waiting writes are bounded for a run and for a user, and who decides makes room", async () => {
  const alice = owner("alice");
  const runtime = await stage.open({ plugins: ["journal"], clock: () => Date.parse("2026-01-01T12:00:00Z") });
  const write = (key: string, ctx: CallContext) =>
    runtime.call("memory_write", { key, content: "page\n".repeat(13_000) }, ctx);
  expect(await write("mine", inRun("alice", "mine"))).toMatchObject({ ok: true });
  // So large that each write to it that waits takes almost as much as one may.
  const day = join(userFolder(stage.path, "alice"), "journal/2026/01/01.md");
  const block = readFileSync(day, "utf8");
  writeFileSync(day, Array.from({ length: 14 }, (_, at) => block.replace("mine", `mine-${at}`)).join(""));
  const page = (run: string) => write("page", web("alice", run));
  const expectFull = async (run: string, message: RegExp) =>
    expect(await page(run)).toMatchObject({
      error: { code: "QUOTA_EXCEEDED", message: expect.stringMatching(message) },
    });

  // One run leaves others their share.
  const first = waitingId(await page("first"));
  let ofRun = 1;
  for (; ; ofRun++) {
    const answer = await page("first");
    if (!answer.ok && answer.error.code !== "WRITE_PENDING") break;
  }
  expect(ofRun).toBeGreaterThan(1);
  await expectFull("first", /the records of the writes of this run .* at most 4194304 allowed; the owner can approve/);
  const second = waitingId(await page("second"));

  // More than may wait, as of a host that had no bound: they are listed, decided and undone.
  const pending = stage.own("alice", "pending");
  const { id: _, ...facts } = JSON.parse(readFileSync(join(pending, `${second}.json`), "utf8")) as PendingWrite;
  for (let at = 0; at < 20; at++) {
    const other = { ...facts, callId: `call-${at}` };
    const id = pendingIdOf(other);
    writeFileSync(join(pending, `${id}.json`), JSON.stringify({ id, ...other }));
  }
  await expectFull("third", /the records of the writes that wait .* at most 16777216 allowed; the owner can approve/);
  const { upkeep } = runtime;
  expect(await upkeep.pending(alice)).toHaveLength(ofRun + 21);
  expect(await upkeep.showPending(alice, second)).toMatchObject({ id: second, isCurrent: true });
  // What the owner decides is never refused for its bytes: it waits again, under another id.
  await write("later", inRun("alice", "mine"));
  const again = await upkeep.approve(alice, second);
  expect(again.applied).toBe(false);
  expect(await upkeep.approve(alice, again.write.id)).toMatchObject({ applied: true });
  await upkeep.reject(alice, first);
  const planned = await upkeep.planUndo(alice, { run: "second" });
  expect(planned.waiting).toHaveLength(20);
  expect((await upkeep.undo(alice, { run: "second" })).waiting).toEqual(planned.waiting);
  waitingId(await page("third"));
});
