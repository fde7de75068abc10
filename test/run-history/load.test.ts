/** Loads: pages, what happens between them, and what is new since an earlier load. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import type { Event } from "memcell/run-history";
import { expect, test } from "vitest";

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

test("a damaged line costs no other, and each is counted once", async () => {
  const { history, place } = newUser();
  for (const name of ["a", "b", "c", "d"]) await history.append("agent", "damaged", [noteAt(undefined, large(name))]);
  const damaged = place("damaged/000001.jsonl");
  const deep = `{"type":"user_message","timestamp":"2026-01-01T00:00:00Z","data":{"structured":${"[".repeat(5_000)}${"]".repeat(5_000)}},"labels":{}}`;
  writeFileSync(damaged, `torn\n${readFileSync(damaged, "utf8")}{"type":\n{}\n`);
  appendFileSync(place("damaged/000003.jsonl"), `${deep}\n`);
  const { events, meta } = await history.load("agent", "damaged");
  expect(notesOf({ events })).toEqual(["a", "b", "c", "d"]);
  expect(meta).toMatchObject({ damagedLines: 4 });
});

/** An event's line as far as its data. */
const begun = '{"type":"planner_note","timestamp":"9999-01-01T00:00:00Z","data":';
const onlyTogether = [
  `${begun}{"note":"a","b":{"c":1,"labels":{}}`,
  '"d":1},"labels":{}}',
  `${begun}{"note":"e"},"labels":{}},${begun}{"note":"f"},"labels":{}}`,
];
const first = (place: Place): string => place("run/000001.jsonl");
const edited = (path: string, edit: (text: string) => string): void =>
  writeFileSync(path, edit(readFileSync(path, "utf8")));
type Place = HistoryUser["place"];

/** Each name is appended with itself as the append's id, so that a repeated one is stored once. */
test.for<readonly [what: string, before: string[], edit: (place: Place) => void, after: string[], found: string[]]>([
  [
    "lines that are JSON only together are no events",
    ["one"],
    (place) => appendFileSync(first(place), `${onlyTogether.join("\n")}\n`),
    [],
    ["one"],
  ],
  [
    "an append id whose line end is missing hides no other",
    ["one"],
    (place) => edited(place("run/appends/000001.jsonl"), (text) => text.trimEnd()),
    ["2", "2", "one"],
    ["one", "2"],
  ],
  [
    "a segment that is gone hides no later one, even if the last append began in it",
    ["one", `${"x".repeat(70_000)}|two`],
    (place) => rmSync(first(place)),
    [],
    ["two"],
  ],
  [
    "an append passes over a file that is no text, where its next segment would be",
    ["x".repeat(70_000)],
    (place) => writeFileSync(place("run/000002.jsonl"), new Uint8Array([0xff])),
    ["two"],
    ["x".repeat(70_000), "two"],
  ],
])("files that a person has edited: %s", async ([, before, edit, after, found]) => {
  const { history, place } = newUser();
  const append = async (names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const events = name.split("|").map((text) => note(text));
      await history.append("agent", "run", events, { appendId: name.slice(0, 9) });
    }
  };
  await append(before);
  edit(place);
  await append(after);
  expect(notesOf(await history.load("agent", "run"))).toEqual(found);
});

test("after a person has removed lines, a load's cursor is at the run's end", async () => {
  const { history, place } = newUser();
  for (const text of ["one", "two", "three"]) await history.append("agent", "run", [note(text)]);
  edited(first(place), (text) => `${text.split("\n", 1)[0]}\n`);
  const { meta } = await history.load("agent", "run");
  await history.append("agent", "run", [note("four"), note("five")]);
  expect(notesOf(await history.loadSince("agent", "run", meta.cursor))).toEqual(["four", "five"]);
});

test("no run is of an agent whose id cannot be encoded", async () => {
  const { history, call, userId } = newUser();
  await history.append("agent", "run", [note()]);
  expect(await call("ListRuns", { agentId: "\ud800" }, { userId })).toMatchObject({ ok: true, data: { entries: [] } });
});
