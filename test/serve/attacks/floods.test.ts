/** The server refuses clients that send too much. Other clients notice nothing. */
import { afterAll, beforeAll, expect, test } from "vitest";

import { treeFingerprint } from "../../support/tree-fingerprint.ts";
import { authorised, bare, bytesOf, initialize, modern, readPlan, withHeaders } from "./asking.ts";
import { exchange } from "./exchange.ts";
import type { Answer } from "./exchange.ts";
import { claimsOf } from "./forge.ts";
import { aliceBody, AttackStage } from "./stage.ts";

let stage: AttackStage;
beforeAll(async () => {
  stage = await AttackStage.open();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);
const reasons = (): string[] => stage.http.refusals.map(({ reason }) => reason);

test("more requests than allowed per minute: alice is limited, bob is not", async () => {
  const { alice, bob, close } = await stage.serve({ requestsPerMinute: 20 });
  const before = treeFingerprint(`${stage.http.dataDir}/users/bob/memory`);
  stage.http.forget();
  const answers: Answer[] = [];
  for (let at = 0; at < 30; at++) answers.push(await alice.ask(readPlan));
  const limited = answers.filter(({ status }) => status === 429);
  expect(statuses(answers)).toEqual([...Array<number>(30 - limited.length).fill(200), ...statuses(limited)]);
  expect(limited.length).toBeGreaterThanOrEqual(10);
  expect(limited[0]?.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  expect(limited[0]?.body).not.toContain("bob");
  expect(await bob.ask(readPlan)).toMatchObject({ status: 200 });
  expect(treeFingerprint(`${stage.http.dataDir}/users/bob/memory`)).toEqual(before);
  expect(bob.heard()).toEqual([]);
  expect(reasons()).toEqual(limited.map(() => "user-limited"));
  await close();
});

test("after 300 bad tokens from an address, it gets in only with a good one that is known", async () => {
  const { port, alice, close } = await stage.serve();
  const ask = async (token: string): Promise<Answer> => {
    const [answer] = await exchange(port, { bytes: [bytesOf(authorised(readPlan, token))] });
    if (!answer) throw new Error("The server has not answered");
    return answer;
  };
  const short = stage.forge.issued({ ...claimsOf("alice"), exp: Math.floor(Date.now() / 1000) + 2 });
  expect((await ask(short)).status).toBe(200);
  const answers: Answer[] = [];
  for (let at = 0; at < 305; at++) answers.push(await ask(stage.forge.forged({ sub: "bob" })));
  expect(statuses(answers)).toEqual([...Array<number>(300).fill(401), ...Array<number>(5).fill(429)]);
  expect(answers.at(-1)?.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  expect(await ask(stage.forge.issued({ ...claimsOf("bob"), jti: "new" }))).toMatchObject({ status: 429 });
  expect(await alice.ask(readPlan)).toMatchObject({ status: 200, body: expect.stringContaining(aliceBody) });
  // Once it has expired, a token that was good is a bad one.
  let { status } = await ask(short);
  while (status === 200) ({ status } = await ask(short));
  expect([status, (await ask(short)).status]).toEqual([401, 429]);
  await close();
});

test("alice opens more sessions than allowed: her own oldest ones end, bob's goes on", async () => {
  const { alice, bob, close } = await stage.serve({ sessionsPerUserMax: 4 });
  for (let at = 0; at < 10; at++) expect((await alice.ask(initialize())).status).toBe(200);
  await bob.writePlan();
  expect(await bob.hears(6)).toHaveLength(6);
  expect(alice.heard()).toEqual([]);
  await close();
});

test("more streams than allowed per user: alice is refused, bob can open one", async () => {
  const { port, alice, bob, close } = await stage.serve({ sessionsPerUserMax: 3 });
  const notifications = { resourcesListChanged: true };
  const listen = modern("subscriptions/listen", { notifications });
  // Two have been open from the beginning.
  await alice.openStream("another", notifications);
  stage.http.forget();
  expect(await alice.ask(listen)).toMatchObject({ status: 429 });
  expect(await alice.ask(withHeaders(bare("GET"), ["Mcp-Session-Id", alice.session]))).toMatchObject({ status: 429 });
  const [opened] = await exchange(port, { bytes: [bytesOf(authorised(listen, bob.token))], until: "begun" });
  expect(opened).toMatchObject({ status: 200 });
  expect(reasons()).toEqual(["streams-full", "streams-full"]);
  await close();
});
