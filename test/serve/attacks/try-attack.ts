/** Makes an attempt, and looks at all that it could have done. */
import type { AuditRecord } from "../../../host/audit/audit-record.ts";
import { treeFingerprint } from "../../support/tree-fingerprint.ts";
import type { TreeFingerprint } from "../../support/tree-fingerprint.ts";
import type { Expected } from "./attack.ts";
import { exchange } from "./http-exchange.ts";
import type { Answer, Sent } from "./http-exchange.ts";
import type { Stage, Victim } from "./stage.ts";

export interface Attempt {
  readonly answers: readonly Answer[];
  /** What was put on record meanwhile, each in a line of words, sorted: requests of one connection are looked at together. */
  readonly records: readonly string[];
  /** All of the data folder but what the host keeps in alice's part for itself, before and after. */
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
  // What is answered is on record before; that a connection has ended without an answer may be recorded afterwards.
  const count = answers.length === 0 || isLate ? known + records.length : known;
  const all = await server.recordsUntil(({ length }) => length >= count);
  return { answers, records: all.slice(known).map(wordsOf).toSorted(), before, after: fingerprint(dataDir) };
}

/** Calls take the user's lock, which is alice's own affair. */
function fingerprint(dataDir: string): TreeFingerprint {
  const all = Object.entries(treeFingerprint(dataDir));
  return Object.fromEntries(all.filter(([path]) => !/^users\/alice(?:\/\.memcell.*)?$/.test(path)));
}

function wordsOf(record: AuditRecord): string {
  if (record.kind === "refused") return `refused ${record.surface} ${record.reason} ${whoIs(record.userId)}`;
  if (record.kind === "call") return `call ${record.tool ?? "(none)"} ${whoIs(record.userId)} ${record.code ?? "done"}`;
  return record.kind;
}

/** Whoever is neither of the three is a user whom the issuer has named in an odd way. */
function whoIs(userId: string | null): string {
  if (userId === null) return "nobody";
  return ["alice", "bob", "gus"].includes(userId) ? userId : "(another)";
}

/** An answer without what tells nobody anything: the time, the name of a new session, and what the attacker has said. */
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

/** Each letter as an escape of a URL. */
export function percentEncoded(text: string): string {
  return Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
}
