/** A hostile plugin against the capability boundary: a request beyond its grant ends the call without effect. */
import { afterAll, expect, test } from "vitest";

import { ask, memory, openPuppetStage } from "./puppet-stage.ts";

// Paths, prefixes and scopes: `hostile-texts.test.ts`.
const stage = await openPuppetStage();
afterAll(() => stage[Symbol.asyncDispose]());

test.for([
  { name: "write", step: ask("store_write", memory("b.md", "x")) },
  { name: "trash", step: ask("store_trash", memory("a.md")) },
  { name: "list", step: ask("store_list", { scope: "memory" }) },
  { name: "clock", step: ask("clock_now", {}) },
])("a tool without the right to $name cannot do it, although its plugin imports the capability", async ({ step }) => {
  stage.expectDenied(await stage.play([step], "ReadingPuppet"));
  stage.expectUntouched();
});

test("a denial drops the writes before it and the success reported after it", async () => {
  const denied = ask("store_read", memory("../x"));
  const steps = [ask("store_write", memory("b.md", "x")), denied, ask("store_write", memory("c.md", "x"))];
  stage.expectDenied(await stage.play(steps));
  stage.expectUntouched();
});

test("a failure drops the writes before it", async () => {
  const failure = JSON.stringify({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "no" } });
  const steps = [ask("store_write", memory("b.md", "x")), ask("store_trash", memory("a.md")), { fail: failure }];
  expect(await stage.play(steps)).toMatchObject({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "no" } });
  stage.expectUntouched();
});

test.for([
  { name: "no JSON", step: { of: "store_read", request: "{" } },
  { name: "nothing", step: { of: "store_read", request: "" } },
  { name: "an array", step: ask("store_read", []) },
  { name: "a missing field", step: ask("store_read", { scope: "memory" }) },
  { name: "an unknown field", step: ask("store_read", { ...memory("a.md"), userId: "bob" }) },
  { name: "a lone surrogate", step: ask("store_write", memory("b.md", "\ud800")) },
  { name: "handle 0", step: { of: "store_read", handle: 0 } },
  { name: "a handle that names no block", step: { of: "store_read", handle: 2 ** 50 } },
  { name: "a negative handle", step: { of: "store_read", handle: -1 } },
])("a capability refuses $name as its request", async ({ step }) => {
  stage.expectDenied(await stage.play([step]));
  stage.expectUntouched();
});
