/** The audit log says that a call went to a mounted folder, and names no folder of the machine. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readRecords } from "../stage/runtime.ts";
import { mountedStage, play, read, write } from "./mounted-stage.ts";

test("a call's record says that it went to a mount, if it did", async () => {
  using stage = mountedStage();
  const file = join(stage.path, "log", "audit.jsonl");
  {
    await using runtime = await stage.open({ auditLog: { file } });
    await play(runtime, [write("a.md", "of alice")]);
    await play(runtime, [read("../a.md")]);
    await play(runtime, [write("a.md", "of bob")], "bob");
  }
  const records = readRecords(file).flatMap((record) =>
    record.kind === "call" || record.kind === "staged" ? [[record.kind, record.userId, record.mounted === true]] : [],
  );
  expect(records).toEqual([
    ["staged", "alice", true],
    ["call", "alice", true],
    ["call", "alice", true],
    ["staged", "bob", false],
    ["call", "bob", false],
  ]);
  const text = readFileSync(file, "utf8");
  for (const name of [stage.path, ".agent", "ws/"]) expect(text).not.toContain(name);
});

test("the record of a call refused at the mount says so too", async () => {
  using stage = mountedStage();
  const file = join(stage.path, "log", "audit.jsonl");
  {
    await using runtime = await stage.open();
    await play(runtime, [write("a.md", "of alice")]);
  }
  stage.put(".memcell/owner", "mallory");
  {
    await using runtime = await stage.open({ auditLog: { file } });
    expect(await play(runtime, [read("a.md")])).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE" } });
    const signal = AbortSignal.abort();
    expect(await runtime.call("Puppet", [read("a.md")], { userId: "alice", signal })).toMatchObject({ ok: false });
  }
  const calls = readRecords(file).flatMap((record) => (record.kind === "call" ? [[record.code, record.mounted]] : []));
  expect(calls).toEqual([
    ["STORAGE_UNSAFE", true],
    ["CANCELLED", true],
  ]);
});
