/** The server refuses clients that send too slowly, and keeps to its limits however many they are. */
import { afterAll, beforeAll, expect, test } from "vitest";

import { authorised, bytesOf, readPlan, readPlanIn } from "./asking.ts";
import { exchange } from "./exchange.ts";
import type { Answer } from "./exchange.ts";
import { AttackStage, bobSecrets } from "./stage.ts";

let stage: AttackStage;
beforeAll(async () => {
  stage = await AttackStage.open();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

test("the server cuts heads and bodies that never end, and serves bob meanwhile", { timeout: 120_000 }, async () => {
  const { port, alice, bob, close } = await stage.serve();
  const whole = bytesOf(authorised(readPlan, alice.token));
  const cut = (bytes: Buffer): Promise<Answer[]> => exchange(port, { bytes: [bytes] });
  const slow = [cut(whole.subarray(0, 60)), cut(whole.subarray(0, -1))];
  for (let at = 0; at < 20; at++) expect(await bob.ask(readPlan)).toMatchObject({ status: 200 });
  const answers = (await Promise.all(slow)).flat();
  expect(answers.map(({ status }) => status)).toEqual([408, 408]);
  expect(bobSecrets.filter((secret) => JSON.stringify(answers).includes(secret))).toEqual([]);
  expect(stage.http.refusals.filter(({ reason }) => reason === "http-malformed")).toHaveLength(2);
  await close();
});

test("the session that all users have not used for the longest makes room for the 10,001st", async () => {
  const { alice, bob, close } = await stage.serve({ sessionsPerUserMax: 20_000 });
  const first = await alice.newSession();
  const isOpen = async (session: string): Promise<boolean> => (await alice.ask(readPlanIn(session))).status === 200;
  const second = await alice.newSession();
  // Alice and bob have one each, which are in use.
  for (let at = 0; at < 9_996; at++) await bob.newSession();
  expect(await isOpen(first)).toBe(true);
  await bob.newSession();
  expect([await isOpen(first), await isOpen(second), await isOpen(alice.session)]).toEqual([true, false, true]);
  await close();
});
