/**
 * A client with alice's valid token tries everything to reach bob. Nothing of his is in an answer, nothing is written,
 * everything is recorded, and no stream reports another user's changes. Each attempt on a session, and of the others one
 * in six by the seed, is also made on a user who does not exist: both get the same answer.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { verifyLog } from "../../stage/audit-log.ts";
import { refusals } from "../../stage/http.ts";
import type { ServerOptions } from "../../stage/http.ts";
import { oneIn } from "../../stage/seed.ts";
import type { Attack } from "./attack.ts";
import { bodyAttacks } from "./bodies.ts";
import { claimAttacks } from "./claims.ts";
import { foreignAttacks, headerAttacks } from "./headers.ts";
import { oneUserAttacks } from "./one-user.ts";
import { resourceAttacks } from "./resource-uris.ts";
import { sessionAttacks } from "./sessions.ts";
import { connectionAttacks, smugglingAttacks } from "./smuggling.ts";
import { AttackStage } from "./stage.ts";
import type { Served } from "./stage.ts";
import { storageAttacks } from "./storage-routes.ts";
import { targetAttacks } from "./targets.ts";
import { tokenFormAttacks, tokenKeyAttacks, tokenPlaceAttacks } from "./tokens.ts";
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
  connections: connectionAttacks,
  "keys of tokens": tokenKeyAttacks,
  "forms of tokens": tokenFormAttacks,
  "places of tokens": tokenPlaceAttacks,
  claims: claimAttacks,
  sessions: sessionAttacks,
  "resource URIs": resourceAttacks,
  "tool calls": toolAttacks,
  "storage routes": storageAttacks,
  "one user": oneUserAttacks,
};
const options: Readonly<Record<string, ServerOptions>> = {
  "one user": { access: { kind: "one-user", userId: "alice" } },
};
const triedTwice = new Set([...sessionAttacks, ...oneIn(6, Object.values(kinds).flat())]);

describe.each(Object.entries(kinds))("%s", (kind, attacks) => {
  let served: Served;
  beforeAll(async () => {
    served = await stage.serve(options[kind]);
  });
  afterAll(async () => await served.close());

  test.each(attacks)("$expected.kind: $title", async (attack) => {
    await expectWithstood(attack, { stage, served }, triedTwice.has(attack));
  });

  test.runIf(kind !== "one user")("afterwards: each user got only their own changes", async () => {
    const { alice, bob } = served;
    expect([alice.heard(), bob.heard()]).toEqual([[], []]);
    await bob.writePlan();
    expect(await bob.hears(ownNews.length)).toEqual(ownNews);
    await alice.writePlan();
    expect(await alice.hears(ownNews.length)).toEqual(ownNews);
    expect(await bob.hears(ownNews.length)).toEqual(ownNews);
  });
});

/** The events of one change of the entry `plan`. */
const ownNews = [
  "session: resources/updated memory://index",
  "session: resources/updated memory://user-memory/entry/plan",
  "session: resources/list_changed",
  "listen: resources/updated memory://index",
  "listen: resources/updated memory://user-memory/entry/plan",
  "listen: resources/list_changed",
];

/** Reasons that only time, load or a setting of the server bring about; other tests of this folder show them. */
const notAttacked = [
  ["closing", "key-unknown", "peer-limited", "keys-unavailable", "token-origin", "user-limited", "token-scope"],
  ["user-busy", "sessions-full", "streams-full", "id-in-use"],
].flat();

test("there is an attack for each reason to refuse that a request alone can bring about", () => {
  const records = Object.values(kinds).flatMap((attacks) => attacks.flatMap(({ expected }) => expected.records));
  const tried = new Set(records.map((record) => /^refused http (\S+)/.exec(record)?.[1]));
  expect(Object.keys(refusals.http).filter((reason) => !tried.has(reason))).toEqual(notAttacked);
});

test("at the end, nobody has fetched the attacker's keys, and the log is intact", async () => {
  expect(stage.trapVisits).toBe(0);
  await stage.http.runtime.close();
  expect(verifyLog([stage.http.logFile]).findings).toEqual([]);
});
