/** The shipped plugin, tampered with: the command says in sentences what is wrong, and ends with 1. */
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { runAudit, unwrapped } from "./run-audit.ts";
import { shippedBytes } from "./tamper.ts";
import { flippedFiles, notReviewed, ofNoPlugin, tamperedFiles } from "./tampered-files.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test.for([...tamperedFiles, ...flippedFiles])(
  "$name is told, and no runtime loads it",
  async ({ bytes, told }, { task }) => {
    const file = join(folder.path, `${task.id}.wasm`);
    writeFileSync(file, bytes);
    const { status, stdout, stderr } = runAudit([file]);
    expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
    for (const sentence of told) expect(unwrapped(stdout)).toContain(sentence);
    expect(stdout).toMatch(/\nFAIL {2}\d+ deviations?\n$/);
    expect(stdout).not.toContain(folder.path);
    const error = await createRuntime({ dataDir: folder.path, plugins: [file] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolError);
  },
);

test.for(flippedFiles)("$name makes it another file than the one that was reviewed", ({ bytes }, { task }) => {
  const file = join(folder.path, `${task.id}.wasm`);
  writeFileSync(file, bytes);
  const said = unwrapped(runAudit([file]).stdout);
  expect(said.includes(notReviewed) || said.includes(ofNoPlugin)).toBe(true);
});

test("a file too large for a plugin is not read", () => {
  const file = join(folder.path, "huge.wasm");
  writeFileSync(file, shippedBytes);
  truncateSync(file, 2 ** 40);
  const { status, stdout } = runAudit([file]);
  expect(status).toBe(1);
  expect(stdout).toContain("It is 1099511627776 bytes, at most 16777216 allowed.");
});

test.for([
  { name: "a file that is not there", file: "absent.wasm", told: "It cannot be read." },
  { name: "a folder", file: ".", told: "It is no regular file." },
  { name: "a device that never ends", file: "/dev/zero", told: "It is no regular file." },
])("$name is told", ({ file, told }) => {
  const { status, stdout } = runAudit([file], folder.path);
  expect(status).toBe(1);
  expect(stdout).toContain(told);
});

test("control: the plugin that these are made from passes, whatever its file is called", () => {
  const file = join(folder.path, "renamed.wasm");
  writeFileSync(file, shippedBytes);
  expect(runAudit([file])).toMatchObject({ status: 0, stdout: expect.stringMatching(/\nPASS {2}.*\n$/) as string });
});
