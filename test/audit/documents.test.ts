/** The records in host/audit/README.md are those that a log has, but for the ids of the stores. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import { expect, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import type { AuditRecord } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const withoutIds = (each: object): object => ({ ...each, store: null, ...("grantee" in each && { grantee: null }) });

test("what a call says about stores and grants has the fields, levels and reasons that the README shows", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "log", "audit.jsonl");
  const options = { dataDir: join(folder.path, "data"), plugins: ["stores"], threadsMax: 1 };
  const alice = { userId: "alice" };
  const runtime = await createRuntime({ ...options, auditLog: { file } });
  await runtime.stores({ userId: "bob" }).grant("alice", { level: "search" });
  await runtime.stores(alice).grant("carol", { level: "read" });
  await runtime.call("memory", { command: "view", path: "/memories/own.md" }, alice);
  for (const other of ["bob", "carol"]) {
    const path = `/memories/shared/${storeIdOf(other)}/`;
    await runtime.call("memory", { command: "search", path, query: "plan" }, alice);
  }
  await runtime.close();

  const records = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditRecord);
  const calls = records.filter((record) => record.kind === "call" && record.userId === "alice");
  const stores = calls.flatMap((call) => ("stores" in call ? (call.stores ?? []) : []));
  const granted = records.flatMap((record) => ("granted" in record ? (record.granted ?? []) : []));
  const [shownStores, shownGrants] = blocksIn(textOf("host/audit/README.md"))
    .filter(({ language }) => language === "json")
    .map(({ text }) => JSON.parse(`{${text}}`) as { stores: { store: string }[]; granted: object[] });
  const found = stores.map(withoutIds);
  for (const shown of shownStores?.stores ?? []) expect(found).toContainEqual(withoutIds(shown));
  expect(granted.map(withoutIds)).toContainEqual(withoutIds(shownGrants?.granted[0] ?? {}));
  expect(shownStores?.stores[0]?.store).toBe(`${storeIdOf("alice").slice(0, 9)}…`);
});
