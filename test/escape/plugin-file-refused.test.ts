/**
 * Files that are not plugins, or exceed a limit: the host refuses them from their bytes, and the reason names the
 * present and the allowed value. A runtime without them works right afterwards.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { WasmReader } from "../../shared/wasm-sections.ts";
import { policyFor } from "../support/policy-for.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { expectServed } from "./guest-stage.ts";
import { goodFile, wholeFiles, refusedFiles } from "./plugin-files.ts";

const folder = temporaryFolder();
let others: Runtime;
beforeAll(async () => {
  others = await createRuntime({ dataDir: join(folder.path, "data"), plugins: ["user-memory"], threadsMax: 1 });
});
afterAll(async () => {
  await others.close();
  folder[Symbol.dispose]();
});
afterEach(({ task }) => expectServed(others, task.id));

test.for(refusedFiles)("a file with %s is refused", async ([, bytes, reason]) => {
  const file = join(folder.path, "refused.wasm");
  writeFileSync(file, bytes);
  await expectRefused(file, reason);
});

test("a file of 17 MiB is refused without reading it", async () => {
  const file = join(folder.path, "large.wasm");
  writeFileSync(file, "");
  // Sparse, and the second does not fit into memory: reading it would fail for another reason.
  for (const bytes of [17 * 2 ** 20, 2 ** 40]) {
    truncateSync(file, bytes);
    await expectRefused(file, new RegExp(`it is ${bytes} bytes, at most 16777216 allowed`));
  }
});

test("anything but a regular file is refused without waiting for it", async () => {
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
});

test("control: the guest that these files are derived from is accepted", async () => {
  const file = join(folder.path, "good.wasm");
  writeFileSync(file, goodFile);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy: policyFor([file]) });
  expect(runtime.tools().map((tool) => tool.name)).toEqual(["Guest"]);
});

test.for(wholeFiles)("control: $name is accepted when it is complete", async ({ wasm }) => {
  const file = join(folder.path, "whole.wasm");
  writeFileSync(file, wasm);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy: policyFor([file]) });
  expect(runtime.tools().length).toBeGreaterThan(0);
});

/** The offsets where the header and each section end. */
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
