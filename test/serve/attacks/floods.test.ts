/** The server refuses clients that send too much or too slowly. Other clients notice nothing. */
import { expect, test } from "vitest";

import { runCommand } from "../../support/run-command.ts";
import { treeFingerprint } from "../../support/tree-fingerprint.ts";
import { bare, bytesOf, initialize, modern, readPlan, withHeaders } from "./asking.ts";
import { authorised } from "./attack.ts";
import { exchange } from "./http-exchange.ts";
import type { Answer } from "./http-exchange.ts";
import { command } from "./served-process.ts";
import { aliceBody, bobSecrets, Stage } from "./stage.ts";

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);

/**
 * The number of refusals in the log, including those counted in one record. Ends the server, which writes the counts.
 */
async function refusalsOf({ server, logFile }: Stage, reason: string): Promise<number> {
  expect(await server.end()).toBe(0);
  expect(await runCommand(process.execPath, [command, "audit", "verify", logFile])).toContain("records");
  const counts = server
    .records()
    .map((record) => (record.kind === "refused" && record.reason === reason ? record.times : 0));
  return counts.reduce((sum, times) => sum + times, 0);
}

test.concurrent("more requests than allowed per minute: alice is limited, bob is not", async () => {
  await using stage = await Stage.open(["--requests-per-minute", "20"]);
  const { alice, bob } = stage;
  const before = treeFingerprint(`${stage.dataDir}/users/bob/memory`);
  const answers: Answer[] = [];
  for (let at = 0; at < 30; at++) answers.push(await alice.ask(readPlan));
  expect(new Set(statuses(answers))).toEqual(new Set([200, 429]));
  expect(answers.at(-1)).toMatchObject({ status: 429, headers: { "retry-after": expect.stringMatching(/^\d+$/) } });
  const limited = answers.find(({ status }) => status === 429);
  expect(limited?.body).not.toContain("bob");

  expect(await bob.ask(readPlan)).toMatchObject({ status: 200 });
  expect(treeFingerprint(`${stage.dataDir}/users/bob/memory`)).toEqual(before);
  expect(bob.heard()).toEqual([]);
  expect(await refusalsOf(stage, "user-limited")).toBe(answers.filter(({ status }) => status === 429).length);
});

test.concurrent("after 400 forged tokens from one address, users with a valid token are still served from it", async () => {
  await using stage = await Stage.open();
  const { server, forge, alice, bob } = stage;
  const forged = bytesOf(withHeaders(readPlan, ["Authorization", `Bearer ${forge.forged({ sub: "bob" })}`]));
  const refused = [];
  for (let at = 0; at < 400; at++) refused.push(...(await exchange(server.port, { bytes: [forged] })));
  expect(statuses(refused.slice(0, 300))).toEqual(Array<number>(300).fill(401));
  expect(statuses(refused.slice(300))).toEqual(Array<number>(100).fill(429));
  expect(await alice.ask(readPlan)).toMatchObject({ status: 200, body: expect.stringContaining(aliceBody) });
  expect(await bob.ask(readPlan)).toMatchObject({ status: 200 });
  expect(await refusalsOf(stage, "peer-limited")).toBe(100);
});

test.concurrent("alice opens 100 sessions: her own oldest ones end, bob's goes on", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = stage;
  for (let at = 0; at < 100; at++) expect((await alice.ask(initialize())).status).toBe(200);
  await bob.writePlan("what bob writes");
  expect(await bob.hears(6)).toHaveLength(6);
  expect(alice.heard()).toEqual([]);
});

test.concurrent("more streams than allowed per user: alice is refused, bob can open one", async () => {
  await using stage = await Stage.open(["--sessions-per-user-max", "3"]);
  const { server, alice, bob } = stage;
  const listen = modern("subscriptions/listen", { notifications: { resourcesListChanged: true } });
  // Two have been open from the beginning.
  await alice.openStream();
  expect(await alice.ask(listen)).toMatchObject({ status: 429 });
  expect(await alice.ask(bare("GET", ["Mcp-Session-Id", alice.session]))).toMatchObject({ status: 429 });
  const [opened] = await exchange(server.port, { bytes: [bytesOf(authorised(listen, bob.token))], until: "begun" });
  expect(opened).toMatchObject({ status: 200 });
  expect(await refusalsOf(stage, "streams-full")).toBe(2);
});

test.concurrent(
  "the server cuts heads and bodies that never end, and serves bob meanwhile",
  { timeout: 120_000 },
  async () => {
    await using stage = await Stage.open();
    const { server, alice, bob } = stage;
    const whole = bytesOf(authorised(readPlan, alice.token));
    const isCut = (bytes: Buffer): Promise<Answer[]> => exchange(server.port, { bytes: [bytes] });
    const slow = [isCut(whole.subarray(0, 60)), isCut(whole.subarray(0, -1))];
    for (let at = 0; at < 20; at++) expect(await bob.ask(readPlan)).toMatchObject({ status: 200 });
    const answers = (await Promise.all(slow)).flat();
    expect(statuses(answers)).toEqual([408, 408]);
    expect(bobSecrets.filter((secret) => JSON.stringify(answers).includes(secret))).toEqual([]);
    expect(await refusalsOf(stage, "http-malformed")).toBe(2);
  },
);
