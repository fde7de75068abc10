/** `/api/storage/memory-scoped`: the exchange of changes between the machines of an agent. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pull } from "./pulled-notes.ts";
import type { Page } from "./pulled-notes.ts";
import { openStorageStage, weather } from "./stage.ts";
import type { StorageClient, StorageStage } from "./stage.ts";

let stage: StorageStage;
let own: StorageClient;

beforeAll(async () => {
  stage = await openStorageStage();
  own = stage.as(weather);
});
afterAll(async () => await stage[Symbol.asyncDispose]());

/** Page by page, as the clients do. */
async function pullAll(client: StorageClient, namespace: string, since: string | null) {
  const lines: Page["lines"][number][] = [];
  let page = await pull(client, namespace, since);
  let pages = 1;
  for (; page.more; pages++) {
    lines.push(...page.lines);
    page = await pull(client, namespace, page.cursor);
  }
  return { lines: [...lines, ...page.lines], cursor: page.cursor, pages };
}

async function push(client: StorageClient, lines: readonly object[], namespace = "owner"): Promise<unknown> {
  const all = lines.map((line) => ({ op: "put", namespace, content: "", ...line }));
  return (await client("POST", "memory-scoped?action=sync", { namespace, lines: all })).body;
}

const hour = (of: number): string => `2026-01-01T${String(of).padStart(2, "0")}:00:00.000Z`;

describe("the exchange of changes", () => {
  test("the later change of a note counts, whoever sends it first", async () => {
    const { client } = stage.another();
    expect(await push(client, [{ key: "a", content: "1", at: hour(2) }])).toEqual({ applied: 1, refused: [] });
    expect(await push(client, [{ key: "a", content: "2", at: hour(1) }])).toMatchObject({ applied: 0 });
    expect(await push(client, [{ key: "a", content: "3", at: hour(2) }])).toMatchObject({ applied: 0 });
    expect(await push(client, [{ op: "delete", key: "a", at: hour(1) }])).toMatchObject({ applied: 0 });
    expect(await push(client, [{ key: "a", content: "4", at: hour(3) }])).toMatchObject({ applied: 1 });
    expect(await push(client, [{ op: "delete", key: "a", at: hour(4) }])).toMatchObject({ applied: 1 });
    expect(await push(client, [{ key: "a", content: "5", at: hour(4) }])).toMatchObject({ applied: 0 });
    expect(await push(client, [{ key: "a", content: "6", at: hour(5) }])).toMatchObject({ applied: 1 });
    const { lines } = await pull(client, "owner", null);
    expect(lines.map(({ op, at, content }) => [op, at, content])).toEqual([
      ["delete", hour(4), undefined],
      ["put", hour(5), "6"],
    ]);
  });

  test("a change from a clock that is ahead counts as one of now, so that others can follow it", async () => {
    const { client } = stage.another();
    await push(client, [{ key: "a", content: "ahead", at: "9999-12-31T23:59:59.999Z" }]);
    const { body } = await client("PUT", "memory-scoped", { namespace: "owner", key: "a", content: "now" });
    expect(body).toMatchObject({ entry: { content: "now" } });
    expect((body as { entry: { updated_at: string } }).entry.updated_at < "9999").toBe(true);
  });

  test("each line counts on its own: what cannot be kept holds back no other", async () => {
    const { client } = stage.another();
    const lines = [
      { key: "large", content: "x".repeat(102_401), at: hour(1) },
      { key: "larger", content: "x".repeat(450_000), at: hour(1) },
      { key: "a/b", at: hour(1) },
      { key: "k", at: "yesterday" },
      { key: "k", at: "2026-02-30T00:00:00.000Z" },
      { key: "k", namespace: "shared", at: hour(1) },
      { key: "k", op: "rename", at: hour(1) },
      { key: "k", content: 5, at: hour(1) },
      { key: "fits", at: hour(1) },
    ];
    const pushed = (await push(client, lines)) as { applied: number; refused: { at: number }[] };
    expect([pushed.applied, pushed.refused.map(({ at }) => at)]).toEqual([1, [0, 1, 2, 3, 4, 5, 6, 7]]);
    const odd = [
      null,
      7,
      "line",
      [],
      { key: "k2", op: "put", namespace: "owner", at: hour(1), content: "", seq: 1, id: "x" },
    ];
    expect(await client("POST", "memory-scoped?action=sync", { namespace: "owner", lines: odd })).toMatchObject({
      body: { applied: 1, refused: { length: 4 } },
    });
  });

  test("marks of forgotten notes do not fill a store: the oldest go", async () => {
    const { client } = stage.another();
    const keys = Array.from({ length: 210 }, (_, at) => `k${String(at).padStart(3, "0")}`);
    await push(
      client,
      keys.map((key) => ({ key, at: hour(1) })),
    );
    await push(
      client,
      keys.map((key) => ({ op: "delete", key, at: hour(2) })),
    );
    const { lines } = await pullAll(client, "owner", null);
    expect([lines.length, lines.every(({ op }) => op === "delete")]).toEqual([200, true]);
    expect(await push(client, [{ key: lines[0]?.key, at: hour(2) }])).toMatchObject({ applied: 0 });
  });

  test("a forgotten note is known in its own namespace alone", async () => {
    const { client } = stage.another();
    const names = ["owner", "caller:https://x.example//a", "caller:https://x.example/", `caller:${"x".repeat(300)}`];
    const key = "k".repeat(128);
    for (const namespace of names) {
      for (const each of ["short", key]) await push(client, [{ key: each, at: hour(1) }], namespace);
      expect(await push(client, [{ op: "delete", key, at: hour(2) }], namespace)).toMatchObject({ applied: 1 });
    }
    for (const namespace of names) {
      const { lines } = await pull(client, encodeURIComponent(namespace), null);
      expect(lines.map(({ op, key: of }) => `${op} ${of}`).toSorted()).toEqual([`delete ${key}`, "put short"]);
    }
  });

  test("a note of control characters alone is too large where no answer could hold it", async () => {
    const { client } = stage.another();
    const put = (content: string) => client("PUT", "memory-scoped", { namespace: "owner", key: "odd", content });
    expect(await put("\u0001".repeat(70_000))).toMatchObject({ status: 200 });
    expect(await put("\u0001".repeat(80_000))).toMatchObject({ status: 413 });
  });

  test("pages go on where the one before ended, and a change comes after the cursor that was given before it", async () => {
    const { client } = stage.another();
    const content = "x".repeat(90_000);
    const keys = Array.from({ length: 12 }, (_, at) => `k${String(at).padStart(2, "0")}`);
    for (const key of keys) await client("PUT", "memory-scoped", { namespace: "shared", key, content });
    const first = await pullAll(client, "shared", null);
    expect([first.lines.map(({ key }) => key).toSorted(), first.pages > 1]).toEqual([keys, true]);
    await client("DELETE", "memory-scoped?namespace=shared&key=k03");
    await client("PUT", "memory-scoped", { namespace: "shared", key: "late", content: "" });
    const { lines } = await pullAll(client, "shared", first.cursor);
    expect(lines.filter(({ key }) => key === "k03" || key === "late").map(({ op, key }) => [op, key])).toEqual([
      ["delete", "k03"],
      ["put", "late"],
    ]);
  });

  test.each(["0", "x", "-1:", "1795453231542000", "\u0000", "9007199254740991", ":"])(
    "a cursor that is none, such as %o, begins at the start",
    async (since) => {
      await own("PUT", "memory-scoped", { namespace: "owner", key: "always", content: "" });
      expect((await pull(own, "owner", since)).lines).toMatchObject([{ key: "always" }]);
    },
  );

  test("a note that a person writes or edits is pulled as well", async () => {
    const { agent, client } = stage.another();
    await client("PUT", "memory-scoped", { namespace: "owner", key: "plan", content: "October" });
    const folder = join(stage.dataDir, "stores", storeIdOf(agent), "entries", "_.ns", "owner");
    writeFileSync(join(folder, "by-hand_.md"), "Written by a person.\n");
    const { lines } = await pull(client, "owner", null);
    expect(lines.find(({ key }) => key === "by-hand")).toMatchObject({
      op: "put",
      content: "Written by a person.\n",
      source: "owner",
    });
    expect(await client("GET", "memory-scoped?action=search&q=persons")).toMatchObject({
      body: { entries: [{ key: "by-hand" }] },
    });
  });
});
