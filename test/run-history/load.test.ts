/** Loads: pages, what happens between them, and what is new since an earlier load. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newEvent, plannerNoteData, RunHistory } from "memcell/run-history";
import type { Event, Snapshot } from "memcell/run-history";
import { afterAll, beforeAll, expect, test } from "vitest";

import { seededRandom } from "../support/seeded-random.ts";
import { userFolder } from "../support/user-files.ts";
import { openHistory } from "./open-history.ts";
import type { OpenHistory } from "./open-history.ts";

let open: OpenHistory;
let history: RunHistory;
beforeAll(async () => {
  open = await openHistory();
  ({ history } = open);
});
afterAll(async () => await open[Symbol.asyncDispose]());

const noteAt = (timestamp: string | undefined, note: string): Event => newEvent(timestamp, plannerNoteData({ note }));
const notesOf = ({ events }: Snapshot): unknown[] => events.map(({ data }) => String(data["note"]).slice(0, 20));
const large = (name: string): string => name.padEnd(200_000, " ");

/** A history of alice in which something happens after each load of a page. */
const withEvents = (afterPage: () => Promise<unknown>): RunHistory =>
  new RunHistory(
    {
      callAsHost: async (tool, input, ctx) => {
        const answer = await open.runtime.callAsHost(tool, input, ctx);
        await afterPage();
        return answer;
      },
    },
    { userId: "alice" },
  );

test("events come in the order of time, equal times in that of insertion", async () => {
  const [early, late] = ["2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:00.000000002Z"];
  await history.append("agent", "order", [noteAt(late, "3"), noteAt(early, "1")]);
  await history.append("agent", "order", [noteAt("2026-01-01T02:00:00.000000002+02:00", "4"), noteAt(early, "2")]);
  await history.append("agent", "order", [noteAt("1969-12-31T23:59:59Z", "0"), noteAt("9999-12-31T23:59:59Z", "5")]);
  const snapshot = await history.load("agent", "order");
  expect(notesOf(snapshot)).toEqual(["0", "1", "2", "3", "4", "5"]);
  expect(snapshot.events[4]?.timestamp).toBe(late);
});

test("a load has what was there when it began, whatever is appended between its pages", async () => {
  const names = Array.from({ length: 8 }, (_, at) => `${at}`);
  for (const [at, name] of names.entries()) {
    await history.append("agent", "pages", [noteAt(`2026-01-01T00:00:0${7 - at}Z`, large(name))]);
  }
  const before = await history.load("agent", "pages");
  let pages = 0;
  // One before all events of the run, one amid them, one after them.
  const times = ["2025-01-01T00:00:00Z", "2026-01-01T00:00:03.5Z", "2027-01-01T00:00:00Z"];
  const disturbed = withEvents(() =>
    history.append("agent", "pages", [noteAt(times[pages % 3], large(`new ${pages++}`))]),
  );
  const snapshot = await disturbed.load("agent", "pages");
  expect(pages).toBeGreaterThan(2);
  expect(snapshot.events).toEqual(before.events);
  expect(snapshot.events.map(({ data }) => String(data["note"]).trim())).toEqual(names.toReversed());
  expect(snapshot.meta).toEqual(before.meta);

  const added = await history.loadSince("agent", "pages", snapshot.meta.cursor);
  expect(
    notesOf(added)
      .map((name) => String(name).trim())
      .toSorted(),
  ).toEqual(Array.from({ length: pages }, (_, at) => `new ${at}`));
});

test("a load whose run is deleted and begun anew between two pages has the new run", async () => {
  for (const name of ["a", "b", "c"]) await history.append("agent", "anew", [noteAt(undefined, large(name))]);
  const ids = { agentId: "agent", runId: "anew" };
  let pages = 0;
  const disturbed = withEvents(async () => {
    if (pages++ > 0) return;
    expect(await open.runtime.callAsHost("DeleteRun", ids, { userId: "alice" })).toMatchObject({ ok: true });
    await history.append("agent", "anew", [noteAt(undefined, "d")]);
  });
  expect(notesOf(await disturbed.load("agent", "anew"))).toEqual(["d"]);
  expect(pages).toBe(3);
});

const atSecond = (second: number, name: string): Event => noteAt(`2026-01-01T00:00:0${second}Z`, name);

test("a small event after one that has no room stays for its own page", async () => {
  // The first three files each begin before the fourth, and two large events fill a page.
  for (const at of [1, 2, 3]) {
    await history.append("agent", "room", [atSecond(at, `${at}`), atSecond(at + 4, large(`${at + 4}`))]);
  }
  await history.append("agent", "room", [atSecond(4, "4"), atSecond(8, "8")]);
  const { events } = await history.load("agent", "room");
  expect(events.map(({ data }) => String(data["note"]).trim())).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
});

test("loadSince returns each new event once, whatever its timestamp", async () => {
  const random = seededRandom(7);
  const below = (limit: number): number => Math.floor(random() * limit);
  const appended: string[] = [];
  const seen: string[] = [];
  let { cursor } = (await history.load("agent", "since")).meta;
  for (let step = 0; step < 40; step++) {
    const events = Array.from({ length: below(5) }, (_, at) => {
      const name = `${step}/${at}`;
      appended.push(name);
      // Some events fill a page together.
      const text = below(8) === 0 ? name.padEnd(100_000, " ") : name;
      return noteAt(`${2000 + below(100)}-01-01T00:00:00Z`, text);
    });
    await history.append("agent", "since", events);
    if (step % 10 !== 9 && below(2) === 0) continue;
    const snapshot = await history.loadSince("agent", "since", cursor);
    ({ cursor } = snapshot.meta);
    seen.push(...snapshot.events.map(({ data }) => String(data["note"]).trim()));
    const times = snapshot.events.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted());
  }
  expect(appended.length).toBeGreaterThan(50);
  expect(seen.toSorted()).toEqual(appended.toSorted());
});

test("a cursor of a run that did not exist yet returns all its events later", async () => {
  const { cursor } = (await history.load("agent", "later")).meta;
  expect((await history.loadSince("agent", "later", cursor)).events).toEqual([]);
  await history.append("agent", "later", [noteAt(undefined, "a")]);
  expect(notesOf(await history.loadSince("agent", "later", cursor))).toEqual(["a"]);
});

test("a damaged line costs no other, and each is counted once", async () => {
  for (const name of ["a", "b", "c", "d"]) await history.append("agent", "damaged", [noteAt(undefined, large(name))]);
  const folder = join(userFolder(open.dataDir, "alice"), "runs", "agent", "damaged");
  const first = join(folder, "000001.jsonl");
  const deep = `{"type":"user_message","timestamp":"2026-01-01T00:00:00Z","data":{"structured":${"[".repeat(5_000)}${"]".repeat(5_000)}},"labels":{}}`;
  writeFileSync(first, `torn\n${readFileSync(first, "utf8")}{"type":\n{}\n`);
  appendFileSync(join(folder, "000003.jsonl"), `${deep}\n`);
  const { events, meta } = await history.load("agent", "damaged");
  expect(events.map(({ data }) => String(data["note"]).trim())).toEqual(["a", "b", "c", "d"]);
  expect(meta).toMatchObject({ damagedLines: 4 });
});

test("many calls at once lose nothing, and batches stay together", async () => {
  const batches = Array.from({ length: 24 }, (_, at) =>
    [0, 1, 2].map((part) => noteAt("2026-01-01T00:00:00Z", `${at}/${part}`)),
  );
  await Promise.all(batches.map((batch) => history.append("agent", "crowd", batch)));
  const notes = notesOf(await history.load("agent", "crowd")).map(String);
  expect(notes).toHaveLength(72);
  for (let at = 0; at < 72; at += 3) {
    const name = notes[at]?.split("/")[0];
    expect(notes.slice(at, at + 3)).toEqual([0, 1, 2].map((part) => `${name}/${part}`));
  }
});
