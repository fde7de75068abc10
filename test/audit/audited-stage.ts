/** A stage with a scriptable plugin and the shipped `user-memory`. */
import type { RuntimeOptions } from "memcell";

import type { AuditRecord } from "../stage/audit-log.ts";
import { openStage, readRecords } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { withTrust } from "../support/trusting-policy.ts";

export { readRecords };

export interface AuditedStage extends RuntimeStage {
  /** The records of one kind, optionally of one call id only. */
  recordsOf<Kind extends AuditRecord["kind"]>(kind: Kind, callId?: string): Extract<AuditRecord, { kind: Kind }>[];
  /** Files in a user's scope by path. Empty for a user without a folder. */
  filesOf(userId: string): Record<string, string>;
}

/** `others`: writes more plugins into the folder, and returns their files. */
export async function openAuditedStage(
  options: Partial<RuntimeOptions> = {},
  others: (folder: string) => readonly string[] = () => [],
): Promise<AuditedStage> {
  const stage = await openStage((folder) => {
    const plugins = [testPlugin("puppet"), ...others(folder), shippedPlugin("user-memory")];
    // What comes from outside is recorded as any other write.
    const policy = withTrust(policyFor(plugins), { active: "untrusted_document" });
    return { plugins, policy, clock: () => 1_700_000_000_000, ...options };
  });
  const logFile = options.auditLog?.file ?? stage.logFile;
  return {
    ...stage,
    logFile,
    recordsOf: (kind, callId) => {
      type Found = Extract<AuditRecord, { kind: typeof kind }>;
      const found = readRecords(logFile).filter((record): record is Found => record.kind === kind);
      return callId === undefined ? found : found.filter((record) => "callId" in record && record.callId === callId);
    },
    filesOf: (userId) => stage.files(userId),
  };
}

/** A puppet's step that makes one capability request. */
export const ask = (of: string, request: unknown): object => ({ of, request: JSON.stringify(request) });

export const read = (path: string): object => ask("store_read", { scope: "memory", path });
export const write = (path: string, content: string): object => ask("store_write", { scope: "memory", path, content });

export const upsert = (name: string, body = "b"): object => ({
  action: "upsert",
  name,
  type: "user",
  description: "d",
  body,
});
