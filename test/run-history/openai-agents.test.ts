/** Sessions of OpenAI Agents: the cases of the SDK's own `MemorySession`, and what several processes do at once. */
import { appendFileSync, readFileSync } from "node:fs";

import { memcellSession } from "memcell/openai-agents";
import type { MemcellSession, TransactionArgs } from "memcell/openai-agents";
import { opaqueData, snapshotData } from "memcell/run-history";
import { describe, expect, test } from "vitest";

import { note, useHistory } from "./stage.ts";
import type { HistoryUser } from "./stage.ts";

const newUser = useHistory();

const sessionOf = ({ call, userId }: HistoryUser, id = "chat"): MemcellSession =>
  memcellSession({ callAsHost: call }, { userId }, id);

const newSession = (): MemcellSession => sessionOf(newUser());

const said = (text: string): object => ({ role: "user", content: [{ type: "input_text", text }] });

const appending = (operationId: string, ...items: unknown[]): TransactionArgs => ({
  operationId,
  transaction: { type: "append_items", items },
});

const replacing = (operationId: string, expectedSuffix: unknown[], replacement: unknown[]): TransactionArgs => ({
  operationId,
  transaction: { type: "replace_suffix", expectedSuffix, replacement },
});

test("items are kept in their order, and the newest are read, taken back and cleared", async () => {
  const session = newSession();
  const [a, b, c] = [said("a"), said("b"), said("c")];
  expect(await session.getSessionId()).toBe("chat");
  expect(await session.getItems()).toEqual([]);
  expect(await session.popItem()).toBeUndefined();
  await session.clearSession();
  await session.addItems([]);
  await session.addItems([a]);
  await session.addItems([b, c]);
  expect(await session.getItems()).toEqual([a, b, c]);
  expect(await Promise.all([2, 9, 0, -1].map((limit) => session.getItems(limit)))).toEqual([[b, c], [a, b, c], [], []]);
  expect(await session.popItem()).toEqual(c);
  expect(await session.getItems()).toEqual([a, b]);
  await session.clearSession();
  expect(await session.getItems()).toEqual([]);
  expect(await session.popItem()).toBeUndefined();
  await session.addItems([c]);
  expect(await session.getItems()).toEqual([c]);
});

test("what a program does with an item afterwards changes nothing", async () => {
  const session = newSession();
  const given = { role: "user", content: "start" };
  await session.addItems([given]);
  given.content = "changed";
  for (const items of [await session.getItems(), [await session.popItem()]]) {
    expect(items).toEqual([{ role: "user", content: "start" }]);
    items[0].content = "changed";
  }
});

test("items come back deep-equal, whatever their keys, numbers and characters", async () => {
  const session = newSession();
  const items = [
    { n: [0.1, 1e21, -5, 2 ** 53], s: '\ud800 \u2028 "', own: JSON.parse('{"__proto__":{"a":1},"toString":null}') },
    { $bytes: "AQID", $$bytes: { $bytes: 5 }, bytes: new Uint8Array([1, 2, 255]), none: new Uint8Array() },
  ];
  await session.addItems(items);
  expect(await session.getItems()).toEqual(items);
  await session.applyHistoryTransaction(replacing("o", [items[1]], [items[0]]));
  expect(await session.getItems()).toEqual([items[0], items[0]]);
});

test("items with images come back, also through a snapshot and a transaction", async () => {
  const session = newSession();
  const image = { type: "input_image", image: `data:image/png;base64,${"iVBORw0KGgo/".repeat(50_000)}` };
  await session.addItems([{ role: "user", content: [image] }, said("a")]);
  await session.applyHistoryTransaction(replacing("o", [said("a")], [{ role: "user", content: [image] }]));
  await session.replaceHistoryWithCompaction(await session.getItems(1));
  expect(await session.getItems()).toEqual([{ role: "user", content: [image] }]);
});

describe("a transaction", () => {
  test("that appends is applied once, also after other items", async () => {
    const session = newSession();
    await session.applyHistoryTransaction(appending("o", said("a")));
    await session.addItems([said("later")]);
    await session.applyHistoryTransaction(appending("o", said("a")));
    expect(await session.getItems()).toEqual([said("a"), said("later")]);
  });

  test("that replaces the end is applied once", async () => {
    const session = newSession();
    await session.addItems([said("start"), said("blocked")]);
    const replace = replacing("o", [said("blocked")], [said("accepted"), said("more")]);
    await session.applyHistoryTransaction(replace);
    await session.addItems([said("later")]);
    await session.applyHistoryTransaction(replace);
    expect(await session.getItems()).toEqual([said("start"), said("accepted"), said("more"), said("later")]);
  });

  test("whose end is another one changes nothing, and its id can be used again", async () => {
    const session = newSession();
    await session.addItems([said("start")]);
    for (const wrong of [[said("other")], [said("other"), said("start")], [said("start"), said("start")]]) {
      await expect(session.applyHistoryTransaction(replacing("o", wrong, [said("b")]))).rejects.toMatchObject({
        code: "VERSION_CONFLICT",
        message: "Cannot use the session: the history does not end in expectedSuffix",
      });
    }
    expect(await session.getItems()).toEqual([said("start")]);
    await session.applyHistoryTransaction(replacing("o", [said("start")], [said("b")]));
    expect(await session.getItems()).toEqual([said("b")]);
  });

  test("of another content needs another id, also if the first one was empty", async () => {
    const session = newSession();
    await session.applyHistoryTransaction(appending("o", said("first")));
    await session.applyHistoryTransaction(appending("empty"));
    for (const id of ["o", "empty"]) {
      await expect(session.applyHistoryTransaction(appending(id, said("second")))).rejects.toThrow(
        "operationId is that of an earlier, different transaction",
      );
    }
    // The same items, but another kind of transaction.
    await expect(session.applyHistoryTransaction(replacing("o", [], [said("first")]))).rejects.toThrow("earlier");
    expect(await session.getItems()).toEqual([said("first")]);
  });

  test("is forgotten when the session is cleared, and kept when it is compacted", async () => {
    const session = newSession();
    await session.applyHistoryTransaction(appending("o", said("a")));
    await session.replaceHistoryWithCompaction([{ type: "compaction" }]);
    await session.applyHistoryTransaction(appending("o", said("a")));
    expect(await session.getItems()).toEqual([{ type: "compaction" }]);
    await session.clearSession();
    await session.applyHistoryTransaction(appending("o", said("a")));
    expect(await session.getItems()).toEqual([said("a")]);
  });

  test("compares values, not the order of keys or their prototype", async () => {
    const session = newSession();
    const item = Object.assign(Object.create(null), { b: { y: 1, x: 2 }, a: 1 });
    await session.applyHistoryTransaction(appending("o", item));
    await session.applyHistoryTransaction(appending("o", { a: 1, b: { x: 2, y: 1 } }));
    await session.applyHistoryTransaction(replacing("p", [{ a: 1, b: { x: 2, y: 1 } }], [said("a")]));
    expect(await session.getItems()).toEqual([said("a")]);
  });

  test("reads what it is given once", async () => {
    const session = newSession();
    let reads = 0;
    const args = Object.defineProperty(appending("", said("a")), "operationId", { get: () => `o${++reads}` });
    await session.applyHistoryTransaction(args);
    expect(reads).toBe(1);
  });

  test.each<[string, unknown]>([
    ["operationId is", appending("   ")],
    ["transaction is", { operationId: "o", transaction: null }],
    ["transaction.type is", { operationId: "o", transaction: { type: "unknown" } }],
    ["transaction.items is", { operationId: "o", transaction: { type: "append_items" } }],
    ["transaction.items[1] is", appending("o", said("a"), 42)],
    ["transaction.metadata is", { operationId: "o", transaction: { type: "append_items", items: [], metadata: 1 } }],
    ["transaction.expectedSuffix is", { operationId: "o", transaction: { type: "replace_suffix", replacement: [] } }],
  ])("is refused before anything changes: %s", async (field, args) => {
    const session = newSession();
    await session.addItems([said("start")]);
    const refused = expect(session.applyHistoryTransaction(args as TransactionArgs)).rejects;
    await refused.toThrow(`Cannot ${field.includes("items") || field.includes("Suffix") ? "keep" : "apply"}`);
    await expect(session.applyHistoryTransaction(args as TransactionArgs)).rejects.toThrow(field);
    expect(await session.getItems()).toEqual([said("start")]);
    await session.applyHistoryTransaction(appending("o", said("a")));
  });
});

test("what is neither JSON nor bytes is refused, and no value of it is told", async () => {
  const session = newSession();
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const hidden = Object.defineProperty({}, "secret", { enumerable: false, value: "api-key-secret" });
  const values = [new Date(0), 42n, Symbol("api-key-secret"), () => "api-key-secret", Number.NaN, hidden, cycle];
  const more = [new Map([["api-key-secret", 1]]), new Uint16Array(2), { [Symbol("api-key-secret")]: 1 }];
  for (const value of [...values, ...more]) {
    const item = { type: "message", providerData: { value } };
    for (const refused of [
      session.addItems([item]),
      session.applyHistoryTransaction(appending("o", item)),
      session.replaceHistoryWithCompaction([item]),
    ]) {
      const error = await refused.then(String, (fault: Error) => fault);
      expect(error).toMatchObject({ code: "INPUT_INVALID" });
      expect(String(error)).not.toContain("secret");
    }
  }
  // A hole is no item.
  await expect(session.addItems(Array.from({ length: 1 }))).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await session.getItems()).toEqual([]);
});

describe("several processes at once", () => {
  test("take each item once", async () => {
    const user = newUser();
    const names = Array.from({ length: 12 }, (_, at) => `i${at}`);
    await sessionOf(user).addItems(names.map(said));
    const popped = await Promise.all(names.map(() => sessionOf(user).popItem()));
    const texts = popped.map((item) => String(item.content[0].text));
    expect(texts.toSorted()).toEqual(names.toSorted());
    expect(await sessionOf(user).getItems()).toEqual([]);
  });

  test("apply a transaction once, and of two that replace one end, one", async () => {
    const user = newUser();
    await sessionOf(user).addItems([said("start")]);
    const outcomes = await Promise.allSettled([
      ...[1, 2, 3].map(() => sessionOf(user).applyHistoryTransaction(appending("o", said("a")))),
      sessionOf(user).addItems([said("b")]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill("fulfilled"));
    expect(await sessionOf(user).getItems()).toHaveLength(3);
    const end = (await sessionOf(user).getItems(1)) as unknown[];
    const replaced = await Promise.allSettled(
      ["x", "y"].map((id) => sessionOf(user).applyHistoryTransaction(replacing(id, end, [said(id)]))),
    );
    expect(replaced.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });
});

test("long changes that race are each stored once", async () => {
  const user = newUser();
  const names = ["a", "b", "c", "d"];
  const apply = (name: string): Promise<void> =>
    sessionOf(user).applyHistoryTransaction(appending(name, said(name.repeat(200_000))));
  await Promise.all(names.map(apply));
  const items = await sessionOf(user).getItems();
  expect(new Set(items.map(({ content }) => content[0].text[199_999]))).toEqual(new Set(names));
  const { bytes } = (await user.history.load("openai-agents", "chat")).meta;
  expect(bytes / (4 * 200_000)).toBeLessThan(1.1);
});

test("two users, and two sessions of one user, never meet", async () => {
  const [alice, bob] = [newUser(), newUser()];
  await sessionOf(alice).addItems([said("alice")]);
  await sessionOf(bob).addItems([said("bob")]);
  await sessionOf(alice, "chat/2").addItems([said("second")]);
  await sessionOf(bob).clearSession();
  expect(await sessionOf(alice).getItems()).toEqual([said("alice")]);
  expect(await sessionOf(alice, "chat/2").getItems()).toEqual([said("second")]);
  expect(await sessionOf(bob).getItems()).toEqual([]);
  const ctx = { userId: alice.userId };
  const session = memcellSession({ callAsHost: alice.call }, ctx, "chat");
  ctx.userId = bob.userId;
  expect(await session.getItems()).toEqual([said("alice")]);
});

test("a session of which much was taken back is not read whole", async () => {
  const user = newUser();
  const session = sessionOf(user);
  for (let at = 0; at < 8; at++) {
    await session.addItems([said("x".repeat(60_000))]);
    await session.popItem();
  }
  await session.addItems([said("kept")]);
  const { events, meta } = await user.history.load("openai-agents", "chat", { from: "snapshot" });
  const loaded = events.reduce((sum, { data }) => sum + String(data["json"]).length, 0);
  expect([meta.bytes > 400_000, loaded < 200_000]).toEqual([true, true]);
  expect(await session.getItems()).toEqual([said("kept")]);
});

test("events of other programs in the run are none of the session's; damaged ones are told", async () => {
  const user = newUser();
  const session = sessionOf(user);
  await session.addItems([said("a")]);
  const data = opaqueData({ format: "chess", json: "5" });
  const summed = snapshotData({ format: "chess", json: "{}" });
  const odd = { type: "planner_note", data: { note: "n", format: "openai-agents" } } as const;
  await user.history.append("openai-agents", "chat", [note(), { type: "opaque", data }, odd]);
  await user.history.append("openai-agents", "chat", [{ type: "snapshot", data: summed }]);
  expect(await session.getItems()).toEqual([said("a")]);
  await session.addItems([said("b")]);
  expect(await session.popItem()).toEqual(said("b"));
  expect(await session.getItems()).toEqual([said("a")]);
  const file = user.place("../openai-agents/chat/000001.jsonl");
  const [line = ""] = readFileSync(file, "utf8").split("\n");
  for (const wrong of ["no event", line.replace(/"json":".*?[^\\]"/, '"json":"{\\"add\\":5}"')]) {
    appendFileSync(file, `${wrong}\n`);
    const told = { code: "ENTRY_UNREADABLE", message: expect.stringContaining('"memcell doctor" names them') };
    await expect(session.getItems()).rejects.toMatchObject(told);
    await expect(session.popItem()).rejects.toMatchObject(told);
  }
  await session.clearSession();
  expect(await session.getItems()).toEqual([]);
});
