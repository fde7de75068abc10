/** Relative paths of the data folder, log, plugins and policy are resolved when createRuntime is called. */
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { readRecords, upsert } from "./audited-stage.ts";

test("a later change of working directory or options does not affect a runtime being created", async () => {
  using folder = temporaryFolder();
  using elsewhere = temporaryFolder();
  const before = process.cwd();
  const auditLog = { file: "log/audit.jsonl" };
  const plugins = ["mine.wasm"];
  copyFileSync(shippedPlugin("user-memory"), join(folder.path, "mine.wasm"));
  writeFileSync(join(folder.path, "policy.json"), JSON.stringify(policyFor([join(folder.path, "mine.wasm")])));
  try {
    process.chdir(folder.path);
    const opening = createRuntime({ dataDir: "data", auditLog, plugins, policy: "policy.json" });
    process.chdir(elsewhere.path);
    auditLog.file = "other.jsonl";
    plugins[0] = "other.wasm";
    await using runtime = await opening;
    expect(await runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice" })).toMatchObject({ ok: true });
  } finally {
    process.chdir(before);
  }
  expect(readdirSync(elsewhere.path)).toEqual([]);
  expect(readdirSync(folder.path).toSorted()).toEqual(["data", "log", "mine.wasm", "policy.json"]);
  const kinds = readRecords(join(folder.path, "log/audit.jsonl")).map(({ kind }) => kind);
  expect(kinds).toEqual(["opened", "staged", "call", "closed"]);
});

test.for([null, 0, ["journal"]])("refuses a plugin that is %o", async (plugin) => {
  using folder = temporaryFolder();
  const options = { dataDir: folder.path, plugins: [plugin as never] };
  await expect(createRuntime(options)).rejects.toThrow("plugins[0] is neither a file nor a name");
});

test.for([null, false, "", 0])("refuses an audit log that is %o, instead of ignoring it", async (auditLog) => {
  using folder = temporaryFolder();
  const options = { dataDir: folder.path, auditLog: auditLog as never };
  await expect(createRuntime(options)).rejects.toThrow(TypeError);
});
