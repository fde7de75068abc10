/** The run of a client's calls: its session, or what the client says, but never another client's run. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { readRecords } from "../audit/audited-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openSession } from "./http-requests.ts";
import { openHttpStage } from "./http-stage.ts";
import { callAlone, callInSession, originsIn, runsIn, tokenOf, update } from "./origin-stage.ts";
import { ServeProcess } from "./serve-process.ts";
import { entriesPath, openStorageStage } from "./storage/stage.ts";

const running = (run: string): object => update({ "memcell/origin": { run } });

test("each session is a run of its own, whose id does not tell that of the session", async () => {
  await using stage = await openHttpStage();
  const token = await tokenOf(stage, { client_id: "web" });
  const sessions = [await openSession(stage, token), await openSession(stage, token)];
  for (const session of [...sessions, ...sessions]) await callInSession(stage, token, { session });
  const [first = "", second = "", ...again] = runsIn(stage);
  expect(again).toEqual([first, second]);
  expect(first).not.toBe(second);
  for (const run of [first, second]) expect(run).toMatch(/^session-[0-9a-f]{16}$/);
  for (const session of sessions) expect(JSON.stringify(stage.records())).not.toContain(session);
});

test("a run that a client states goes on in its next session, and is no other client's", async () => {
  await using stage = await openHttpStage();
  const [web, crawler, unnamed] = await Promise.all(
    ["web", "crawler", undefined].map((client_id) => tokenOf(stage, { client_id })),
  );
  for (const token of [web, web, crawler, unnamed, unnamed] as string[]) {
    await callInSession(stage, token, { session: await openSession(stage, token), params: running("7") });
  }
  await callAlone(stage, web ?? "", running("7"));
  const runs = runsIn(stage);
  const [ofWeb] = runs;
  expect(ofWeb).toMatch(/^client-[0-9a-f]{16}\.7$/);
  expect([runs[1], runs[5]]).toEqual([ofWeb, ofWeb]);
  // Nothing verified tells two sessions without a client apart, or together.
  expect(runs[3]).toMatch(/^session-[0-9a-f]{16}\.7$/);
  expect(new Set(runs).size).toBe(4);
});

test("the requests of a client without a session are one run, whatever session they name", async () => {
  await using stage = await openHttpStage();
  const [web, crawler, unnamed] = await Promise.all(
    ["web", "crawler", undefined].map((client_id) => tokenOf(stage, { client_id })),
  );
  for (const token of [web, web, crawler, unnamed] as string[]) await callAlone(stage, token);
  await callAlone(stage, web ?? "", update(), { "mcp-session-id": await openSession(stage, web ?? "") });
  const [ofWeb = "", again, ofCrawler = "", ofUnnamed, named] = runsIn(stage);
  expect(ofWeb).toMatch(/^client-[0-9a-f]{16}$/);
  expect([again, named]).toEqual([ofWeb, ofWeb]);
  expect(ofCrawler).toMatch(/^client-[0-9a-f]{16}$/);
  expect(ofCrawler).not.toBe(ofWeb);
  expect(ofUnnamed).toBe("client-unknown");
});

test("a client cannot state the run of a session, or of another client", async () => {
  await using stage = await openHttpStage();
  const [web, crawler] = [await tokenOf(stage, { client_id: "web" }), await tokenOf(stage, { client_id: "crawler" })];
  await callInSession(stage, web, { session: await openSession(stage, web) });
  await callAlone(stage, web, running("7"));
  const taken = runsIn(stage);
  for (const run of taken) await callAlone(stage, crawler, running(run));
  for (const run of runsIn(stage).slice(2)) expect(taken).not.toContain(run);
});

test("runs of every allowed length are told apart", async () => {
  await using stage = await openHttpStage();
  const token = await tokenOf(stage, { client_id: "web" });
  const longest = "r".repeat(128);
  for (const run of [longest, `${longest.slice(1)}s`, longest]) await callAlone(stage, token, running(run));
  const [first = "", second = "", third] = runsIn(stage);
  expect(third).toBe(first);
  expect(second).not.toBe(first);
  for (const run of [first, second]) expect(run.length).toBeLessThanOrEqual(128);
});

test("a process over standard input and output is a run", async () => {
  using folder = temporaryFolder();
  const runsOf = async (name: string): Promise<string[]> => {
    const logFile = join(folder.path, "log", name);
    const args = ["--user", "alice", "--data", folder.path, "--audit-log", logFile];
    await using served = await ServeProcess.open(args);
    for (const params of [update(), update(), running("7")]) await served.ask("tools/call", params);
    return originsIn(readRecords(logFile)).map(({ run }) => run);
  };
  const [first = "", again, stated] = await runsOf("one.jsonl");
  expect(first).toMatch(/^session-[0-9a-f]{16}$/);
  expect([again, stated]).toEqual([first, `${first}.7`]);
  expect((await runsOf("two.jsonl"))[0]).not.toBe(first);
});

test("a client's storage requests are in the run of its requests without a session", async () => {
  await using stage = await openStorageStage();
  const token = await tokenOf(stage, { client_id: "web" });
  await stage.ask({
    method: "PUT",
    path: `/api/storage/${entriesPath}/k`,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ value: "v" }),
  });
  await callAlone(stage, token);
  const [storage, mcp] = runsIn(stage);
  expect(storage).toBe(mcp);
});
