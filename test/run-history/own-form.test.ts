/** What programs keep in a form of their own: JSON texts of any size, snapshots, and appends that depend on a cursor. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";

import fc from "fast-check";
import { decodeOpaqueData, newEvent, opaqueData, snapshotData } from "memcell/run-history";
import type { Event, RunHistory, RunHistoryError } from "memcell/run-history";
import { describe, expect, test } from "vitest";

import { runs } from "../stage/random-runs.ts";
import { folderAt, note, noteAt, notesOf, useHistory } from "./stage.ts";
import type { HistoryUser } from "./stage.ts";

const newUser = useHistory();

const kept = (value: unknown): Event =>
  newEvent(undefined, opaqueData({ format: "test", json: JSON.stringify(value) }));
const summed = (value: unknown): Event =>
  newEvent(undefined, snapshotData({ format: "test", json: JSON.stringify(value) }));

const valuesIn = (events: readonly Event[]): unknown[] =>
  events.map(({ data }) => ("note" in data ? data["note"] : JSON.parse(String(data["json"]))));

async function loaded(history: RunHistory, options: Parameters<RunHistory["load"]>[2] = {}): Promise<unknown[]> {
  return valuesIn((await history.load("agent", "run", options)).events);
}

/** All characters that JSON, UTF-8 or a cut between two parts could harm. */
const hard = '"\\\n\u2028日\u{1f600}\ud800\0é</script>';

/** The parts of texts as they are stored. */
async function partsOf({ call, userId }: HistoryUser): Promise<{ type: string; data: string }[]> {
  const answer = await call("run-history/LoadRun", { agentId: "agent", runId: "run" }, { userId });
  const { events } = (answer as unknown as { data: { events: { type: string; data: string }[] } }).data;
  return events.filter(({ type }) => type === "part").map(({ type, data }) => ({ type, data }));
}

/** Another text of the same length, also inside JSON. */
const changed = (text: string): string => text.replace("script", "skript");

const longValue = (length: number): string => hard.repeat(Math.ceil(length / hard.length)).slice(0, length);

test("any JSON value comes back deep-equal, with its bytes", async () => {
  const { history } = newUser();
  await fc.assert(
    fc.asyncProperty(fc.uuid(), fc.jsonValue({ stringUnit: "binary" }), async (run, value) => {
      const json = JSON.stringify(value, null, 1);
      await history.append("agent", run, [newEvent(undefined, opaqueData({ format: "test", json }))]);
      const [event] = (await history.load("agent", run)).events;
      expect(event && decodeOpaqueData(event).json).toBe(json);
    }),
    runs(25),
  );
});

describe("a text that is too long for one event", () => {
  test.each([65_535, 65_536, 65_537, 300_000])("comes back whole: %i characters", async (length) => {
    const { history } = newUser();
    const value = longValue(length);
    await history.append("agent", "run", [note("before"), kept(value), note("after")]);
    expect(await loaded(history)).toEqual(["before", value, "after"]);
    expect(await loaded(history, { order: "insertion" })).toEqual(["before", value, "after"]);
  });

  test("is stored once by two clients that retry at once, and again after other appends", async () => {
    const { history } = newUser();
    const value = longValue(120_000);
    const append = (): Promise<number> => history.append("agent", "run", [kept(value)], { appendId: "turn-1" });
    expect(await Promise.all([append(), append()])).toEqual([1, 1]);
    for (let at = 0; at < 12; at++) await history.append("agent", "run", [note(String(at))], { appendId: `n${at}` });
    const { bytes } = (await history.load("agent", "run")).meta;
    expect(await append()).toBe(1);
    expect((await history.load("agent", "run")).meta.bytes).toBe(bytes);
    expect((await loaded(history)).filter((each) => each === value)).toHaveLength(1);
  });

  test("is not there before its last part, and comes to a reader who began to load among its parts", async () => {
    const { history, through, call } = newUser();
    const value = longValue(300_000);
    await history.append("agent", "run", [note("a")]);
    const cursors: string[] = [];
    const watched = through(async (tool, input, ctx) => {
      const { events, meta } = await history.load("agent", "run");
      expect(notesOf({ events })).toEqual(["a"]);
      cursors.push(meta.cursor);
      return await call(tool, input, ctx);
    });
    await watched.append("agent", "run", [kept(value)]);
    expect(cursors.length).toBeGreaterThan(1);
    for (const cursor of cursors) {
      expect(valuesIn((await history.loadSince("agent", "run", cursor)).events)).toEqual([value]);
    }
  });

  test("does not mix with another that is appended at once, and what a broken append leaves behind is never seen", async () => {
    const { history, through, call } = newUser();
    const values = ["a", "b", "c"].map((each) => each + longValue(150_000));
    let calls = 0;
    const broken = through(async (tool, input, ctx) => {
      if (++calls > 1) throw new Error("the machine stops");
      return await call(tool, input, ctx);
    });
    await expect(broken.append("agent", "run", [kept(longValue(300_000))])).rejects.toThrow("the machine stops");
    await Promise.all(values.map((value) => history.append("agent", "run", [kept(value)])));
    expect(new Set(await loaded(history))).toEqual(new Set(values));
  });

  test("counts as damaged if a part of it is missing", async () => {
    const { history, userId, call, place } = newUser();
    const data = JSON.stringify({ format: "test", part_of: "none", parts: 2, sha256: "0".repeat(64) });
    const input = { agentId: "agent", runId: "run", events: [{ type: "opaque", data }] };
    expect(await call("run-history/AppendRunEvents", input, { userId })).toMatchObject({ ok: true });
    expect(await history.load("agent", "run")).toMatchObject({ events: [], meta: { damagedLines: 1 } });
    const file = place("run/000001.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").replace('"none"', "5"));
    expect(await history.load("agent", "run")).toMatchObject({ events: [], meta: { damagedLines: 1 } });
  });

  test("is refused before any of it is stored if it has half a character", async () => {
    const { history } = newUser();
    const json = `"${"x".repeat(300_000)}${"\ud800".repeat(70_000)}"`;
    const data = opaqueData({ format: "test", json });
    await expect(history.append("agent", "run", [{ type: data.eventType, data }])).rejects.toMatchObject({
      code: "INPUT_INVALID",
      issues: [{ field: "events[0].data.json" }],
    });
    expect(await history.list("agent")).toEqual([]);
  });

  test("keeps its first parts, and counts as damaged if a person has changed one", async () => {
    const user = newUser();
    const { history, userId, call, place } = user;
    const value = longValue(60_000);
    await history.append("agent", "run", [kept(value)]);
    const other = (await partsOf(user)).map(({ type, data }) => ({ type, data: changed(data) }));
    expect(other).toHaveLength(2);
    await call("run-history/AppendRunEvents", { agentId: "agent", runId: "run", events: other }, { userId });
    expect(await loaded(history)).toEqual([value]);
    const file = place("run/000001.jsonl");
    writeFileSync(file, changed(readFileSync(file, "utf8")));
    for (const from of ["start", "snapshot"] as const)
      expect(await history.load("agent", "run", { from })).toMatchObject({ events: [], meta: { damagedLines: 1 } });
  });

  test("has no character in two parts", async () => {
    const user = newUser();
    const value = `x${"\u{1f600}".repeat(40_000)}`;
    await user.history.append("agent", "run", [kept(value)]);
    const texts = (await partsOf(user)).map(({ data }) => (JSON.parse(data) as { text: string }).text);
    expect(texts.map((text) => text.isWellFormed())).toEqual([true, true]);
    expect(await loaded(user.history)).toEqual([value]);
  });

  test.each([
    ["JSON_INVALID", `[${"1,".repeat(40_000)}`],
    ["JSON_TRAILING_DATA", `${JSON.stringify(longValue(80_000))} 2`],
  ])("is refused before anything is stored if it is no JSON: %s", async (code, json) => {
    const { history } = newUser();
    const events = [note("a"), newEvent(undefined, snapshotData({ format: "test", json }))];
    await expect(history.append("agent", "run", events)).rejects.toMatchObject({
      code,
      of: "INPUT_INVALID",
      issues: [{ field: "events[1].data.json", allowed: "one JSON value" }],
    });
    expect((await history.load("agent", "run")).meta.segments).toBe(0);
  });

  test("is refused before its first part if the user's runs have no room for it, their trash counted", async () => {
    const { history, place } = newUser();
    const [live, trash] = [folderAt(place("full")), folderAt(place("../trash/agent/full"))];
    for (let number = 10; number < 25; number++) {
      for (const file of [`${live}/0000${number}.jsonl`, `${trash}/0000${number}.20260101T000000000Z.jsonl`]) {
        writeFileSync(file, "");
        truncateSync(file, 2 * 1024 * 1024);
      }
    }
    const append = (): Promise<number> => history.append("agent", "run", [kept("x".repeat(4_400_000))]);
    await expect(append()).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      message: expect.stringMatching(
        /^Cannot append: the runs would hold \d+ bytes .* Delete runs and purge the trash/,
      ),
    });
    expect((await history.load("agent", "run")).meta.bytes).toBe(0);
    rmSync(trash, { recursive: true });
    expect(await history.append("agent", "run", [kept("x".repeat(70_000))])).toBe(1);
  });
});

test("of appends that depend on one cursor, one is stored, also if it is long", async () => {
  const { history } = newUser();
  await history.append("agent", "run", [note("a")]);
  const { cursor } = (await history.load("agent", "run")).meta;
  const append = (value: string): Promise<unknown> =>
    history
      .append("agent", "run", [kept(value)], { unchangedSince: cursor })
      .catch(({ code }: RunHistoryError) => code);
  const outcomes = await Promise.all([append("b"), append(longValue(120_000)), append("d")]);
  expect(outcomes.filter((each) => each === 1)).toHaveLength(1);
  expect(outcomes.filter((each) => each === "RUN_CHANGED")).toHaveLength(2);
  expect(await loaded(history)).toHaveLength(2);
  const { bytes } = (await history.load("agent", "run")).meta;
  expect(await append(longValue(300_000))).toBe("RUN_CHANGED");
  expect((await history.load("agent", "run")).meta.bytes).toBe(bytes);
  const lost = { unchangedSince: null } as object;
  await expect(history.append("agent", "run", [note("e")], lost)).rejects.toThrow("unchangedSince");
  await expect(history.append("agent", "run", [], { unchangedSinc: "x" } as object)).rejects.toThrow(
    'append has the unknown option "unchangedSinc"; did you mean "unchangedSince"?',
  );
});

test("an append that depends on a cursor beyond the run's end stores nothing", async () => {
  const { history, place } = newUser();
  await history.append("agent", "run", [note("a"), note("b")]);
  const { cursor } = (await history.load("agent", "run")).meta;
  const file = place("run/000001.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace(/.*\n$/, ""));
  for (const unchangedSince of [cursor, cursor.replace(/-1-2$/, "-2-0"), cursor.replace(/-1-2$/, "-9-0")]) {
    const append = history.append("agent", "run", [note("c")], { unchangedSince });
    await expect(append).rejects.toMatchObject({ code: "CURSOR_INVALID", issues: [{ field: "unchangedSince" }] });
  }
  expect(notesOf(await history.load("agent", "run"))).toEqual(["a"]);
});

test("a load from the last snapshot reads nothing that was before it", async () => {
  const { history } = newUser();
  for (let at = 0; at < 6; at++) await history.append("agent", "run", [note(`${at}${" ".repeat(70_000)}`)]);
  await history.append("agent", "run", [summed(longValue(100_000)), note("b")]);
  expect(await loaded(history, { from: "snapshot" })).toEqual([longValue(100_000), "b"]);
  await history.append("agent", "run", [summed([3])]);
  expect(await loaded(history, { from: "snapshot", order: "insertion" })).toEqual([[3]]);
  expect(await loaded(history)).toHaveLength(9);
  await expect(history.load("agent", "run", { fron: "snapshot" } as object)).rejects.toThrow('did you mean "from"?');
});

test("the order of insertion is that of the appends, over all pages, whatever the clocks say", async () => {
  const { history, through, userId, call } = newUser();
  const names = Array.from({ length: 30 }, (_, at) => String(at));
  for (const name of names) {
    const timestamp = `2026-01-01T00:00:${String(59 - Number(name)).padStart(2, "0")}Z`;
    await history.append("agent", "run", [noteAt(timestamp, name + " ".repeat(40_000))]);
  }
  expect(notesOf(await history.load("agent", "run"))).toEqual(names.toReversed());
  const late: string[] = [];
  const cursors: string[] = [];
  const watched = through(async (tool, input, ctx) => {
    const answer = await call(tool, input, ctx);
    late.push(`late ${late.length}`);
    await history.append("agent", "run", [note(late.at(-1))]);
    if (answer.ok) cursors.push((answer.data as { meta: { cursor: string } }).meta.cursor);
    return answer;
  });
  const { events, meta } = await watched.load("agent", "run", { order: "insertion" });
  expect(notesOf({ events })).toEqual(names);
  expect(notesOf(await history.loadSince("agent", "run", meta.cursor))).toEqual(late);
  // The cursor of a page is of no use for the other order.
  const input = { agentId: "agent", runId: "run", cursor: cursors[0] };
  expect([cursors.length, await call("run-history/LoadRun", input, { userId })]).toMatchObject([
    3,
    { ok: false, error: { code: "CURSOR_INVALID" } },
  ]);
});

test("a program lists runs and deletes them", async () => {
  const { history } = newUser();
  await history.append("agent", "run", [noteAt("2026-01-01T00:00:00Z", "a")]);
  await history.append("other", "run", [note("b")]);
  expect(await history.list("agent")).toMatchObject([
    { agentId: "agent", runId: "run", events: 1, firstAt: "2026-01-01T00:00:00Z", lastAt: "2026-01-01T00:00:00Z" },
  ]);
  expect(await history.list()).toHaveLength(2);
  expect([await history.delete("agent", "run"), await history.delete("agent", "run")]).toEqual([true, false]);
  expect(await history.list("agent")).toEqual([]);
});
