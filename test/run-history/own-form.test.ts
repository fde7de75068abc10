/** What programs keep in a form of their own: JSON texts of any size, snapshots, and appends that depend on a cursor. */
import fc from "fast-check";
import { decodeOpaqueData, newEvent, opaqueData, snapshotData } from "memcell/run-history";
import type { Event, RunHistory, RunHistoryError } from "memcell/run-history";
import { describe, expect, test } from "vitest";

import { runs } from "../stage/random-runs.ts";
import { note, noteAt, notesOf, useHistory } from "./stage.ts";

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
    const { history, userId, call } = newUser();
    const data = JSON.stringify({ format: "test", part_of: "none", parts: 2 });
    const input = { agentId: "agent", runId: "run", events: [{ type: "opaque", data }] };
    await call("run-history/AppendRunEvents", input, { userId });
    expect(await history.load("agent", "run")).toMatchObject({ events: [], meta: { damagedLines: 1 } });
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
  await expect(history.append("agent", "run", [], { unchangedSinc: "x" } as object)).rejects.toThrow(
    'append has the unknown option "unchangedSinc"; did you mean "unchangedSince"?',
  );
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
  const { history } = newUser();
  const names = Array.from({ length: 30 }, (_, at) => String(at));
  for (const name of names) {
    const timestamp = `2026-01-01T00:00:${String(59 - Number(name)).padStart(2, "0")}Z`;
    await history.append("agent", "run", [noteAt(timestamp, name + " ".repeat(40_000))]);
  }
  const { events, meta } = await history.load("agent", "run", { order: "insertion" });
  expect(notesOf({ events })).toEqual(names);
  expect(notesOf(await history.load("agent", "run"))).toEqual(names.toReversed());
  await history.append("agent", "run", [note("new")]);
  expect(notesOf(await history.loadSince("agent", "run", meta.cursor))).toEqual(["new"]);
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
