/** What a guest's thread reads of shared stores. */
import { hash } from "node:crypto";

import { describe, expect, test } from "vitest";

import { scopeOfStore, sizeOfFiles } from "../stage/store.ts";
import { granting, to, removeIn, storeA, storeAt, storeB, storeC, trashIn, writeIn } from "./store-files.ts";
import { storeKinds, StoreStage, write } from "./store-stage.ts";

const [inA, inB, inC] = [storeA, storeB, storeC].map(scopeOfStore) as [string, string, string];

const aTime = expect.any(Number) as number;

describe.each(storeKinds)("%s", (kind) => {
  test("reads the entries of each store that a scope names, as they are now", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeA, "a.md", "of A"), writeIn(storeB, "x/b.md", "of B")]);
    await stage.commitStores([trashIn(storeA, "a.md", "trash/a.1.md"), writeIn(storeA, "a.md", "anew")]);
    const answers = await stage.ask(
      null,
      ["read", inA, "a.md"],
      ["read", inB, "x/b.md"],
      ["read", inB, "a.md"],
      ["list", inA, ""],
      ["list", inA, "trash/"],
      ["sizeOf", inB, "x/b.md"],
      ["scopeSize", inA],
      ["read", inC, "a.md"],
      ["list", inC, ""],
      ["scopeSize", inC],
    );
    const values = answers.map((answer) => ("value" in answer ? answer.value : answer));
    expect(values).toEqual([
      "anew",
      "of B",
      null,
      [{ path: "a.md", bytes: 4, changedUs: aTime }],
      [{ path: "trash/a.1.md", bytes: 4, changedUs: aTime }],
      4,
      { live: { files: 1, bytes: 4 }, trash: { files: 1, bytes: 4 } },
      null,
      [],
      sizeOfFiles([]),
    ]);
    expect((await stage.store.shared.ids()).toSorted()).toEqual([storeA, storeB]);
  });

  test("reports what it has read by the scopes that it was asked with", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeA, "a.md", "one")]);
    const answers = await stage.ask(null, ["read", inA, "a.md"], ["read", inB, "a.md"], ["seen"]);
    expect(answers.at(-1)).toEqual({
      value: [
        { scope: inA, path: "a.md", digest: hash("sha256", "one") },
        { scope: inB, path: "a.md", digest: null },
      ],
    });
  });

  test("reaches nothing but entries: no grants, no host's files, no users", async () => {
    await using stage = await StoreStage.open(kind);
    const grants = granting(storeA, "secret", { granted: [to(storeC)] });
    await stage.commitStores([writeIn(storeA, "a.md", "one")], { grants });
    await stage.commit("alice", [write("a.md", "of Alice")]);
    const denied = { code: "CAPABILITY_DENIED" };
    const paths = [".memcell/grants.json", "../.memcell/grants.json", "..", "", "/", "../entries/a.md"];
    for (const answer of await stage.ask(null, ...paths.map((path) => ["read", inA, path] as const))) {
      expect(answer).toEqual(denied);
    }
    const scopes = [
      "memory",
      "entries",
      "grants",
      storeA,
      "store:",
      "store:EEEEEEEE-0000-4000-8000-000000000000",
      `${inA}/`,
      "store:..",
    ];
    const asked = scopes.flatMap((scope) => [["read", scope, "a.md"] as const, ["list", scope, ""] as const]);
    for (const answer of await stage.ask(null, ...asked)) expect(answer).toEqual(denied);
    expect(await stage.ask(null, ["read", inA, "grants.json"], ["list", inA, ""])).toEqual([
      { value: null },
      { value: [{ path: "a.md", bytes: 3, changedUs: aTime }] },
    ]);
    expect(await stage.ask("alice", ["read", inA, "a.md"])).toEqual([denied]);
  });

  test("reads far more stores than are open at once, and each as before", async () => {
    await using stage = await StoreStage.open(kind);
    const ids = Array.from({ length: 70 }, (_, at) => storeAt(at + 1));
    for (const id of ids) await stage.commitStores([writeIn(id, "a.md", id)]);
    const twice = [...ids, ...ids].map((id) => ["read", scopeOfStore(id), "a.md"] as const);
    const answers = await stage.ask(null, ...twice, ["seen"]);
    expect(answers.slice(0, -1)).toEqual([...ids, ...ids].map((value) => ({ value })));
    expect(answers.at(-1)).toMatchObject({ value: { length: 70 } });
    await stage.commitStores([removeIn(ids[0] ?? storeA, "a.md")]);
    expect(await stage.ask(null, ["read", inA, "a.md"])).toEqual([{ value: null }]);
  });
});
