/** Error codes that a plugin may not declare: refused when the runtime is created, before any of its code runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import type { PluginError } from "../../shared/manifest.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const seatTaken: PluginError = { code: "SEAT_TAKEN", of: "NAME_CONFLICT", meaning: "Somebody sits there." };
const manyErrors = (count: number): PluginError[] =>
  Array.from({ length: count }, (_, at) => ({
    ...seatTaken,
    code: `SEAT_${"ABCDEFGH"[at % 8]}_${"A".repeat(at / 8 + 1)}`,
  }));

/** A plugin that would load if its declared errors were valid. */
function writePlugin(tool: string, errors: unknown): string {
  const file = join(folder.path, `${tool}.wasm`);
  const text = '(module (memory (export "memory") 1 4) (func (export "guest") (result i32) (i32.const 0)))';
  const manifest = { ...guestManifest(tool.toLowerCase(), { [tool]: "guest" }), errors };
  writeFileSync(file, assembleGuest(text, [JSON.stringify(manifest)]));
  return file;
}

const ofNoForm = [
  { name: "is a case of a code that only a host reports", error: { ...seatTaken, of: "STORAGE_FULL" } },
  { name: "is a case of a denial", error: { ...seatTaken, of: "CAPABILITY_DENIED" } },
  { name: "is a case of a crash", error: { ...seatTaken, of: "GUEST_TRAPPED" } },
  { name: "is a case of an unknown code", error: { ...seatTaken, of: "SEAT" } },
  { name: "is a case of itself", error: { ...seatTaken, of: "SEAT_TAKEN" } },
  { name: "has no `of`", error: { code: "SEAT_TAKEN", meaning: "Taken." } },
  { name: "has an empty meaning", error: { ...seatTaken, meaning: "" } },
  { name: "says whose fault it is", error: { ...seatTaken, blame: "host" } },
  { name: "is in lower case", error: { ...seatTaken, code: "Seat_taken" } },
  { name: "begins with _", error: { ...seatTaken, code: "_SEAT" } },
  { name: "has 65 characters", error: { ...seatTaken, code: "A".repeat(65) } },
  { name: "is empty", error: { ...seatTaken, code: "" } },
].map(({ name, error }) => ({ name: `a code that ${name}`, errors: [error] as unknown, reason: /form of ABI/ }));

test.for([
  {
    name: "a code of the table's",
    errors: [{ code: "STORAGE_FULL", of: "QUOTA_EXCEEDED", meaning: "A lie." }],
    reason: /declares the error code STORAGE_FULL, which is one of the table$/,
  },
  {
    name: "a code of the table's as itself",
    errors: [{ code: "NAME_CONFLICT", of: "NAME_CONFLICT", meaning: "The same." }],
    reason: /declares the error code NAME_CONFLICT, which is one of the table$/,
  },
  {
    name: "a code twice",
    errors: [seatTaken, { ...seatTaken, of: "ENTRY_NOT_FOUND" }],
    reason: /declares the error code SEAT_TAKEN more than once$/,
  },
  { name: "65 codes", errors: manyErrors(65), reason: /declares 65 error codes, at most 64 allowed$/ },
  {
    name: "a code whose meaning has a hidden character",
    errors: [{ ...seatTaken, meaning: "Taken.\u{e0041}" }],
    reason: /error code SEAT_TAKEN has the character U\+E0041 in its meaning, where a model would read it/,
  },
  { name: "codes that are not a list", errors: { SEAT_TAKEN: "NAME_CONFLICT" }, reason: /form of ABI/ },
  ...ofNoForm,
])("a plugin that declares $name is refused", async ({ errors, reason }) => {
  const plugins = [writePlugin("Guest", errors)];
  const policy = policyFor(plugins);
  const error = await createRuntime({ dataDir: folder.path, plugins, policy }).catch((thrown: unknown) => thrown);
  if (!(error instanceof ToolError)) throw new Error("The plugin was not refused");
  expect(error).toMatchObject({ code: "PLUGIN_REFUSED", message: expect.stringMatching(reason) });
});

test("control: two plugins can declare the same codes, as many as are allowed", async () => {
  const plugins = ["First", "Second"].map((tool) => writePlugin(tool, manyErrors(64)));
  await using runtime = await createRuntime({ dataDir: folder.path, plugins, policy: policyFor(plugins) });
  expect(runtime.tools().map(({ name, errors }) => [name, errors])).toEqual([
    ["First", manyErrors(64)],
    ["Second", manyErrors(64)],
  ]);
});
