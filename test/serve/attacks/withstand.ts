/** The checks on an attack, the same for every row of every table. */
import { expect } from "vitest";

import { refusals } from "../../stage/http.ts";
import { treeFingerprint } from "../../support/tree-fingerprint.ts";
import type { TreeFingerprint } from "../../support/tree-fingerprint.ts";
import { authorised, bytesOf } from "./asking.ts";
import type { Ask } from "./asking.ts";
import type { Attack } from "./attack.ts";
import { exchange } from "./exchange.ts";
import type { Answer, Sent } from "./exchange.ts";
import { bobSecrets } from "./stage.ts";
import type { AttackStage, Scene, Served } from "./stage.ts";

/**
 * Makes the attempt on bob, and if `isTriedTwice` on a user who does not exist. The answers must be the same, as the
 * table expects, and without any of bob's secrets. Nothing may be written, and the attempt must be recorded.
 */
export async function expectWithstood(
  attack: Attack,
  { stage, served: { victims } }: { readonly stage: AttackStage; readonly served: Served },
  isTriedTwice: boolean,
): Promise<void> {
  const { expected } = attack;
  const before = fingerprint(stage.http.dataDir);
  const { answers, records } = await tryAttack(attack, victims.bob, stage);
  expect({ statuses: answers.map(({ status }) => status), records }).toEqual({
    statuses: expected.statuses,
    records: expected.records.toSorted(),
  });
  expect(answers.at(-1)?.body ?? "").toContain(expected.says ?? "");
  const text = JSON.stringify(answers);
  // An answer repeats only as much of a URI or a name as a valid one can have.
  if (expected.kind === "refused") expect(answers.at(-1)?.body.length ?? 0).toBeLessThan(10_000);
  expect(bobSecrets.filter((secret) => text.includes(secret))).toEqual([]);
  for (const answer of answers) expectGuarded(answer);
  const [, reason = ""] = /^refused http (\S+)/.exec(records[0] ?? "") ?? [];
  if (records.length === 1 && answers.length === 1 && answers[0]) expectRefusal(answers[0], reason);

  if (isTriedTwice) {
    const onNobody = await tryAttack(attack, victims.ghost, stage);
    expect(comparable(answers, victims.bob)).toEqual(comparable(onNobody.answers, victims.ghost));
    expect(onNobody.records).toEqual(records);
  }
  expect(fingerprint(stage.http.dataDir)).toEqual(before);
}

/** No answer is kept by a cache, read as another type, or names the server's software or its folders. */
function expectGuarded({ headers, status, body }: Answer): void {
  expect(body).not.toMatch(/\/(?:work|tmp|home|usr|root)\/|node_modules|\n\s+at /);
  expect(Object.keys(headers)).not.toContain("server");
  expect(Object.keys(headers)).not.toContain("x-powered-by");
  // Node answers what is not HTTP, and the health checks are for everybody.
  if (headers["content-type"] === undefined || status === 200) return;
  expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
}

/** A refusal says what the table of reasons says, and nothing of the request. */
function expectRefusal({ headers, body }: Answer, reason: string): void {
  if (reason === "http-malformed" || body === "" || !(reason in refusals.http)) return;
  const { code, message, status } = refusals.http[reason as keyof typeof refusals.http];
  const asMcp = { jsonrpc: "2.0", id: null, error: { code, message } };
  expect([asMcp, { error: message }]).toContainEqual(JSON.parse(body));
  if (status === 405) expect(headers["allow"]).toMatch(/GET|POST/);
  if (message === "invalid_token") expect(headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
}

async function sentTo(scene: Scene, { sent }: Attack): Promise<Sent> {
  const made = typeof sent === "function" ? await sent(scene) : sent;
  return "bytes" in made ? made : { bytes: [bytesOf(askOf(made, scene))] };
}

/** With alice's token, and with the victim's names filled in. */
export function askOf(ask: Ask, scene: Scene): Ask {
  const { method, target, headers, body, ...rest } = authorised(ask, scene.alice.token);
  const fill = (text: string): string => filled(text, scene);
  return {
    ...rest,
    method,
    target: fill(target),
    headers: headers.map(([name, value]) => [name, fill(value)] as const),
    body: typeof body === "string" ? fill(body) : body,
  };
}

const names = /\$(user|entry|session|store|expired|alice|own)(?![A-Za-z])/g;

function filled(text: string, { alice, userId: user, entry, session, store, expired }: Scene): string {
  const values: Readonly<Record<string, string>> = { user, entry, session, store, expired };
  const all = { ...values, alice: alice.token, own: alice.session };
  return text.replaceAll(names, (_, name: keyof typeof all) => all[name] ?? "");
}

/** Returns the answers, and the records as lines of words, sorted because their order on a connection varies. */
async function tryAttack(
  attack: Attack,
  scene: Scene,
  { http }: AttackStage,
): Promise<{ answers: Answer[]; records: string[] }> {
  const sent = await sentTo(scene, attack);
  http.forget();
  const answers = await exchange(scene.server.port, sent);
  // Answered requests are recorded. A connection that ended without an answer, or too early, can be recorded later.
  await http.refusalsUntil(attack.expected.records.filter((record) => record.startsWith("refused")).length);
  const refused = http.refusals.map(
    ({ surface, reason, userId }) => `refused ${surface} ${reason} ${whoIs(userId ?? null)}`,
  );
  const others = http.records().filter(({ kind }) => kind !== "refused");
  return { answers, records: [...refused, ...others.map(wordsOf)].toSorted() };
}

/**
 * Leaves out the host's own files: calls take alice's lock, and what both users write between two kinds of attack is
 * tidied up when nobody has called for a while.
 */
function fingerprint(dataDir: string): TreeFingerprint {
  const all = Object.entries(treeFingerprint(dataDir));
  return Object.fromEntries(
    all.filter(([path]) => !/^users\/(alice|bob)$|^(users\/(alice|bob)|stores\/[^/]+)\/\.memcell/.test(path)),
  );
}

function wordsOf({ kind, tool, userId, code }: Record<string, unknown>): string {
  if (kind !== "call") return String(kind);
  const [called, ended] = [(tool as string | null) ?? "(none)", (code as string | null) ?? "done"];
  return `call ${called} ${whoIs(userId as string | null)} ${ended}`;
}

/** Any other user is one with an oddly written name. */
function whoIs(userId: string | null): string {
  if (userId === null) return "nobody";
  return ["alice", "bob", "gus"].includes(userId) ? userId : "(another)";
}

/** An answer without parts that reveal nothing: the date, and what the attacker sent. */
function comparable(answers: readonly Answer[], { userId, session }: Scene): unknown[] {
  return answers.map(({ status, headers: { date: _date, ...headers }, body }) => ({
    status,
    headers,
    body: [session, userId, percentEncoded(userId)].reduce((text, part) => text.replaceAll(part, "(victim)"), body),
  }));
}

/** Percent-encodes each letter. */
export function percentEncoded(text: string): string {
  return Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
}
