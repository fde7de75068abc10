/** A stage with a scriptable plugin, two plugins that never return, and the shipped `user-memory`. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import type { RuntimeOptions } from "memcell";

import { writeSpinner } from "../bounds/bounded-stage.ts";
import type { AuditRecord } from "../stage/audit-log.ts";
import { openStage, readRecords } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { withTrust } from "../support/trusting-policy.ts";
import { writeGuest } from "../support/write-guest.ts";

export { readRecords };

export interface AuditedStage extends RuntimeStage {
  /** The records of one kind, optionally of one call id only. */
  recordsOf<Kind extends AuditRecord["kind"]>(kind: Kind, callId?: string): Extract<AuditRecord, { kind: Kind }>[];
  /** Files in a user's scope by path. Empty for a user without a folder. */
  filesOf(userId: string): Record<string, string>;
}

export async function openAuditedStage(options: Partial<RuntimeOptions> = {}): Promise<AuditedStage> {
  const stage = await openStage((folder) => {
    const plugins = [testPlugin("puppet"), ...writeSpinners(folder), shippedPlugin("user-memory")];
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

/** Assembled once, because assembling takes longer than most tests. */
const spinners = new Map<string, Uint8Array>();

function writeSpinners(folder: string): string[] {
  if (spinners.size === 0) {
    const files = [writeSpinner(folder, 10_000), writeGuest(folder, "lurker", { Lurk: "lurk" }, { Lurk: ["read"] })];
    for (const file of files) spinners.set(basename(file), readFileSync(file));
  }
  return Array.from(spinners, ([name, wasm]) => {
    const file = join(folder, name);
    writeFileSync(file, wasm);
    return file;
  });
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
