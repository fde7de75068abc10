/**
 * The shipped plugin, tampered with: the command says what is wrong and exits with 1. Flipped bits are in
 * `tampered-files.slow.test.ts`.
 */
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { runAudit } from "./run-audit.ts";
import { shippedBytes } from "./tamper.ts";
import { folder, testTampered } from "./tampered-audits.ts";
import { tamperedFiles } from "./tampered-files.ts";

testTampered(tamperedFiles);

test("does not read a file that is too large for a plugin", () => {
  const file = join(folder.path, "huge.wasm");
  writeFileSync(file, shippedBytes);
  truncateSync(file, 2 ** 40);
  const { status, stdout } = runAudit([file]);
  expect(status).toBe(1);
  expect(stdout).toContain("It is 1099511627776 bytes, at most 16777216 allowed.");
});

test.for([
  { name: "a file that is not there", file: "absent.wasm", told: "It cannot be read." },
  { name: "a folder", file: ".", told: "It is not a regular file." },
  { name: "a device that never ends", file: "/dev/zero", told: "It is not a regular file." },
])("reports $name", ({ file, told }) => {
  const { status, stdout } = runAudit([file], folder.path);
  expect(status).toBe(1);
  expect(stdout).toContain(told);
});

test("control: the untampered plugin passes, whatever its file is called", () => {
  const file = join(folder.path, "renamed.wasm");
  writeFileSync(file, shippedBytes);
  expect(runAudit([file])).toMatchObject({ status: 0, stdout: expect.stringMatching(/\nPASS {2}.*\n$/) as string });
});
