/** Modules of other compilers: plugins are sealed; for others the author learns what to change. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { afterAll, describe, expect, test } from "vitest";

import { sealModule } from "../../build/seal-module.ts";
import { fuelSection } from "../../shared/fuel-section.ts";
import type { Family } from "../../shared/manifest.ts";
import { customSections, readSections } from "../../shared/wasm-sections.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import * as z from "../../shared/zod.ts";
import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const family: Family = {
  name: "still",
  version: "1.0.0",
  tools: [
    {
      name: "still",
      export: "still",
      audience: "model",
      description: "Does nothing.",
      input: z.strictObject({}),
      output: z.strictObject({}),
      scopes: ["still"],
      rights: [],
    },
  ],
};

const tool = '(func (export "still") (result i32) (i32.const 0))';
const memory = '(memory (export "memory") 1 2)';
const moduleOf = (...parts: readonly string[]): Uint8Array => assembleGuest(`(module ${parts.join("\n")})`, []);

/** The message for the author of a module; empty if it was sealed. */
async function faultsOf(module: Uint8Array, declared: Family = family): Promise<string> {
  return await sealModule(module, declared).then(
    () => "",
    (error: Error) => error.message,
  );
}

describe("the message says what to change:", () => {
  test.for([
    {
      name: "WASI",
      parts: ['(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))', memory, tool],
      says: [/imports function "wasi_snapshot_preview1" "fd_write"/, /wasm32-unknown-unknown/],
    },
    {
      name: "AssemblyScript's abort",
      parts: ['(import "env" "abort" (func (param i32 i32 i32 i32)))', memory, tool],
      says: [/imports function "env" "abort"/, /--use abort=/],
    },
    {
      name: "a right that no tool asks for",
      parts: ['(import "extism:host/user" "store_read" (func (param i64) (result i64)))', memory, tool],
      says: [/no tool asks for the right "read"/, /add the right to the tool in family\.ts/],
    },
    { name: "no memory", parts: [tool], says: [/one memory and export it as "memory"/] },
    {
      name: "a start function",
      parts: [memory, tool, "(func $go)", "(start $go)"],
      says: [/start function/, /no statements outside functions/],
    },
    {
      name: "a program",
      parts: [memory, tool, '(func (export "_start"))'],
      says: [/exports function "_start"/, /cdylib/],
    },
    {
      name: "several at once: a memory without a maximum, and another export",
      parts: ['(memory (export "memory") 1)', tool, '(func (export "more"))'],
      says: [/--maximumMemory/, /exports function "more"/, /declare a tool of this export/],
    },
    { name: "no tool", parts: [memory], says: [/names "still", which it does not export/, /\(\) -> i32/] },
    {
      name: "a tool of another type",
      parts: [memory, '(func (export "still"))'],
      says: [/exports "still" as ->, allowed is ->i32/],
    },
  ])("$name", async ({ parts, says }) => {
    const told = await faultsOf(moduleOf(...parts));
    for (const pattern of says) expect(told).toMatch(pattern);
  });

  test("an invalid declaration", async () => {
    expect(await faultsOf(moduleOf(memory, tool), { ...family, version: "1" })).toMatch(
      /family\.ts has a wrong version/,
    );
  });
});

test("sealing removes only parts that no call can notice", async () => {
  const surplus = moduleOf(memory, tool, '(global (export "__heap_base") i32 (i32.const 7))');
  const named = writeModule([...readSections(surplus), customSection("producers", Buffer.from("/home/somebody"))]);
  const { wasm, manifest } = await sealModule(named, family);
  expect(Buffer.from(wasm).includes("somebody")).toBe(false);
  const exported = WebAssembly.Module.exports(await WebAssembly.compile(wasm)).map(({ name }) => name);
  expect(exported.toSorted()).toEqual(["memory", "still"]);
  expect(manifest).toMatchObject({ name: "still", memoryPages: { min: 1, max: 2 }, deadlineMs: 10_000 });
  expect((await sealModule(wasm, family)).wasm).toEqual(wasm);
});

test("a module without a fuel counter declares the least fuel; one with a counter keeps it", async () => {
  const without = await sealModule(moduleOf(memory, tool), family);
  expect(without.manifest.fuelPolls).toBe(1);
  const counting = moduleOf(memory, tool, "(global (mut i32) (i32.const 0))");
  const marked = writeModule([...readSections(counting), customSection(fuelSection, Uint8Array.of(0))]);
  const { wasm, manifest } = await sealModule(marked, family);
  expect(manifest.fuelPolls).toBe(20_000);
  expect(customSections(readSections(wasm), fuelSection)).toEqual([Uint8Array.of(0)]);
});

test("the deadline stops a module that has no fuel counter and never ends", async () => {
  const file = join(folder.path, "endless.wasm");
  const endless = '(func (export "still") (result i32) (loop $on (br $on)) (i32.const 0))';
  writeFileSync(file, (await sealModule(moduleOf(memory, endless), family)).wasm);
  const policy = policyFor([file], { deadlineMs: 300 });
  await using runtime = await createRuntime({ dataDir: join(folder.path, "data"), plugins: [file], policy });
  expect(await runtime.call("still", {}, { userId: "alice" })).toMatchObject({
    ok: false,
    error: { code: "DEADLINE_EXCEEDED" },
  });
});

describe("npm run seal", () => {
  const command = fileURLToPath(new URL("dist/build/seal-main.js", import.meta.resolve("memcell/package.json")));
  const tally = fileURLToPath(new URL("../foreign/tally", import.meta.url));
  const seal = (...args: readonly string[]): { status: number | null; output: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: "utf8" });
    return { status, output: `${stdout}${stderr}` };
  };

  test("seals the module of AssemblyScript to the file that the tests load", () => {
    const out = join(folder.path, "tally.wasm");
    const { status, output } = seal(testPlugin("tally"), tally, "--out", out);
    expect(output).toContain("memory 1 to 64 pages, deadline 10000 ms, fuel 1 polls");
    expect(status).toBe(0);
    expect(readFileSync(out).equals(readFileSync(testPlugin("tally")))).toBe(true);
    expect(readFileSync(`${out}.sha256`, "utf8")).toMatch(/^[0-9a-f]{64} {2}tally\.wasm\n$/);
  });

  test("plugin/README.md shows the message about WASI", async () => {
    const wasi = '(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))';
    const shown = blocksIn(textOf("plugin/README.md")).find(({ text }) => text.startsWith("it imports "))?.text;
    const message = await faultsOf(moduleOf(wasi, memory, tool));
    expect(message.replaceAll(/^ {2}/gm, "")).toContain(`:\n${shown}`);
  });

  test("writes nothing for a module that is not a plugin", () => {
    const [module, out] = [join(folder.path, "bare.wasm"), join(folder.path, "none.wasm")];
    writeFileSync(module, moduleOf(memory));
    mkdirSync(join(folder.path, "empty"));
    expect(seal(module, tally, "--out", out)).toMatchObject({
      status: 1,
      output: expect.stringContaining("tally_add"),
    });
    expect(seal(module, join(folder.path, "empty"), "--out", out).status).toBe(1);
    expect(seal(join(folder.path, "absent.wasm"), tally, "--out", out).status).toBe(1);
    expect(existsSync(out)).toBe(false);
  });

  test.for([[], ["a.wasm"], ["a.wasm", "b"], ["a.wasm", "b", "c", "--out", "d"], ["--fast"]])(
    "prints the help for %j",
    (args) => {
      expect(seal(...args)).toMatchObject({ status: 2, output: expect.stringContaining("npm run seal --") });
    },
  );
});
