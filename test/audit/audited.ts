/** What `memcell audit` prints and writes, and logs for it with records at given times. */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

import type { AuditEntry, CallEntry, RefusedEntry, UseEntry } from "../stage/audit-log.ts";
import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hashOf } from "./written-log.ts";

export interface Audited {
  readonly status: number;
  /** The printed report, with sentences that were wrapped at the terminal's width in one line. */
  readonly text: string;
  readonly printed: string;
  readonly page: string;
  /** The words of the page, without its style sheet and with its entities decoded. */
  readonly words: string;
}

/** Runs `memcell audit`, which prints the text and writes the page. */
export async function audit(...args: readonly string[]): Promise<Audited> {
  using folder = temporaryFolder();
  const file = join(folder.path, "page.html");
  const { status, stdout, stderr } = await memcell(["audit", ...args, "--html", file]);
  if (stderr !== "" || stdout.startsWith("{")) throw new Error(stderr || stdout);
  const page = readFileSync(file, "utf8");
  return { status, printed: stdout, text: stdout.replace(/\n {8,}/g, " "), page, words: wordsOf(page) };
}

/** The same for a plugin's bytes, under a policy if there is one. */
export async function auditBytes(bytes: Uint8Array, policy?: object, ...args: readonly string[]): Promise<Audited> {
  using folder = temporaryFolder();
  const [file, policyFile] = ["user-memory.wasm", "policy.json"].map((name) => join(folder.path, name)) as [
    string,
    string,
  ];
  writeFileSync(file, bytes);
  if (policy === undefined) return await audit(file, ...args);
  writeFileSync(policyFile, JSON.stringify(policy));
  return await audit(file, "--policy", policyFile, ...args);
}

/** The parts of `--json` that tests read. */
export interface AuditJson {
  readonly reports: readonly {
    readonly verdict: "PASS" | "FAIL";
    readonly deviations: readonly { readonly about: string; readonly text: string }[];
    readonly narrowings: readonly string[];
    readonly tools: readonly { readonly name: string; readonly callers: string }[];
    readonly dependencies: readonly object[] | null;
    readonly artifact: { readonly sha256: string; readonly manifest: object | null };
  }[];
  readonly log: Record<string, unknown> & { readonly callsByUser: object[]; readonly latestCalls: object[] };
}

export async function auditJson(...args: readonly string[]): Promise<AuditJson> {
  const { stdout } = await memcell(["audit", ...args, "--json"]);
  return JSON.parse(stdout) as AuditJson;
}

const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&", nbsp: " " };

export function wordsOf(page: string): string {
  return page
    .slice(page.indexOf("<body>"))
    .replace(/<\/t[dh]>/g, " ")
    .replace(/<[^>]*>/g, "")
    .replace(/&(lt|gt|quot|#39|amp|nbsp);/g, (_, name: string) => entities[name] ?? "")
    .replace(/\s+/g, " ");
}

const ofCall = (count: number) => ({ callId: `call-${count}`, userId: `user-${count % 7}`, tool: "UpdateUserMemory" });

export function callEntry(count: number, more: Partial<CallEntry> = {}): CallEntry {
  return {
    kind: "call",
    ...ofCall(count),
    plugin: { name: "user-memory", version: "0.1.0", sha256: "a".repeat(64) },
    scopes: ["memory"],
    rights: ["read", "write"],
    reads: [{ scope: "memory", path: "MEMORY.md", bytes: null }],
    lists: [{ scope: "memory", prefix: "", files: 0 }],
    writes: [{ scope: "memory", path: `fact-${count}.md`, bytes: count }],
    trashed: [],
    removed: [],
    usesNotShown: 0,
    usesDenied: 0,
    usesFailed: 0,
    changes: "committed",
    code: null,
    fuelPolls: 3,
    durationMs: count + 0.5,
    ...more,
  };
}

export function useEntry(count: number, more: Partial<UseEntry> = {}): UseEntry {
  const use = {
    capability: "store_write",
    scope: "memory",
    path: `../../${count}`,
    code: "CAPABILITY_DENIED",
  } as const;
  return { kind: "use", ...ofCall(count), ...use, ...more };
}

export function refusedEntry(more: Partial<RefusedEntry> = {}): RefusedEntry {
  return { kind: "refused", surface: "http", reason: "token-expired", userId: null, peer: null, times: 1, ...more };
}

/** When the first record of `writeChain` was written. The others follow one minute after another. */
export const firstMs = Date.parse("2026-03-02T06:00:00.000Z");
export const timeOf = (seq: number): string => new Date(firstMs + seq * 60_000).toISOString();

/** Writes a log in the host's form, at other times and without the host's checks. */
export function writeChain(file: string, entries: Iterable<AuditEntry>): void {
  const log = openSync(file, "w");
  let [seq, prev] = [0, "0".repeat(64)];
  for (const entry of entries) {
    const line = JSON.stringify({ seq, time: timeOf(seq), prev, ...entry });
    [seq, prev] = [seq + 1, hashOf(line)];
    writeSync(log, `${line}\n`);
  }
  closeSync(log);
  writeFileSync(`${file}.head`, `${String(seq - 1).padStart(12, "0")} ${prev}\n`);
}
