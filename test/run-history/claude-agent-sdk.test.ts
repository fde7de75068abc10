/** Transcripts of Claude Agent SDK: the cases of its conformance suite, and what retries and several processes do. */
import { appendFileSync } from "node:fs";

import { sessionStore } from "memcell/claude-agent-sdk";
import type { FoldSummary, SessionKey, SessionStore } from "memcell/claude-agent-sdk";
import { snapshotData } from "memcell/run-history";
import { describe, expect, test } from "vitest";

import { useHistory } from "./stage.ts";
import type { HistoryUser } from "./stage.ts";

const newUser = useHistory();

const storeOf = ({ call, userId }: HistoryUser, foldSessionSummary?: FoldSummary): SessionStore =>
  sessionStore({ callAsHost: call }, { userId }, { foldSessionSummary });

const newStore = (): SessionStore => storeOf(newUser());

type Entry = Parameters<SessionStore["append"]>[1][number];

const entry = (fields: object): Entry => ({ type: "x", ...fields });
const key: SessionKey = { projectKey: "-home-alice-proj", sessionId: "sess" };
const below = (subpath: string): SessionKey => ({ ...key, subpath });
const agents = [below("subagents/agent-1"), below("subagents/agent-2")] as const;

describe("the SDK's conformance cases", () => {
  test("entries come back in the order of the appends; an empty batch stores nothing", async () => {
    const store = newStore();
    const batches = [[entry({ uuid: "z", n: 1 })], [entry({ uuid: "a", n: 2 }), entry({ uuid: "m", n: 3 })], []];
    for (const batch of batches) await store.append(key, batch);
    expect(await store.load(key)).toEqual(batches.flat());
  });

  test("what was never written is null", async () => {
    const store = newStore();
    expect(await store.load(key)).toBeNull();
    await store.append(key, []);
    expect(await store.load(key)).toBeNull();
    await store.append(key, [entry({ n: 1 })]);
    expect(await store.load(below("nope"))).toBeNull();
    expect(await store.load({ ...key, sessionId: "nope" })).toBeNull();
  });

  test("subagents and projects are kept apart", async () => {
    const store = newStore();
    await store.append(key, [entry({ uuid: "m" })]);
    await store.append(agents[0], [entry({ uuid: "s" })]);
    await store.append({ ...key, projectKey: "B" }, [entry({ from: "B" })]);
    expect(await store.load(key)).toEqual([entry({ uuid: "m" })]);
    expect(await store.load(agents[0])).toEqual([entry({ uuid: "s" })]);
    expect(await store.load({ ...key, projectKey: "B" })).toEqual([entry({ from: "B" })]);
  });

  test("sessions are listed by project, without subagents, with the time of the last append", async () => {
    const store = newStore();
    const before = Date.now();
    await store.append(key, [entry({ timestamp: "2020-01-01T00:00:00Z" })]);
    await store.append({ ...key, sessionId: "b" }, [entry({})]);
    await store.append(agents[0], [entry({})]);
    await store.append({ projectKey: "other", sessionId: "c" }, [entry({})]);
    const listed = await store.listSessions(key.projectKey);
    expect(listed.map(({ sessionId }) => sessionId).toSorted()).toEqual(["b", "sess"]);
    for (const { mtime } of listed) expect([Number.isInteger(mtime), mtime >= before]).toEqual([true, true]);
    expect(await store.listSessions("never")).toEqual([]);
  });

  test("a session is deleted with its subagents, and nothing else", async () => {
    const store = newStore();
    const others = [
      { ...key, sessionId: "sess2" },
      { ...key, projectKey: "other" },
      { ...key, sessionId: "ses" },
    ];
    await store.delete(key);
    for (const each of [key, ...agents, ...others]) await store.append(each, [entry({ n: 1 })]);
    await store.delete(key);
    for (const each of [key, ...agents]) expect(await store.load(each)).toBeNull();
    for (const each of others) expect(await store.load(each)).toHaveLength(1);
    expect(await store.listSubkeys(key)).toEqual([]);
    expect((await store.listSessions(key.projectKey)).map(({ sessionId }) => sessionId)).toEqual(["ses", "sess2"]);
  });

  test("a subagent is deleted alone", async () => {
    const store = newStore();
    for (const each of [key, ...agents]) await store.append(each, [entry({ n: 1 })]);
    await store.delete(agents[0]);
    expect(await Promise.all([key, ...agents].map(async (each) => (await store.load(each))?.length))).toEqual([
      1,
      undefined,
      1,
    ]);
    expect(await store.listSubkeys(key)).toEqual(["subagents/agent-2"]);
  });

  test("subagents are listed by session, without the session itself", async () => {
    const store = newStore();
    await store.append(key, [entry({})]);
    expect(await store.listSubkeys(key)).toEqual([]);
    for (const each of agents) await store.append(each, [entry({})]);
    await store.append({ ...key, sessionId: "other", subpath: "subagents/agent-x" }, [entry({})]);
    expect((await store.listSubkeys(key)).toSorted()).toEqual(["subagents/agent-1", "subagents/agent-2"]);
    expect(await store.listSubkeys({ projectKey: "x", sessionId: "never" })).toEqual([]);
  });

  test("summaries are what the SDK folds of a session, without subagents, as new as the list of sessions says", async () => {
    const store = storeOf(newUser(), fold);
    const append = (each: SessionKey, title: string): Promise<void> => store.append(each, [entry({ title })]);
    await append(key, "first");
    await append(key, "second");
    await append(agents[0], "subagent");
    await append({ ...key, projectKey: "other" }, "other");
    const summaries = await store.listSessionSummaries?.(key.projectKey);
    const [session] = await store.listSessions(key.projectKey);
    expect(summaries).toEqual([{ sessionId: "sess", mtime: session?.mtime, data: { titles: ["first", "second"] } }]);
    expect(await store.listSessionSummaries?.("never")).toEqual([]);
    await store.delete(key);
    expect(await store.listSessionSummaries?.(key.projectKey)).toEqual([]);
    expect(newStore()).not.toHaveProperty("listSessionSummaries");
  });
});

/** As the SDK's function: pure, and it keeps the time of the summary before. */
const fold: FoldSummary = (previous, { sessionId }, entries) => ({
  sessionId,
  mtime: previous?.mtime ?? 0,
  data: { titles: [...((previous?.data["titles"] as unknown[]) ?? []), ...entries.map(({ title }) => title)] },
});

test("entries come back deep-equal, whatever is in them, and of any size", async () => {
  const store = newStore();
  const hard = JSON.parse(
    '{"__proto__":{"a":1},"n":[0.1,1e21,-0.5],"s":"\\ud800 \\u2028\\u0000","none":null}',
  ) as object;
  const image = { source: { type: "base64", data: "iVBORw0KGgo/".repeat(20_000) } };
  const entries = [entry(hard), entry({ uuid: "i", image }), entry({ text: '"'.repeat(100_000) })];
  await store.append(key, entries);
  expect(await store.load(key)).toEqual(entries);
  const odd = { projectKey: "C:\\Users\\a b", sessionId: "50%/..%2F", subpath: "../x/%/日" };
  await store.append(odd, [entry({ n: 1 })]);
  await store.append({ projectKey: odd.projectKey, sessionId: odd.sessionId }, [entry({ n: 2 })]);
  expect(await store.load(odd)).toEqual([entry({ n: 1 })]);
  expect(await store.listSubkeys(odd)).toEqual([odd.subpath]);
  expect((await store.listSessions(odd.projectKey)).map(({ sessionId }) => sessionId)).toEqual([odd.sessionId]);
});

test("a batch that two clients repeat at once is stored once, also after others; one without a uuid each time", async () => {
  const user = newUser();
  const batch = [entry({ uuid: "a", n: 1 }), entry({ tag: "t" })];
  const large = [entry({ uuid: "l", text: "x".repeat(200_000) })];
  const stores = [storeOf(user), storeOf(user), storeOf(user)];
  await Promise.all(stores.flatMap((store) => [store.append(key, batch), store.append(key, large)]));
  await storeOf(user).append(key, [entry({ uuid: "b", n: 2 })]);
  const { bytes } = (await user.history.load(`claude-agent-sdk/${key.projectKey}`, "sess")).meta;
  await Promise.all(stores.flatMap((store) => [store.append(key, batch), store.append(key, large)]));
  const { meta } = await user.history.load(`claude-agent-sdk/${key.projectKey}`, "sess");
  expect(meta.bytes).toBe(bytes);
  expect(await storeOf(user).load(key)).toHaveLength(4);
  for (let at = 0; at < 2; at++) await storeOf(user).append(key, [entry({ tag: "again" })]);
  expect((await storeOf(user).load(key))?.filter(({ tag }) => tag === "again")).toHaveLength(2);
});

test("of entries with one uuid in different batches, as when a session is imported again, the first counts", async () => {
  const store = newStore();
  const [a, b, c] = [entry({ uuid: "a", n: 1 }), entry({ uuid: "b", n: 2 }), entry({ uuid: "c", n: 3 })];
  await store.append(key, [a, b]);
  await store.append(key, [b, c]);
  await store.append(key, [entry({ uuid: "a", n: 9 })]);
  expect(await store.load(key)).toEqual([a, b, c]);
});

test("only a text is a uuid, and any JSON is an entry, as in the SDK's own store", async () => {
  const store = storeOf(newUser(), fold);
  const odd = [null, 5, "x", [1], {}].map((each) => each as unknown as Entry);
  const entries = [null, null, "", "", 5, 5].map((uuid) => entry({ uuid, title: uuid }));
  for (const batch of [...entries.map((each) => [each]), odd, [entry({ uuid: "a", title: "a" }), null as never]])
    await store.append(key, batch);
  expect(await store.load(key)).toEqual([...entries, ...odd, entry({ uuid: "a", title: "a" }), null]);
  const [summary] = (await store.listSessionSummaries?.(key.projectKey)) ?? [];
  expect(summary?.data["titles"]).toEqual([null, null, "", "", 5, 5, ...odd.slice(1).map(() => undefined), "a"]);
  await expect(store.append(key, [entry({ n: 1n })])).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

test("a batch whose acknowledgement is lost is stored once", async () => {
  const user = newUser();
  let losses = 2;
  const lossy = sessionStore(
    {
      callAsHost: async (tool, input, ctx) => {
        const result = await user.call(tool, input, ctx);
        if (losses-- > 0) throw new Error("connection lost");
        return result;
      },
    },
    { userId: user.userId },
  );
  const batch = [entry({ uuid: "a", n: 1 })];
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(lossy.append(key, batch)).rejects.toThrow("connection lost");
  await lossy.append(key, batch);
  const { events } = await user.history.load(`claude-agent-sdk/${key.projectKey}`, "sess");
  expect(events).toHaveLength(1);
});

test("two users never meet", async () => {
  const [alice, bob] = [newUser(), newUser()];
  await Promise.all([alice, bob].map((user) => storeOf(user).append(key, [entry({ of: user.userId })])));
  await storeOf(bob).delete(key);
  expect(await storeOf(alice).load(key)).toEqual([entry({ of: alice.userId })]);
  expect(await storeOf(bob).load(key)).toBeNull();
  expect(await storeOf(bob).listSessions(key.projectKey)).toEqual([]);
});

test("a summary of a long session reads only what is new, and two lists at once do not spoil it", async () => {
  const user = newUser();
  const seen: number[] = [];
  const store = storeOf(user, (previous, each, entries) => {
    seen.push(entries.length);
    return fold(previous, each, entries);
  });
  for (let at = 0; at < 6; at++) await store.append(key, [entry({ title: at, text: "x".repeat(30_000) })]);
  const list = (): Promise<unknown> | undefined => store.listSessionSummaries?.(key.projectKey);
  const [first] = await Promise.all([list(), list()]);
  expect(first).toMatchObject([{ data: { titles: [0, 1, 2, 3, 4, 5] } }]);
  await store.append(key, [entry({ title: 6 })]);
  seen.length = 0;
  const [session] = await store.listSessions(key.projectKey);
  expect(await list()).toEqual([{ sessionId: "sess", mtime: session?.mtime, data: { titles: [0, 1, 2, 3, 4, 5, 6] } }]);
  expect(seen).toEqual([1]);
  expect(await store.load(key)).toHaveLength(7);
});

test("events of other programs in a session's run are none of its own", async () => {
  const user = newUser();
  const store = storeOf(user, fold);
  await store.append(key, [entry({ title: "a" })]);
  const [json, data] = ["{}", { note: "n", format: "claude-agent-sdk" }];
  const foreign = { type: "snapshot", data: snapshotData({ format: "chess", json }) } as const;
  await user.history.append(`claude-agent-sdk/${key.projectKey}`, "sess", [{ type: "planner_note", data }, foreign]);
  expect(await store.load(key)).toEqual([entry({ title: "a" })]);
  expect(await store.listSessionSummaries?.(key.projectKey)).toMatchObject([{ data: { titles: ["a"] } }]);
});

test("damaged lines are told, and not taken for a shorter transcript", async () => {
  const user = newUser();
  const store = storeOf(user, fold);
  await store.append(key, [entry({ n: 1 })]);
  const file = user.place("../claude-agent-sdk_.2f-home-alice-proj/sess/000001.jsonl");
  const wrong = { type: "opaque", timestamp: "2026-01-01T00:00:00Z", data: { format: "claude-agent-sdk", json: "5" } };
  for (const line of [JSON.stringify(wrong), "no event"]) {
    appendFileSync(file, `${line}\n`);
    await expect(store.load(key)).rejects.toMatchObject({ code: "ENTRY_UNREADABLE" });
    await expect(store.listSessionSummaries?.(key.projectKey)).rejects.toThrow('"memcell doctor" names them');
  }
});
