/** Loads: pages, what happens between them, and what is new since an earlier load. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import type { Event } from "memcell/run-history";
import { describe, expect, test } from "vitest";

import { seededRandom } from "../support/seeded-random.ts";
import { note, noteAt, notesOf, useHistory } from "./stage.ts";
import type { HistoryUser } from "./stage.ts";

const newUser = useHistory();
const large = (name: string): string => name.padEnd(200_000, " ");

/** The user's history in which something happens after each load of a page. */
const withEvents = ({ call, through }: HistoryUser, afterPage: () => Promise<unknown>) =>
  through(async (...given) => {
    const answer = await call(...given);
    await afterPage();
    return answer;
  });

test("events come in the order of time, equal times in that of insertion", async () => {
  const { history } = newUser();
  const [early, late] = ["2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:00.000000002Z"];
  await history.append("agent", "order", [noteAt(late, "3"), noteAt(early, "1")]);
  await history.append("agent", "order", [noteAt("2026-01-01T02:00:00.000000002+02:00", "4"), noteAt(early, "2")]);
  await history.append("agent", "order", [noteAt("1969-12-31T23:59:59Z", "0"), noteAt("9999-12-31T23:59:59Z", "5")]);
  const snapshot = await history.load("agent", "order");
  expect(notesOf(snapshot)).toEqual(["0", "1", "2", "3", "4", "5"]);
  expect(snapshot.events[4]?.timestamp).toBe(late);
});

test("a load has what was there when it began, whatever is appended between its pages", async () => {
  const user = newUser();
  const { history } = user;
  const names = Array.from({ length: 8 }, (_, at) => `${at}`);
  for (const [at, name] of names.entries()) {
    await history.append("agent", "pages", [noteAt(`2026-01-01T00:00:0${7 - at}Z`, large(name))]);
  }
  const before = await history.load("agent", "pages");
  let pages = 0;
  // One before all events of the run, one amid them, one after them.
  const times = ["2025-01-01T00:00:00Z", "2026-01-01T00:00:03.5Z", "2027-01-01T00:00:00Z"];
  const disturbed = withEvents(user, () =>
    history.append("agent", "pages", [noteAt(times[pages % 3], large(`new ${pages++}`))]),
  );
  const snapshot = await disturbed.load("agent", "pages");
  expect(pages).toBeGreaterThan(2);
  expect(snapshot.events).toEqual(before.events);
  expect(notesOf(snapshot)).toEqual(names.toReversed());
  expect(snapshot.meta).toEqual(before.meta);

  const added = await history.loadSince("agent", "pages", snapshot.meta.cursor);
  expect(notesOf(added).toSorted()).toEqual(Array.from({ length: pages }, (_, at) => `new ${at}`));
});

test("a load whose run is deleted and begun anew between two pages has the new run", async () => {
  const user = newUser();
  const { history, userId, call } = user;
  for (const name of ["a", "b", "c"]) await history.append("agent", "anew", [noteAt(undefined, large(name))]);
  const ids = { agentId: "agent", runId: "anew" };
  let pages = 0;
  const disturbed = withEvents(user, async () => {
    if (pages++ > 0) return;
    expect(await call("DeleteRun", ids, { userId })).toMatchObject({ ok: true });
    await history.append("agent", "anew", [noteAt(undefined, "d")]);
  });
  expect(notesOf(await disturbed.load("agent", "anew"))).toEqual(["d"]);
  expect(pages).toBe(3);
});

const atSecond = (second: number, name: string): Event => noteAt(`2026-01-01T00:00:0${second}Z`, name);

test("a small event after one that has no room stays for its own page", async () => {
  const { history } = newUser();
  // The first three files each begin before the fourth, and two large events fill a page.
  for (const at of [1, 2, 3]) {
    await history.append("agent", "room", [atSecond(at, `${at}`), atSecond(at + 4, large(`${at + 4}`))]);
  }
  await history.append("agent", "room", [atSecond(4, "4"), atSecond(8, "8")]);
  const { events } = await history.load("agent", "room");
  expect(notesOf({ events })).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
});

test("loadSince returns each new event once, whatever its timestamp", async () => {
  const { history } = newUser();
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
    seen.push(...notesOf(snapshot));
    const times = snapshot.events.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted());
  }
  expect(appended.length).toBeGreaterThan(50);
  expect(seen.toSorted()).toEqual(appended.toSorted());
});

test("a cursor of a run that did not exist yet returns all its events later", async () => {
  const { history } = newUser();
  const { cursor } = (await history.load("agent", "later")).meta;
  expect((await history.loadSince("agent", "later", cursor)).events).toEqual([]);
  await history.append("agent", "later", [noteAt(undefined, "a")]);
  expect(notesOf(await history.loadSince("agent", "later", cursor))).toEqual(["a"]);
});

test("a damaged line costs no other, and each is counted once", async () => {
  const { history, place } = newUser();
  for (const name of ["a", "b", "c", "d"]) await history.append("agent", "damaged", [noteAt(undefined, large(name))]);
  const first = place("damaged/000001.jsonl");
  const deep = `{"type":"user_message","timestamp":"2026-01-01T00:00:00Z","data":{"structured":${"[".repeat(5_000)}${"]".repeat(5_000)}},"labels":{}}`;
  writeFileSync(first, `torn\n${readFileSync(first, "utf8")}{"type":\n{}\n`);
  appendFileSync(place("damaged/000003.jsonl"), `${deep}\n`);
  const { events, meta } = await history.load("agent", "damaged");
  expect(notesOf({ events })).toEqual(["a", "b", "c", "d"]);
  expect(meta).toMatchObject({ damagedLines: 4 });
});

test("many calls at once lose nothing, and batches stay together", async () => {
  const { history } = newUser();
  const batches = Array.from({ length: 24 }, (_, at) =>
    [0, 1, 2].map((part) => noteAt("2026-01-01T00:00:00Z", `${at}/${part}`)),
  );
  await Promise.all(batches.map((batch) => history.append("agent", "crowd", batch)));
  const notes = notesOf(await history.load("agent", "crowd"));
  expect(notes).toHaveLength(72);
  for (let at = 0; at < 72; at += 3) {
    const name = notes[at]?.split("/")[0];
    expect(notes.slice(at, at + 3)).toEqual([0, 1, 2].map((part) => `${name}/${part}`));
  }
});

describe("files that a person has edited: no load hands out what is no event, loses one, or stores one twice", () => {
  const begun = '{"type":"planner_note","timestamp":"9999-01-01T00:00:00Z","data":';

  test.for([
    ["a further key", `${begun}{"note":"b"},"extra":1,"labels":{}}`],
    ["its data twice", `${begun}{"note":"a"}, "data":{"note":"b"},"labels":{}}`],
    ["its type twice", `${begun}{"note":"b"},"type":"planner_note","labels":{}}`],
  ])("a line with %s between data and labels is an event", async ([, line]) => {
    const { history, place } = newUser();
    await history.append("agent", "run", [note("one")]);
    appendFileSync(place("run/000001.jsonl"), `${line}\n`);
    expect(notesOf(await history.load("agent", "run"))).toEqual(["one", "b"]);
  });

  test("lines that are JSON only together are damaged", async () => {
    const { history, place } = newUser();
    await history.append("agent", "run", [note("one")]);
    const lines = [
      `${begun}{"note":"a","b":{"c":1,"labels":{}}`,
      '"d":1},"labels":{}}',
      `${begun}{"note":"e"},"labels":{}},${begun}{"note":"f"},"labels":{}}`,
    ];
    appendFileSync(place("run/000001.jsonl"), `${lines.join("\n")}\n`);
    const { events, meta } = await history.load("agent", "run");
    expect([events.length, meta.damagedLines]).toEqual([1, 3]);
  });

  test("an append id after one whose line end is missing is known", async () => {
    const { history, place } = newUser();
    await history.append("agent", "run", [note("one")], { appendId: "1" });
    const path = place("run/appends/000001.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").trimEnd());
    for (const id of ["2", "2", "1"]) await history.append("agent", "run", [note(id)], { appendId: id });
    expect(notesOf(await history.load("agent", "run"))).toEqual(["one", "2"]);
  });

  test("after lines were removed, a load's cursor is at the run's end", async () => {
    const { history, place } = newUser();
    for (const text of ["one", "two", "three"]) await history.append("agent", "run", [note(text)]);
    const path = place("run/000001.jsonl");
    writeFileSync(path, `${readFileSync(path, "utf8").split("\n", 1)[0]}\n`);
    const { meta } = await history.load("agent", "run");
    await history.append("agent", "run", [note("four"), note("five")]);
    expect(notesOf(await history.loadSince("agent", "run", meta.cursor))).toEqual(["four", "five"]);
  });

  test("a segment that is gone hides no later one, even if the last append began in it", async () => {
    const { history, place } = newUser();
    await history.append("agent", "run", [note("one")]);
    await history.append("agent", "run", [note("x".repeat(70_000)), note("two")]);
    rmSync(place("run/000001.jsonl"));
    expect(notesOf(await history.load("agent", "run"))).toEqual(["two"]);
  });

  test("an append passes over a file that is no text, where its next segment would be", async () => {
    const { history, place } = newUser();
    await history.append("agent", "run", [note("x".repeat(70_000))]);
    writeFileSync(place("run/000002.jsonl"), new Uint8Array([0xff]));
    await history.append("agent", "run", [note("two")]);
    expect(notesOf(await history.load("agent", "run")).at(-1)).toBe("two");
  });
});

test("no run is of an agent whose id cannot be encoded", async () => {
  const { history, userId, call } = newUser();
  await history.append("agent", "run", [note("one")]);
  const result = await call("run-history/ListRuns", { agentId: "\ud800" }, { userId });
  expect(result).toMatchObject({ ok: true, data: { entries: [] } });
});
