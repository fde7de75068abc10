/** What guests and the host read from a home is the same in every engine. */
import { once } from "node:events";
import { chmodSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";

import { describe, expect, test } from "vitest";

import type { ListedFile } from "../../shared/abi.ts";
import { diskLacks } from "../conformance/disk-abilities.ts";
import { digestOf, noFiles, scopeOfStore, sizeOfFiles } from "../stage/store.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import {
  granting,
  homesIn,
  newStoreId,
  openEngines,
  remove,
  restore,
  to,
  trash,
  write,
  writeIn,
} from "./store-stage.ts";
import type { HeldHome, Home } from "./store-stage.ts";

const mebibyte = 2 ** 20;
const engines = await openEngines();

const file = (path: string, bytes = path.length): object => ({ path, bytes, changedUs: expect.any(Number) as number });
const listed = (...files: readonly (string | object)[]): object => ({
  value: files.map((each) => (typeof each === "string" ? file(each) : each)),
});
const denied = { code: "CAPABILITY_DENIED" };
const unsafe = { code: "STORAGE_UNSAFE" };

/** The times in a listing, by path. */
async function timesIn(home: Home, prefix = ""): Promise<Record<string, number>> {
  const [answer] = await home.ask(["list", "memory", prefix]);
  const files = answer !== undefined && "value" in answer ? (answer.value as ListedFile[]) : [];
  return Object.fromEntries(files.map(({ path, changedUs = -1 }) => [path, changedUs]));
}

describe.each(homesIn(engines))("$name", ({ stage, newHome }) => {
  /** Files that contain their own path. */
  async function homeWith(...paths: readonly string[]): Promise<Home> {
    const home = newHome();
    await home.commit(paths.map((path) => write(path, path)));
    return home;
  }

  test("one without files reads as empty, and reading creates nothing", async () => {
    const home = newHome();
    const answers = await home.ask(
      ["read", "memory", "a.md"],
      ["sizeOf", "memory", "a/b.md"],
      ["list", "memory", ""],
      ["scopeSize", "memory"],
    );
    expect(answers).toEqual([{ value: null }, { value: null }, { value: [] }, { value: sizeOfFiles([]) }]);
    for (const writes of [true, false]) {
      const work = ({ reader, ...held }: HeldHome): Promise<unknown[]> =>
        Promise.all([
          reader.scopes(),
          reader.list(home.scope, ""),
          reader.survey(home.scope),
          reader.scopeSize(home.scope),
          reader.bytesOf(home.scope, "a.md"),
          held.findings(),
        ]);
      const found = await home.hold(work, { writes });
      expect(found).toEqual([[], [], { files: [], unfit: [] }, sizeOfFiles([]), null, []]);
    }
    expect(await home.exists()).toBe(false);
  });

  test("guests and the host read back byte for byte what was written", async () => {
    const home = newHome();
    const texts = ["", "x", "\uFEFFmark\r\n", "nul\0 in it", "日本語 😀\n", "y".repeat(100_000)];
    await home.commit(texts.map((text, at) => write(`f${at}.md`, text)));
    const asked = (how: "read" | "sizeOf"): Promise<unknown> =>
      home.ask(...texts.map((_, at) => [how, "memory", `f${at}.md`] as const));
    expect(await asked("read")).toEqual(texts.map((value) => ({ value })));
    expect(await asked("sizeOf")).toEqual(texts.map((text) => ({ value: Buffer.byteLength(text) })));
    await home.hold(async ({ reader }) => {
      const bytes = await Promise.all(texts.map((_, at) => reader.bytesOf(home.scope, `f${at}.md`)));
      expect(bytes.map((each) => Buffer.from(each ?? [1]))).toEqual(texts.map((text) => Buffer.from(text)));
    });
  });

  test("a listing is sorted, filters by prefix, and shows the trash only on request", async () => {
    const paths = ["b.md", "a.md", "a/z.md", "a/b/c.md", "a-b.md", "B.md", "2026/01/02.md"];
    const home = await homeWith(...paths);
    await home.commit([write("gone.md", "12345")]);
    await home.commit([trash("gone.md", "trash/gone.1.md")]);
    const prefixes = ["", "a", "a/", "trash/", "tras", "none"];
    const lists = await home.ask(...prefixes.map((prefix) => ["list", "memory", prefix] as const), [
      "scopeSize",
      "memory",
    ]);
    expect(lists).toEqual([
      listed("2026/01/02.md", "B.md", "a-b.md", "a.md", "a/b/c.md", "a/z.md", "b.md"),
      listed("a-b.md", "a.md", "a/b/c.md", "a/z.md"),
      listed("a/b/c.md", "a/z.md"),
      listed(file("trash/gone.1.md", 5)),
      listed(),
      listed(),
      { value: { live: { files: 7, bytes: paths.join("").length }, trash: { files: 1, bytes: 5 } } },
    ]);
    const survey = await home.hold(({ reader }) => reader.survey(home.scope));
    expect(survey.files.map(({ path }) => path)).toEqual([...paths, "trash/gone.1.md"].toSorted());
    expect(survey.unfit).toEqual([]);
  });

  test("names that differ only in case are different files", async (context) => {
    if (stage.kind === "fileStore" && diskLacks("case-sensitive names", stage.dataDir)) {
      skipWithReason(context, "the disk has no case-sensitive names");
    }
    const home = await homeWith("a.md", "A.md", "Trash/a.md");
    const answers = await home.ask(
      ["read", "memory", "a.md"],
      ["read", "memory", "A.md"],
      ["read", "memory", "trash/a.md"],
    );
    expect(answers).toEqual([{ value: "a.md" }, { value: "A.md" }, { value: null }]);
  });

  test("a path that is none is CAPABILITY_DENIED, to read and to change", async () => {
    const home = await homeWith("a.md");
    const dots = [
      "",
      ".",
      "..",
      "/",
      "../a.md",
      "/a.md",
      "a//b.md",
      "a/",
      ".a.md",
      ".memcell/owner",
      "../.memcell/owner",
    ];
    for (const path of [...dots, "a b.md", "a\\b.md", "ä.md", "x".repeat(256)]) {
      expect([path, ...(await home.ask(["read", "memory", path], ["sizeOf", "memory", path]))]).toEqual([
        path,
        denied,
        denied,
      ]);
      for (const change of [write(path, "x"), remove(path), trash("a.md", path)]) {
        await expect(home.commit([change]), path).rejects.toMatchObject(denied);
      }
    }
    expect(await home.files()).toEqual({ "a.md": "a.md" });
  });

  test("a file is not a folder, and a folder is not a file", async () => {
    const home = await homeWith("a", "b/c");
    expect(await home.ask(["read", "memory", "a/b"], ["read", "memory", "b"])).toEqual([unsafe, unsafe]);
    for (const path of ["a/b", "b"]) await expect(home.commit([write(path, "z")])).rejects.toMatchObject(unsafe);
    await home.commit([remove("b/c")]);
    expect(await home.ask(["list", "memory", ""])).toEqual([listed("a")]);
  });

  test("a file over 2 MiB is not read or listed, and is reported as unfit", async () => {
    const home = newHome();
    const full = "x".repeat(2 * mebibyte);
    await home.commit([write("full.md", full), write("over.md", `${full}x`)]);
    const answers = await home.ask(
      ["sizeOf", "memory", "full.md"],
      ["read", "memory", "over.md"],
      ["sizeOf", "memory", "over.md"],
      ["list", "memory", ""],
      ["scopeSize", "memory"],
    );
    const size = { live: { files: 2, bytes: 4 * mebibyte + 1 }, trash: noFiles };
    expect(answers).toEqual([
      { value: 2 * mebibyte },
      unsafe,
      unsafe,
      listed(file("full.md", 2 * mebibyte)),
      { value: size },
    ]);
    const survey = await home.hold(({ reader }) => reader.survey(home.scope));
    expect(survey.files.map(({ path }) => path)).toEqual(["full.md"]);
    expect(survey.unfit).toMatchObject([{ path: "over.md", reason: expect.stringContaining("at most 2097152") }]);
  });

  test("readers report each file that they have read once, by the scope that they were asked with", async () => {
    const home = await homeWith("a.md");
    const paths = ["a.md", "none.md", "a.md"];
    const answers = await home.ask(...paths.map((path) => ["read", "memory", path] as const), ["seen"]);
    const found = [
      { scope: home.scope, path: "a.md", digest: digestOf(Buffer.from("a.md")) },
      { scope: home.scope, path: "none.md", digest: null },
    ];
    // A store on a disk adds what the disk's times show.
    expect(answers.at(-1)).toMatchObject({ value: found });
    const seen = await home.hold(async (held) => {
      for (const path of paths) await held.reader.bytesOf(home.scope, path);
      return held.seen;
    });
    expect(seen).toMatchObject(found);
  });

  test("changes to bytes that the host wrote or read do not reach the store", async () => {
    const home = newHome();
    const content = Buffer.from("one");
    await home.commit([write("a.md", content)]);
    content.fill("x");
    await home.hold(async ({ reader }) => void (await reader.bytesOf(home.scope, "a.md"))?.fill(0));
    expect(await home.ask(["read", "memory", "a.md"])).toEqual([{ value: "one" }]);
  });

  test("a listing has the time of each file's last change, also of a move, which no program can set back", async () => {
    const startUs = Date.now() * 1_000;
    const home = await homeWith("a.md", "b.md");
    const first = await timesIn(home);
    let second = first;
    // A file system's clock goes in steps of some milliseconds.
    while (second["a.md"] === first["a.md"]) {
      // oxlint-disable-next-line no-await-in-loop -- each write depends on the time of the one before
      await home.commit([write("a.md", "two")]);
      // oxlint-disable-next-line no-await-in-loop -- as above
      second = await timesIn(home);
    }
    expect(second["a.md"]).toBeGreaterThan(first["a.md"] ?? Infinity);
    expect(second["b.md"]).toBe(first["b.md"]);
    for (const time of Object.values(second)) expect(Math.abs(time - startUs)).toBeLessThan(60_000_000);
    await home.commit([trash("a.md", "trash/a.1.md")]);
    const trashed = await timesIn(home, "trash/");
    expect(trashed["trash/a.1.md"]).toBeGreaterThanOrEqual(second["a.md"] ?? Infinity);
    await home.commit([restore("trash/a.1.md", "a.md")]);
    const restored = await timesIn(home);
    expect(restored["a.md"]).toBeGreaterThanOrEqual(trashed["trash/a.1.md"] ?? Infinity);
    if (stage.kind !== "fileStore") return;
    const onDisk = join(home.folder, home.inside, "a.md");
    utimesSync(onDisk, 1, 1);
    chmodSync(onDisk, 0o600);
    expect((await timesIn(home))["a.md"]).toBeGreaterThanOrEqual(restored["a.md"] ?? Infinity);
  });
});

describe.each(engines)("a $kind", (stage) => {
  test("users and their scopes are separate", async () => {
    await stage.commit("ida", [write("a.md", "hers"), write("a.md", "her notes", "notes")]);
    await stage.commit("Ida", [write("a.md", "another's")]);
    expect(await stage.ask("nobody", ["read", "memory", "a.md"], ["list", "memory", ""])).toEqual([
      { value: null },
      { value: [] },
    ]);
    expect(await stage.ask("Ida", ["read", "memory", "a.md"])).toEqual([{ value: "another's" }]);
    const scopes = ["memory", "notes", "other"];
    expect(await stage.ask("ida", ...scopes.map((scope) => ["read", scope, "a.md"] as const))).toEqual([
      { value: "hers" },
      { value: "her notes" },
      { value: null },
    ]);
    expect((await stage.store.users()).filter((id) => /^ida$/i.test(id)).toSorted()).toEqual(["Ida", "ida"]);
    expect(await stage.hold("ida", ({ reader }) => reader.scopes())).toEqual(["memory", "notes"]);
  });

  test("a scope that is none, or a store's, is CAPABILITY_DENIED to a user, to read and to change", async () => {
    const id = newStoreId();
    await stage.commitStores([writeIn(id, "a.md", "x")]);
    const named = ["", "..", "Memory", ".memcell", "a/b", "../bob/memory", "__proto__", "x".repeat(33)];
    for (const scope of [...named, scopeOfStore(id)]) {
      const answers = await stage.ask(
        "jane",
        ["read", scope, "a.md"],
        ["sizeOf", scope, "a.md"],
        ["list", scope, ""],
        ["scopeSize", scope],
      );
      expect([scope, ...answers]).toEqual([scope, denied, denied, denied, denied]);
      await expect(stage.commit("jane", [write("b.md", "x", scope)])).rejects.toMatchObject(denied);
      await expect(stage.hold("jane", ({ reader }) => reader.bytesOf(scope, "a.md"))).rejects.toMatchObject(denied);
    }
  });

  test("of stores a guest reaches nothing but entries: no grants, no host's files, no users", async () => {
    const id = newStoreId();
    const grants = granting(id, "secret", { granted: [to(newStoreId())] });
    await stage.commitStores([writeIn(id, "a.md", "one")], grants);
    await stage.commit("alice", [write("a.md", "of Alice")]);
    const own = scopeOfStore(id);
    const inside = [".memcell/grants.json", "../.memcell/grants.json", "../entries/a.md"];
    const scopes = ["memory", "entries", "grants", id, "store:", own.toUpperCase(), `${own}/`, "store:.."];
    const asked = [
      ...inside.map((path) => ["read", own, path] as const),
      ...scopes.flatMap((scope) => [["read", scope, "a.md"] as const, ["list", scope, ""] as const]),
    ];
    expect(new Set((await stage.ask(null, ...asked)).map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify(denied)]),
    );
    expect(await stage.ask(null, ["read", own, "grants.json"], ["list", own, ""])).toEqual([
      { value: null },
      listed(file("a.md", 3)),
    ]);
  });

  test("a guest reads far more stores than are open at once, and each as before", async () => {
    const ids = Array.from({ length: 70 }, newStoreId);
    for (const id of ids) await stage.commitStores([writeIn(id, "a.md", id)]);
    const twice = [...ids, ...ids].map((id) => ["read", scopeOfStore(id), "a.md"] as const);
    const answers = await stage.ask(null, ...twice, ["seen"]);
    expect(answers.slice(0, -1)).toEqual([...ids, ...ids].map((value) => ({ value })));
    expect(answers.at(-1)).toMatchObject({ value: { length: 70 } });
  });
});

test.for(engines.filter(({ definition }) => definition.answerReads !== null))(
  "what the main thread of a $kind sends to a thread has a file's bytes, and nothing else of its memory",
  async (stage) => {
    await stage.commit("answered", [write("a.md", "one")]);
    const { port1, port2: port } = new MessageChannel();
    stage.definition.answerReads?.({ port, signal: new SharedArrayBuffer(4) });
    const sent = await stage.hold("answered", async ({ handed }) => {
      const { hold, files } = handed !== null && "hold" in handed ? handed : { hold: null, files: [] };
      for (const { content, bytes } of files) expect(content?.buffer.byteLength ?? bytes).toBe(bytes);
      const answer = once(port1, "message");
      port1.postMessage({ asked: "bytesOf", hold, userId: "answered", scope: "memory", path: "a.md" });
      return (await answer) as [{ value: Uint8Array }];
    });
    port1.close();
    expect(Buffer.from(sent[0].value).toString()).toBe("one");
    expect(sent[0].value.buffer.byteLength).toBe(3);
  },
);
