/** Makes an attempt and collects everything that it could have done. */
import type { AuditRecord } from "../../stage/audit-log.ts";
import { treeFingerprint } from "../../support/tree-fingerprint.ts";
import type { TreeFingerprint } from "../../support/tree-fingerprint.ts";
import type { Expected } from "./attack.ts";
import { exchange } from "./http-exchange.ts";
import type { Answer, Sent } from "./http-exchange.ts";
import type { Stage, Victim } from "./stage.ts";

export interface Attempt {
  readonly answers: readonly Answer[];
  /**
   * The new records, each as a line of words, sorted because requests of one connection can be recorded in any order.
   */
  readonly records: readonly string[];
  /** The data folder before and after, without the host's own files in alice's folder. */
  readonly before: TreeFingerprint;
  readonly after: TreeFingerprint;
}

/** A server and its users' files. */
export type Place = Pick<Stage, "server" | "dataDir">;

export async function tryAttack(sent: Sent, { records, isLate }: Expected, place: Place): Promise<Attempt> {
  const { server, dataDir } = place;
  const before = fingerprint(dataDir);
  const known = server.records().length;
  const answers = await exchange(server.port, sent);
  // Answered requests are already recorded. A connection that ended without an answer can be recorded later.
  const count = answers.length === 0 || isLate ? known + records.length : known;
  const all = await server.recordsUntil(({ length }) => length >= count);
  return { answers, records: all.slice(known).map(wordsOf).toSorted(), before, after: fingerprint(dataDir) };
}

/** Leaves out the host's files in alice's folder, because calls take her lock. */
function fingerprint(dataDir: string): TreeFingerprint {
  const all = Object.entries(treeFingerprint(dataDir));
  return Object.fromEntries(all.filter(([path]) => !/^users\/alice(?:\/\.memcell.*)?$/.test(path)));
}

function wordsOf(record: AuditRecord): string {
  if (record.kind === "refused") return `refused ${record.surface} ${record.reason} ${whoIs(record.userId)}`;
  if (record.kind === "call") return `call ${record.tool ?? "(none)"} ${whoIs(record.userId)} ${record.code ?? "done"}`;
  return record.kind;
}

/** Any other user is one with an oddly written name. */
function whoIs(userId: string | null): string {
  if (userId === null) return "nobody";
  return ["alice", "bob", "gus"].includes(userId) ? userId : "(another)";
}

/** An answer without parts that reveal nothing: the date, a new session's name, and what the attacker sent. */
export function comparable(answers: readonly Answer[], { userId, session }: Victim): unknown[] {
  return answers.map(({ status, headers: { date: _date, "mcp-session-id": _session, ...headers }, body }) => ({
    status,
    headers,
    body: body
      .replaceAll(session, "(session)")
      .replaceAll(userId, "(victim)")
      .replaceAll(percentEncoded(userId), "(victim)"),
  }));
}

/** Percent-encodes each letter. */
export function percentEncoded(text: string): string {
  return Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
}
