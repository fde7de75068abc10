/**
 * A client with alice's valid token tries everything to reach bob. Nothing of his is in an answer, nothing is written,
 * everything is recorded, and no stream reports another user's changes. Each attempt on a session or a store, and of the
 * others one in six by the seed, is also made on a user who does not exist: both get the same answer.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { verifyLog } from "../../stage/audit-log.ts";
import { refusals } from "../../stage/http.ts";
import type { ServerOptions } from "../../stage/http.ts";
import { oneIn } from "../../stage/seed.ts";
import type { Attack } from "./attack.ts";
import { bodyAttacks } from "./bodies.ts";
import { foreignAttacks, headerAttacks } from "./headers.ts";
import { oneUserAttacks } from "./one-user.ts";
import { resourceAttacks } from "./resource-uris.ts";
import { sessionAttacks } from "./sessions.ts";
import { smugglingAttacks } from "./smuggling.ts";
import { AttackStage } from "./stage.ts";
import type { Served } from "./stage.ts";
import { storageAttacks } from "./storage-routes.ts";
import { targetAttacks } from "./targets.ts";
import { claimAttacks, tokenAttacks } from "./tokens.ts";
import { toolAttacks } from "./tool-calls.ts";
import { expectWithstood } from "./withstand.ts";

let stage: AttackStage;
beforeAll(async () => {
  stage = await AttackStage.open();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

const kinds: Readonly<Record<string, readonly Attack[]>> = {
  headers: headerAttacks,
  "hosts and origins": foreignAttacks,
  "paths and methods": targetAttacks,
  bodies: bodyAttacks,
  smuggling: smugglingAttacks,
  tokens: tokenAttacks,
  claims: claimAttacks,
  sessions: sessionAttacks,
  "resource URIs": resourceAttacks,
  "tool calls": toolAttacks,
  "storage routes": storageAttacks,
  "one user": oneUserAttacks,
};
const ofOneUser: ServerOptions = { access: { kind: "one-user", userId: "alice" } };
const triedTwice = new Set([...sessionAttacks, ...storageAttacks, ...oneIn(6, Object.values(kinds).flat())]);

describe.each(Object.entries(kinds))("%s", (kind, attacks) => {
  let served: Served;
  beforeAll(async () => {
    served = await stage.serve(kind === "one user" ? ofOneUser : {});
  });
  afterAll(async () => await served.server[Symbol.asyncDispose]());

  test.each(attacks)("$expected.kind: $title", async (attack) => {
    await expectWithstood(attack, { stage, served }, triedTwice.has(attack));
  });

  test.runIf(kind !== "one user")("afterwards: each user got only their own changes", async () => {
    const { alice, bob, server } = served;
    expect([alice.heard, bob.heard]).toEqual([[], []]);
    for (const { userId, token, heard } of [bob, alice]) {
      await stage.writePlan(userId);
      while (heard.length < ownNews.length) await server.rpc(token, "tools/list");
    }
    expect([alice.heard.toSorted(), bob.heard.toSorted()]).toEqual([ownNews, ownNews]);
  });
});

/** The events of one change of the entry `plan`. */
const ownNews = ["memory://index", "memory://user-memory/entry/plan", "the list"];

/** Reasons that only time, load or a setting of the server bring about; other tests of this folder show them. */
const notAttacked = [
  ["closing", "key-unknown", "peer-limited", "keys-unavailable", "token-origin", "user-limited", "token-scope"],
  ["user-busy", "streams-full"],
].flat();

test("there is an attack for each reason to refuse that a request alone can bring about", () => {
  const records = Object.values(kinds).flatMap((attacks) => attacks.flatMap(({ expected }) => expected.records));
  const tried = new Set(records.map((record) => /^refused http (\S+)/.exec(record)?.[1]));
  expect(Object.keys(refusals.http).filter((reason) => !tried.has(reason))).toEqual(notAttacked);
});

test("at the end, nobody has fetched the attacker's keys, and the log is intact", async () => {
  expect(stage.trapVisits).toBe(0);
  await stage.http.runtime.close();
  expect(verifyLog([stage.http.logFile]).broken).toBeNull();
});
