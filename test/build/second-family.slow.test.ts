/** A second family needs only a folder: this builds one and calls it. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { buildPlugin } from "../../build/build-plugin.ts";
import { readFamilies } from "../../build/family.ts";
import { sealPlugin } from "../../build/seal.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

const familyText = `
import type { Family } from "${projectFolder}shared/manifest.ts";
import * as z from "${projectFolder}shared/zod.ts";
import { input } from "./input.ts";

export const family: Family = {
  name: "counter",
  version: "1.2.3",
  tools: [{
    name: "Count", export: "count", audience: "model", description: "Counts its calls.",
    input, output: z.strictObject({ count: z.int() }), scopes: ["counts"], rights: ["read", "write"],
  }],
  errors: [
    { code: "STEP_INVALID", of: "INPUT_INVALID", meaning: "The step is no whole number." },
    { code: "COUNT_FULL", of: "QUOTA_EXCEEDED", meaning: "The count would be over 1,000." },
  ],
};`;

const inputText = `
import * as z from "${projectFolder}shared/zod.ts";
export const input = z.strictObject({ by: z.int() }, { error: "no other field than by" });`;

const indexText = `
import { Scope } from "${projectFolder}plugin/capabilities.ts";
import { serveWithCodes } from "${projectFolder}plugin/serve-tool.ts";
import { ToolError } from "${projectFolder}plugin/tool-error.ts";
import { input } from "./input.ts";

const codeOfField = (field: string) => (field === "by" ? "STEP_INVALID" : "INPUT_INVALID");

export const count = serveWithCodes({ toolName: "Count", schema: input, codeOfField }, ({ by }) => {
  if (by === 999) for (const kept: unknown[] = []; ; ) kept.push(new Uint8Array(1024 * 1024).fill(1));
  const scope = new Scope("counts");
  const total = Number(scope.read("total.txt") ?? 0) + by;
  scope.write("total.txt", String(total));
  if (total > 1000) throw new ToolError("COUNT_FULL", "Cannot count to " + total + ": at most 1000 allowed");
  return { message: "Counted", data: { count: total } };
});`;

test("a folder with family.ts and index.ts becomes a plugin with its own scope", async () => {
  const source = join(folder.path, "plugin", "counter");
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, "family.ts"), familyText);
  writeFileSync(join(source, "input.ts"), inputText);
  writeFileSync(join(source, "index.ts"), indexText);
  const [family] = await readFamilies(join(folder.path, "plugin"));
  if (!family) throw new Error("The family was not found");
  const { wasm, manifest } = await buildPlugin(family, { optimise: false });
  expect(manifest).toMatchObject({ name: "counter", version: "1.2.3", abi: 1 });

  const file = join(folder.path, "counter.wasm");
  writeFileSync(file, wasm);
  const dataDir = join(folder.path, "data");
  await using runtime = await createRuntime({ dataDir, plugins: [file], policy: policyFor([file]) });
  expect(runtime.tools()).toMatchObject([{ name: "Count", inputSchema: { properties: { by: { type: "integer" } } } }]);
  await runtime.call("Count", { by: 2 }, { userId: "alice" });
  expect(await runtime.call("Count", { by: 3 }, { userId: "alice" })).toMatchObject({ ok: true, data: { count: 5 } });
  expect(await runtime.call("Count", { by: 999 }, { userId: "alice" })).toMatchObject({
    ok: false,
    error: { code: "MEMORY_EXCEEDED" },
  });
  expect(await runtime.call("Count", { by: 998 }, { userId: "alice" })).toEqual({
    ok: false,
    error: {
      code: "COUNT_FULL",
      of: "QUOTA_EXCEEDED",
      message: "Cannot count to 1003: at most 1000 allowed",
      blame: "caller",
      retryable: false,
    },
  });
  expect(await runtime.call("Count", { by: "1", at: 2 }, { userId: "alice" })).toMatchObject({
    ok: false,
    error: { code: "STEP_INVALID", of: "INPUT_INVALID", issues: [{ field: "by", value: '"1"' }, { field: "at" }] },
  });
  const unknown = await runtime.call("Count", { by: 1, at: 2 }, { userId: "alice" });
  expect(unknown).toMatchObject({ ok: false, error: { code: "INPUT_INVALID", issues: [{ field: "at" }] } });
  expect(unknown.ok ? {} : unknown.error).not.toHaveProperty("of");
  expect(readUserFiles(dataDir, "alice")).toEqual({ "counts/total.txt": "5" });
});

test("a family that declares an error code of the ABI is not sealed", async () => {
  const [source] = await readFamilies(join(folder.path, "plugin"));
  if (!source) throw new Error("The family was not found");
  const errors = [{ code: "STORAGE_FULL", of: "QUOTA_EXCEEDED" as const, meaning: "The count is full." }];
  await expect(buildPlugin({ ...source, family: { ...source.family, errors } }, { optimise: false })).rejects.toThrow(
    'Cannot seal plugin "counter": its manifest declares the error code STORAGE_FULL, which is one of the table',
  );
});

test("a manifest that no host would load is not sealed", async () => {
  const errors = [{ code: "count_full", of: "QUOTA_EXCEEDED" as const, meaning: "The count is full." }];
  const manifest = { ...guestManifest("counter", { Count: "count" }), errors };
  await expect(sealPlugin(new Uint8Array(), manifest)).rejects.toThrow(
    'Cannot seal plugin "counter": its manifest does not have the form of ABI version 1 or 2, at errors.0.code',
  );
});

test("a folder whose name differs from its family's name is refused", async () => {
  const renamed = join(folder.path, "renamed");
  cpSync(join(folder.path, "plugin", "counter"), join(renamed, "other"), { recursive: true });
  await expect(readFamilies(renamed)).rejects.toThrow('folder is "other", its family.ts says "counter"');
});
