/**
 * Files that are no plugin, or one with too much in it: refused from their bytes, for a reason that names what is there
 * and what is allowed, and a runtime without them serves right after.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import { WasmReader } from "../../shared/wasm-sections.ts";
import { policyFor } from "../support/policy-for.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { expectServed } from "./guest-stage.ts";
import { goodFile, wholeFiles, refusedFiles } from "./plugin-files.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test.for(refusedFiles)("a file that holds $name is refused, and others serve", async ({ bytes, reason }, { task }) => {
  const file = join(folder.path, `${task.id}.wasm`);
  writeFileSync(file, bytes);
  await expectRefused(file, reason);
  await expectOthersServe(task.id);
});

test("a file of 17 MiB is refused, and what is in it is not read", async () => {
  const file = join(folder.path, "large.wasm");
  writeFileSync(file, "");
  // Sparse, and far more than memory has room for: whoever reads it fails for another reason.
  for (const bytes of [17 * 2 ** 20, 2 ** 40]) {
    truncateSync(file, bytes);
    await expectRefused(file, new RegExp(`it is ${bytes} bytes, at most 16777216 allowed`));
  }
  await expectOthersServe("large");
});

test("what is no regular file is refused, and not waited for", async () => {
  const fifo = join(folder.path, "fifo.wasm");
  execFileSync("mkfifo", [fifo]);
  await expectRefused(fifo, /it is not a regular file/);
  const directory = join(folder.path, "directory.wasm");
  mkdirSync(directory);
  await expectRefused(directory, /it is not a regular file/);
  await expectRefused(join(folder.path, "absent.wasm"), /"absent.wasm": it cannot be read/);
  await expectRefused("/dev/zero", /it is not a regular file/);
});

test.for(wholeFiles)("$name that is cut off anywhere is refused", async ({ wasm }) => {
  const random = seededRandom(4);
  const places = Array.from({ length: 150 }, () => Math.floor(random() * wasm.length));
  const nearBorders = bordersOf(wasm).flatMap((at) => [at - 1, at, at + 1]);
  const cuts = new Set([...nearBorders, ...places].filter((at) => at < wasm.length));
  expect(cuts.size).toBeGreaterThan(100);
  const file = join(folder.path, "cut.wasm");
  for (const at of cuts) {
    writeFileSync(file, wasm.subarray(0, at));
    await expectRefused(file, /Cannot load plugin "cut.wasm": it/);
  }
  await expectOthersServe("cut");
});

test("control: the guest that these are made from is accepted", async () => {
  const file = join(folder.path, "good.wasm");
  writeFileSync(file, goodFile);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy: policyFor([file]) });
  expect(runtime.tools().map((tool) => tool.name)).toEqual(["Guest"]);
});

test.for(wholeFiles)("control: $name is accepted as long as nothing is cut off", async ({ wasm }) => {
  const file = join(folder.path, "whole.wasm");
  writeFileSync(file, wasm);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy: policyFor([file]) });
  expect(runtime.tools().length).toBeGreaterThan(0);
});

/** Where each section ends, and the header. */
function bordersOf(wasm: Uint8Array): number[] {
  const borders = [8];
  const reader = new WasmReader(wasm, 8);
  while (!reader.atEnd) {
    reader.byte();
    reader.bytes(reader.u32());
    borders.push(wasm.length - reader.rest.length);
  }
  return borders;
}

async function expectRefused(file: string, reason: RegExp): Promise<void> {
  const error = await createRuntime({ dataDir: folder.path, plugins: [file], policy: policyFor([file]) }).catch(
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ToolError)) throw new Error(`The plugin was not refused: ${String(error)}`);
  expect(error.code).toBe("PLUGIN_REFUSED");
  expect(error.message).toMatch(reason);
  expect(error.message).not.toContain(folder.path);
  expect(error.message.length).toBeLessThan(400);
}

async function expectOthersServe(name: string): Promise<void> {
  const dataDir = join(folder.path, "data");
  await using runtime = await createRuntime({ dataDir, plugins: [shippedPlugin("user-memory")], threadsMax: 1 });
  await expectServed(runtime, name);
}
