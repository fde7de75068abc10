/** A guest's actions and its fuel are on record, even if its thread is killed or it floods the host. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { afterAll, beforeEach, expect, test } from "vitest";

import { fuelSection } from "../../shared/fuel-section.ts";
import { readSections } from "../../shared/wasm-sections.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { burning, writeSpinner } from "../bounds/bounded-stage.ts";
import { openStage } from "../stage/runtime.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeGuest } from "../support/write-guest.ts";
import { ask, openAuditedStage, read, write } from "./audited-stage.ts";

const stage = await openAuditedStage({ threadsMax: 1 });
/** Two plugins never return. */
const hasty = await openAuditedStage({ deadlineMs: 3_000 }, (folder) => [
  writeSpinner(folder, 10_000),
  writeGuest(folder, "lurker", { Lurk: "lurk" }, { Lurk: ["read"] }),
]);
afterAll(async () => {
  for (const each of [stage, hasty]) await each[Symbol.asyncDispose]();
});
const { runtime } = stage;
let ctx: { readonly userId: string; readonly callId: string };
beforeEach(() => {
  const userId = stage.user();
  ctx = { userId, callId: `of-${userId}` };
});

test("records a denied capability, and dropped changes, of guests that then loop until their thread is killed", async () => {
  await hasty.runtime.call("Puppet", [write("a.md", "of alice")], { ...ctx, callId: "before" });
  const code = "DEADLINE_EXCEEDED";
  expect(await hasty.runtime.call("Lurk", {}, ctx)).toMatchObject({ ok: false, error: { code } });
  expect(hasty.recordsOf("use", ctx.callId)).toMatchObject([
    { tool: "Lurk", capability: "store_read", scope: "others", path: "b.md", code: "CAPABILITY_DENIED" },
  ]);
  const reads = [{ scope: "memory", path: "a.md", bytes: 8 }];
  const lurked = { reads, usesDenied: 1, changes: "none", code, fuelPolls: null };
  expect(hasty.recordsOf("call", ctx.callId)).toMatchObject([lurked]);
  await hasty.runtime.call("Spin", {}, { ...ctx, callId: "spun" });
  const spun = { tool: "Spin", writes: [{ scope: "memory", path: "spun.md" }], changes: "dropped", code };
  expect(hasty.recordsOf("call", "spun")).toMatchObject([spun]);
  expect(hasty.recordsOf("staged", "spun")).toEqual([]);
  expect(Object.keys(hasty.filesOf(ctx.userId))).toEqual(["memory/a.md"]);
});

test("records a cancelled guest's denial, and nothing of it in the next call of its thread", async () => {
  const controller = new AbortController();
  await runtime.call("Puppet", [], { ...ctx, callId: "before" });
  const steps = [read("a.md"), ask("store_read", { scope: "../x", path: "y" }), { spin: true }];
  const running = runtime.call("Puppet", steps, { ...ctx, signal: controller.signal });
  await burning();
  controller.abort();
  expect(await running).toMatchObject({ error: { code: "CANCELLED" } });
  expect(stage.recordsOf("use", ctx.callId)).toMatchObject([{ scope: "../x", path: "y" }]);
  expect(stage.recordsOf("call", ctx.callId)).toMatchObject([{ code: "CANCELLED", usesDenied: 1 }]);
  for (const _ of [1, 2]) await runtime.call("Puppet", [], { ...ctx, callId: "next" });
  const nothing = { reads: [], usesDenied: 0, code: null };
  expect(stage.recordsOf("call", "next")).toMatchObject([nothing, nothing]);
});

test("a call's fuel is what its guest counted, also of one that fails", async () => {
  // So little that a guest uses it up before its deadline, beside any load.
  const fuelPolls = 4_000;
  await using sparing = await openAuditedStage({ threadsMax: 1, fuelPolls });
  const polls = async (...steps: object[]): Promise<number | null | undefined> => {
    await sparing.runtime.call("Puppet", steps, ctx);
    return sparing.recordsOf("call", ctx.callId).at(-1)?.fuelPolls;
  };
  const few = (await polls({ turns: 100_000 })) ?? 0;
  const many = (await polls({ turns: 2_000_000 })) ?? 0;
  expect(few).toBeGreaterThan(0);
  expect(many / few).toBeGreaterThan(10);
  expect(await polls()).toBeLessThan(few);
  expect(await polls({ spin: true })).toBe(fuelPolls);
  expect(await polls({ turns: 100_000 }, { fail: "x" })).toBeGreaterThan(0);
  expect(await polls({ recurse: true })).not.toBeNull();
});

const guest = `(module (memory (export "memory") 1 4)
  (global $constant i32 (i32.const 1)) (global $wide (mut i64) (i64.const 1)) (global $fuel (mut i32) (i32.const 0))
  (func (export "run") (result i32)
    (global.set $fuel (i32.const FUEL)) (global.set $wide (i64.const 0))
    (i32.const 1)))`;

function writeCounting(folder: string, fuel: number, sections: readonly Uint8Array[]): string {
  const manifest = JSON.stringify(guestManifest("counting", { Count: "run" }));
  const wasm = assembleGuest(guest.replace("FUEL", `${fuel}`), [manifest]);
  const file = join(folder, "counting.wasm");
  const named = sections.map((content) => customSection(fuelSection, content));
  writeFileSync(file, writeModule([...readSections(wasm), ...named]));
  return file;
}

test.for<readonly [name: string, sections: Uint8Array[], reason: string]>([
  ["empty", [new Uint8Array()], "it ends too early"],
  ["longer than a number", [Uint8Array.of(2, 0)], "holds more than a number"],
  ["for a constant", [Uint8Array.of(0)], "names no mutable i32 global"],
])("refuses a fuel section that is %s", async ([, sections, reason]) => {
  using folder = temporaryFolder();
  const plugins = [writeCounting(folder.path, 1, sections)];
  const opening = createRuntime({ dataDir: join(folder.path, "data"), plugins, policy: policyFor(plugins) });
  await expect(opening).rejects.toMatchObject({ code: "PLUGIN_REFUSED", message: expect.stringContaining(reason) });
});

test.for([
  { name: "used some fuel", fuel: 19_990, sections: [Uint8Array.of(2)], fuelPolls: 10 },
  { name: "reports more fuel than it was given", fuel: 2_000_000, sections: [Uint8Array.of(2)], fuelPolls: 0 },
  { name: "reports negative fuel", fuel: -5, sections: [Uint8Array.of(2)], fuelPolls: 20_000 },
  { name: "names no global", fuel: 1, sections: [], fuelPolls: null },
])("clamps the fuel reported by a guest that $name", async ({ fuel, sections, fuelPolls }) => {
  await using counting = await openStage((folder) => {
    const plugins = [writeCounting(folder, fuel, sections)];
    return { plugins, policy: policyFor(plugins) };
  });
  await counting.runtime.call("Count", {}, ctx);
  expect(counting.records(ctx.userId)).toMatchObject([{ fuelPolls }]);
});
