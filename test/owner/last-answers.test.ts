/**
 * A list and a search are made again only if something has changed that they are made from. What was called is in the audit log.
 */
import { appendFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { LastAnswers } from "../../host/owner/last-answers.ts";
import type { UserId } from "../../host/values/ids.ts";
import { alice, bob, engines, openUpkeep, upsert } from "./upkeep-stage.ts";
import type { UpkeepStage } from "./upkeep-stage.ts";

/** Far enough ahead that a file which was just written has settled. */
const aheadMs = 60_000;

/** A memory with two entries. */
async function openAhead(engine: (typeof engines)[number] = "files"): Promise<UpkeepStage> {
  const stage = await openUpkeep(engine);
  stage.atMs = Date.now() + aheadMs;
  await stage.write({ ctx: alice, input: upsert("tea", "Green") }, { ctx: alice, input: upsert("cup", "Blue") });
  return stage;
}

/** The tools of plugins that the work calls, sorted. */
async function toolsIn(stage: UpkeepStage, work: () => Promise<unknown>): Promise<string[]> {
  const before = stage.records().length;
  await work();
  const made = stage.records().slice(before);
  return made.flatMap((record) => (record.kind === "call" ? (record.tool ?? []) : [])).toSorted();
}

const said = async ({ upkeep }: UpkeepStage, ctx = alice): Promise<string[]> =>
  (await upkeep.entries(ctx)).entries.map(({ description }) => description).toSorted();

/** Sees grants and expiry as well, so it is asked each time. */
const timed = ["ListOwnEntries"];

test.for(engines)("%s: nothing is asked again as long as nothing has changed", async (engine) => {
  await using stage = await openAhead(engine);
  const first = ["JournalEntries", "ListEntries", "ListOwnEntries", "ListRuns"];
  expect(await toolsIn(stage, () => said(stage))).toEqual(first);
  expect(await toolsIn(stage, () => said(stage))).toEqual(timed);
  expect(await said(stage)).toEqual(["says Blue", "says Green"]);
  const search = (words: string) => () => stage.upkeep.search(alice, words);
  expect(await toolsIn(stage, search("green"))).toEqual([...timed, "SearchUserMemory"]);
  expect(await toolsIn(stage, search("green"))).toEqual(timed);
  expect(await toolsIn(stage, search("blue"))).toEqual([...timed, "SearchUserMemory"]);
});

test("a change is seen, and so is an approval, which changes no file", async () => {
  await using stage = await openAhead();
  await said(stage);
  await stage.write({ ctx: alice, input: upsert("cup", "Red") });
  expect(await said(stage)).toEqual(["says Green", "says Red"]);
  const { file } = await stage.upkeep.entry(alice, "cup");
  await stage.upkeep.vouch(alice, "cup", file.sha256);
  const { entries } = await stage.upkeep.entries(alice);
  expect(entries.find(({ name }) => name === "cup")?.file?.trust).toBe("owner_edit");
});

test("what somebody changes by hand is seen, also with the old size and the old time of writing", async () => {
  await using stage = await openAhead();
  await said(stage);
  const file = join(stage.home(), "memory", "cup.md");
  const { atime, mtime, size } = statSync(file);
  const text = stage.files()["memory/cup.md"] ?? "";
  writeFileSync(file, text.replaceAll("Blue", "Pink"));
  utimesSync(file, atime, mtime);
  expect(statSync(file)).toMatchObject({ size, mtime });
  expect(await said(stage)).toEqual(["says Green", "says Pink"]);
});

test("a file that was changed a moment ago is looked at each time", async () => {
  await using stage = await openAhead();
  stage.atMs = Date.now();
  await said(stage);
  expect(await toolsIn(stage, () => said(stage))).toEqual(["ListEntries", ...timed]);
});

test("nobody gets what another user was answered", async () => {
  await using stage = await openAhead();
  await said(stage);
  expect(await said(stage, bob)).toEqual([]);
});

test("nothing is kept of an erased user", async () => {
  const answers = new LastAnswers();
  const [one, two] = ["alice", "alice-2"] as UserId[];
  const ask = (of: UserId | undefined, answer: string) =>
    answers.of(of as UserId, ["entries"], "stamp", async () => answer);
  for (const of of [one, two]) await ask(of, "first");
  answers.forget(one as UserId);
  expect([await ask(one, "second"), await ask(two, "second")]).toEqual(["second", "first"]);
});

test("a history that somebody has damaged is seen in the list at once", async () => {
  await using stage = await openAhead();
  appendFileSync(join(stage.home(), "memory", "cup.md"), "More.\n");
  const trustOfCup = async () =>
    (await stage.upkeep.entries(alice)).entries.find(({ name }) => name === "cup")?.file?.trust;
  const before = await trustOfCup();
  rmSync(join(stage.home(), ".memcell", "journal"), { recursive: true });
  const { file } = await stage.upkeep.entry(alice, "cup");
  expect(before).not.toBe(file.trust);
  expect(await trustOfCup()).toBe(file.trust);
});

test("whoever changes an answer changes nobody else's", async () => {
  await using stage = await openAhead();
  const { entries } = await stage.upkeep.entries(alice);
  for (const entry of entries) Object.assign(entry, { description: "changed" });
  expect(await said(stage)).toEqual(["says Blue", "says Green"]);
});
