/**
 * A client with alice's valid token tries everything to reach bob. Each attempt is made twice: on bob, and on a user
 * who does not exist. Both get the same answer, nothing is written, everything is recorded, and no stream reports
 * another user's changes.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { runCommand } from "../../support/run-command.ts";
import { sentFor } from "./attack.ts";
import type { Attack } from "./attack.ts";
import { bodyAttacks } from "./bodies.ts";
import { claimAttacks } from "./claims.ts";
import { allowedOrigin, headerAttacks, hostAttacks } from "./headers.ts";
import type { Sent } from "./http-exchange.ts";
import { resourceAttacks } from "./resource-uris.ts";
import { command } from "./served-process.ts";
import { sessionAttacks } from "./sessions.ts";
import { connectionAttacks, smugglingAttacks } from "./smuggling.ts";
import { Stage } from "./stage.ts";
import type { Victim } from "./stage.ts";
import { storageAttacks } from "./storage-routes.ts";
import { methodAttacks, targetAttacks } from "./targets.ts";
import { tokenFormAttacks } from "./token-forms.ts";
import { tokenKeyAttacks } from "./token-keys.ts";
import { tokenPlaceAttacks } from "./token-places.ts";
import { toolAttacks } from "./tool-calls.ts";
import { expectWithstood } from "./withstand.ts";

const kinds: Readonly<Record<string, readonly Attack[]>> = {
  headers: headerAttacks,
  "hosts and origins": hostAttacks,
  paths: targetAttacks,
  methods: methodAttacks,
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
};

describe.each(Object.entries(kinds))("%s", (_kind, attacks) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.open(["--allowed-origin", allowedOrigin, "--storage", "--sharing-by-models"]);
  });
  afterAll(async () => await stage[Symbol.asyncDispose]());

  test.each(attacks)("$expected.kind: $title", async (attack) => {
    const { server, dataDir, victims } = stage;
    const sentTo = async (victim: Victim): Promise<Sent> => sentFor(await attack.make(victim, stage), stage);
    await expectWithstood(attack, victims, { server, dataDir, sentTo });
  });

  test("afterwards: each user got only their own changes, nobody fetched the attacker's keys, and the log is intact", async () => {
    const { alice, bob, trap, server, logFile } = stage;
    expect([alice.heard(), bob.heard()]).toEqual([[], []]);
    await bob.writePlan("what bob writes");
    expect(await bob.hears(ownNews.length)).toEqual(ownNews);
    await alice.writePlan("what alice writes");
    expect(await alice.hears(ownNews.length)).toEqual(ownNews);
    expect(await bob.hears(ownNews.length)).toEqual(ownNews);
    expect(trap.visits).toBe(0);
    expect(await server.end()).toBe(0);
    expect(await runCommand(process.execPath, [command, "audit", "verify", logFile])).toContain("records");
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
