/** A run's files that a person has edited: no tool hands out what is no event, loses one, or stores one twice. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newEvent, plannerNoteData } from "memcell/run-history";
import type { RunHistory } from "memcell/run-history";
import { expect, test } from "vitest";

import { openHistory } from "./open-history.ts";

const event = (note: string) => newEvent(undefined, plannerNoteData({ note }));
const notes = async (history: RunHistory): Promise<unknown[]> =>
  (await history.load("a", "r")).events.map(({ data }) => data["note"]);
const pathIn = (dataDir: string, name: string): string => join(dataDir, "users/alice/runs/a/r", name);

const begun = '{"type":"planner_note","timestamp":"9999-01-01T00:00:00Z","data":';

test.each([
  ["a further key", `${begun}{"note":"b"},"extra":1,"labels":{}}`],
  ["its data twice", `${begun}{"note":"a"}, "data":{"note":"b"},"labels":{}}`],
  ["its type twice", `${begun}{"note":"b"},"type":"planner_note","labels":{}}`],
])("a line with %s between data and labels is an event", async (_name, line) => {
  await using opened = await openHistory();
  await opened.history.append("a", "r", [event("one")]);
  appendFileSync(pathIn(opened.dataDir, "000001.jsonl"), `${line}\n`);
  expect(await notes(opened.history)).toEqual(["one", "b"]);
});

test("lines that are JSON only together are damaged", async () => {
  await using opened = await openHistory();
  await opened.history.append("a", "r", [event("one")]);
  const lines = [
    `${begun}{"note":"a","b":{"c":1,"labels":{}}`,
    '"d":1},"labels":{}}',
    `${begun}{"note":"e"},"labels":{}},${begun}{"note":"f"},"labels":{}}`,
  ];
  appendFileSync(pathIn(opened.dataDir, "000001.jsonl"), `${lines.join("\n")}\n`);
  const { events, meta } = await opened.history.load("a", "r");
  expect([events.length, meta.damagedLines]).toEqual([1, 3]);
});

test("an append id after one whose line end is missing is known", async () => {
  await using opened = await openHistory();
  const { history, dataDir } = opened;
  await history.append("a", "r", [event("one")], { appendId: "1" });
  const path = pathIn(dataDir, "appends/000001.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").trimEnd());
  for (const id of ["2", "2", "1"]) await history.append("a", "r", [event(id)], { appendId: id });
  expect(await notes(history)).toEqual(["one", "2"]);
});

test("after lines were removed, a load's cursor is at the run's end", async () => {
  await using opened = await openHistory();
  const { history, dataDir } = opened;
  for (const note of ["one", "two", "three"]) await history.append("a", "r", [event(note)]);
  const path = pathIn(dataDir, "000001.jsonl");
  writeFileSync(path, `${readFileSync(path, "utf8").split("\n", 1)[0]}\n`);
  const { meta } = await history.load("a", "r");
  await history.append("a", "r", [event("four"), event("five")]);
  const { events } = await history.loadSince("a", "r", meta.cursor);
  expect(events.map(({ data }) => data["note"])).toEqual(["four", "five"]);
});

test("a segment that is gone hides no later one, even if the last append began in it", async () => {
  await using opened = await openHistory();
  await opened.history.append("a", "r", [event("one")]);
  await opened.history.append("a", "r", [event("x".repeat(70_000)), event("two")]);
  rmSync(pathIn(opened.dataDir, "000001.jsonl"));
  expect(await notes(opened.history)).toEqual(["two"]);
});

test("an append passes over a file that is no text, where its next segment would be", async () => {
  await using opened = await openHistory();
  await opened.history.append("a", "r", [event("x".repeat(70_000))]);
  writeFileSync(pathIn(opened.dataDir, "000002.jsonl"), new Uint8Array([0xff]));
  await opened.history.append("a", "r", [event("two")]);
  expect((await notes(opened.history)).at(-1)).toBe("two");
});

test("no run is of an agent whose id cannot be encoded", async () => {
  await using opened = await openHistory();
  await opened.history.append("a", "r", [event("one")]);
  const input = { agentId: "\ud800" };
  const result = await opened.runtime.callAsHost("run-history/ListRuns", input, { userId: "alice" });
  expect(result).toMatchObject({ ok: true, data: { entries: [] } });
});
