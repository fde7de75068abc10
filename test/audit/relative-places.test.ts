/** Relative names of the data folder and the log mean what they meant when the runtime was asked for. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readRecords, upsert } from "./audited-stage.ts";

test("a program that changes its folder, and its options, while a runtime is made", async () => {
  using folder = temporaryFolder();
  using elsewhere = temporaryFolder();
  const before = process.cwd();
  const auditLog = { file: "log/audit.jsonl" };
  try {
    process.chdir(folder.path);
    const opening = createRuntime({ dataDir: "data", auditLog });
    process.chdir(elsewhere.path);
    auditLog.file = "other.jsonl";
    await using runtime = await opening;
    expect(await runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice" })).toMatchObject({ ok: true });
  } finally {
    process.chdir(before);
  }
  expect(readdirSync(elsewhere.path)).toEqual([]);
  expect(readdirSync(folder.path).toSorted()).toEqual(["data", "log"]);
  const kinds = readRecords(join(folder.path, "log/audit.jsonl")).map(({ kind }) => kind);
  expect(kinds).toEqual(["opened", "staged", "call", "closed"]);
});

test.for([null, false, "", 0])("an audit log that is %o is refused, not left out", async (auditLog) => {
  using folder = temporaryFolder();
  const options = { dataDir: folder.path, auditLog: auditLog as never };
  await expect(createRuntime(options)).rejects.toThrow(TypeError);
});
