/** A second family is a folder, and nothing else has to change: build one here and call it. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { buildPlugin } from "../../build/build-plugin.ts";
import { readFamilies } from "../../build/family.ts";
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
};`;

const inputText = `
import * as z from "${projectFolder}shared/zod.ts";
export const input = z.strictObject({ by: z.int() }, { error: "no other field than by" });`;

const indexText = `
import { Scope } from "${projectFolder}plugin/capabilities.ts";
import { serveTool } from "${projectFolder}plugin/serve-tool.ts";
import { input } from "./input.ts";

export function count(): number {
  return serveTool("Count", input, ({ by }) => {
    if (by === 999) for (const kept: unknown[] = []; ; ) kept.push(new Uint8Array(1024 * 1024).fill(1));
    const scope = new Scope("counts");
    const total = Number(scope.read("total.txt") ?? 0) + by;
    scope.write("total.txt", String(total));
    return { message: "Counted", data: { count: total } };
  });
}`;

test("a folder with family.ts and index.ts becomes a plugin with a scope of its own", async () => {
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
  expect(readUserFiles(dataDir, "alice")).toEqual({ "counts/total.txt": "5" });
});

test("a folder whose name is not its family's is an error that says so", async () => {
  const renamed = join(folder.path, "renamed");
  cpSync(join(folder.path, "plugin", "counter"), join(renamed, "other"), { recursive: true });
  await expect(readFamilies(renamed)).rejects.toThrow('folder is "other", its family.ts says "counter"');
});
