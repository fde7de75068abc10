/** A process under a real limit of open files: until there are enough, a call fails with a code and leaves nothing. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { compiledScript } from "../store-under-test.ts";
import type { DescriptorsReport } from "./descriptors-workload.ts";

test("with too few descriptors a call fails and leaves nothing, with enough it succeeds", async (context) => {
  if (process.platform !== "linux") skipWithReason(context, "only Linux lists a process's descriptors in /proc");
  using folder = temporaryFolder();
  const script = compiledScript("fault/descriptors-workload.js");
  const command = 'ulimit -n 100 && exec "$0" "$@"';
  const { stdout } = await promisify(execFile)("sh", ["-c", command, process.execPath, script, folder.path]);
  const { codes, problems } = JSON.parse(stdout) as DescriptorsReport;
  console.log(`free descriptors from 0 on: ${codes.map((code) => code ?? "acknowledged").join(", ")}`);
  expect(problems).toEqual([]);
  expect(codes.slice(0, -1)).toEqual(codes.slice(0, -1).map(() => "STORAGE_BUSY"));
  expect(codes.length).toBeGreaterThan(5);
});
