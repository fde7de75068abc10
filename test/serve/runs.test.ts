/** The run of a client's calls: its session, or what the client says, but never another client's run. */
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { openSession } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";
import { readRecords } from "../stage/runtime.ts";
import { ServeLines } from "../stage/serve-lines.ts";
import { callAlone, callInSession, originsIn, runsIn, tokenOf, update } from "./origin-calls.ts";

let stage: HttpStage;
/** Tokens of two clients, and one that names none. */
let web: string;
let crawler: string;
let unnamed: string;
beforeAll(async () => {
  stage = await openHttpStage({ storage: {} });
  web = await tokenOf(stage, { client_id: "web" });
  crawler = await tokenOf(stage, { client_id: "crawler" });
  unnamed = await tokenOf(stage);
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

const running = (run: string): object => update({ "memcell/origin": { run } });

test("each session is a run of its own, whose id does not tell that of the session", async () => {
  const sessions = [await openSession(stage, web), await openSession(stage, web)];
  for (const session of [...sessions, ...sessions]) await callInSession(stage, web, { session });
  const [first = "", second = "", ...again] = runsIn(stage);
  expect(again).toEqual([first, second]);
  expect(first).not.toBe(second);
  for (const run of [first, second]) expect(run).toMatch(/^session-[0-9a-f]{16}$/);
  for (const session of sessions) expect(JSON.stringify(stage.records())).not.toContain(session);
});

test("a run that a client states goes on in its next session, and is no other client's", async () => {
  for (const token of [web, web, crawler, unnamed, unnamed]) {
    await callInSession(stage, token, { session: await openSession(stage, token), params: running("7") });
  }
  await callAlone(stage, web, running("7"));
  const runs = runsIn(stage);
  const [ofWeb] = runs;
  expect(ofWeb).toMatch(/^client-[0-9a-f]{16}\.7$/);
  expect([runs[1], runs[5]]).toEqual([ofWeb, ofWeb]);
  // Nothing verified tells two sessions without a client apart, or together.
  expect(runs[3]).toMatch(/^session-[0-9a-f]{16}\.7$/);
  expect(new Set(runs).size).toBe(4);
});

test("the requests of a client without a session are one run, whatever session they name", async () => {
  for (const token of [web, web, crawler, unnamed]) await callAlone(stage, token);
  await callAlone(stage, web, update(), { "mcp-session-id": await openSession(stage, web) });
  const [ofWeb = "", again, ofCrawler = "", ofUnnamed, named] = runsIn(stage);
  expect(ofWeb).toMatch(/^client-[0-9a-f]{16}$/);
  expect([again, named]).toEqual([ofWeb, ofWeb]);
  expect(ofCrawler).toMatch(/^client-[0-9a-f]{16}$/);
  expect(ofCrawler).not.toBe(ofWeb);
  expect(ofUnnamed).toBe("client-unknown");
});

test("a client cannot state the run of a session, or of another client", async () => {
  await callInSession(stage, web, { session: await openSession(stage, web) });
  await callAlone(stage, web, running("7"));
  const taken = runsIn(stage);
  for (const run of taken) await callAlone(stage, crawler, running(run));
  for (const run of runsIn(stage).slice(2)) expect(taken).not.toContain(run);
});

test("runs of every allowed length are told apart", async () => {
  const longest = "r".repeat(128);
  for (const run of [longest, `${longest.slice(1)}s`, longest]) await callAlone(stage, web, running(run));
  const [first = "", second = "", third] = runsIn(stage);
  expect(third).toBe(first);
  expect(second).not.toBe(first);
  for (const run of [first, second]) expect(run.length).toBeLessThanOrEqual(128);
});

/** The runs of three calls over standard input and output. */
const runsOf = async (name: string): Promise<string[]> => {
  const logFile = join(stage.folder, "log", name);
  const args = ["--user", "alice", "--data", join(stage.folder, "of-one"), "--audit-log", logFile];
  await using served = await ServeLines.open(args);
  for (const params of [update(), update(), running("7")]) await served.ask("tools/call", params);
  return originsIn(readRecords(logFile)).map(({ run }) => run);
};

test("a process over standard input and output is a run", async () => {
  const [first = "", again, stated] = await runsOf("one.jsonl");
  expect(first).toMatch(/^session-[0-9a-f]{16}$/);
  expect([again, stated]).toEqual([first, `${first}.7`]);
  expect((await runsOf("two.jsonl"))[0]).not.toBe(first);
});

test("a client's storage requests are in the run of its requests without a session", async () => {
  await stage.ask({
    method: "PUT",
    path: `/api/storage/memory/k`,
    headers: { authorization: `Bearer ${web}`, "content-type": "application/json" },
    body: JSON.stringify({ value: "v" }),
  });
  await callAlone(stage, web);
  const [storage, mcp] = runsIn(stage);
  expect(storage).toBe(mcp);
});
