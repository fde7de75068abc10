/** A log with records of every kind, in four files, written once and copied for each test that changes it. */
import { join } from "node:path";

import type { AuditLogOptions } from "memcell";

import { ask, openAuditedStage, upsert } from "./audited-stage.ts";
import { logName } from "./written-log.ts";

const labels = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`${at}`.padStart(64, "n"), "~".repeat(256)]));

/** Records 0 to 8 are of every kind. Behind them come `longCalls` of 6 KB, and the last says that the log is closed. */
export async function recordLog(
  folder: string,
  longCalls: number,
  options: Partial<AuditLogOptions> = {},
): Promise<string> {
  const file = join(folder, logName);
  await using stage = await openAuditedStage({ auditLog: { file, ...options } });
  const { runtime } = stage;
  await runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice", origin: { class: "direct_user", run: "r" } });
  await runtime.call("Puppet", [ask("store_read", { scope: "other", path: "../b" })], {
    userId: "bob",
    labels: { a: "b" },
  });
  runtime.refused({ surface: "http", reason: "token-expired", peer: "192.0.2.1" });
  await runtime.memoryIndex({ userId: "alice" });
  await runtime.upkeep.listTrash({ userId: "alice" });
  await runtime.call("Nothing", {}, { userId: "alice" });
  for (let at = 0; at < longCalls; at++) await runtime.call("Nothing", {}, { userId: "carol", labels });
  return file;
}
