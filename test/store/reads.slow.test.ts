/** What guests and the host read from a store is the same for every kind of store. */
import { hash } from "node:crypto";

import { describe, expect, test } from "vitest";

import { diskLacks } from "../conformance/disk-abilities.ts";
import { noFiles, sizeOfFiles } from "../stage/store.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { remove, storeKinds, StoreStage, trash, write } from "./store-stage.ts";

const mebibyte = 2 ** 20;

/** A listing of files that contain their own path. */
const listed = (...names: string[]): object => ({ value: names.map((path) => file(path, path.length)) });

const file = (path: string, bytes: number): object => ({ path, bytes, changedUs: expect.any(Number) as number });

describe.each(storeKinds)("%s", (kind) => {
  test("a user without files reads as empty, and reading creates nothing", async () => {
    await using stage = await StoreStage.open(kind);
    const answers = await stage.ask(
      "alice",
      ["read", "memory", "a.md"],
      ["sizeOf", "memory", "a/b.md"],
      ["list", "memory", ""],
      ["scopeSize", "memory"],
    );
    expect(answers).toEqual([{ value: null }, { value: null }, { value: [] }, { value: sizeOfFiles([]) }]);
    const held = await stage.hold("alice", async ({ reader }) => [
      await reader.scopes(),
      await reader.list("memory", ""),
      await reader.survey("memory"),
      await reader.scopeSize("memory"),
      await reader.bytesOf("memory", "a.md"),
    ]);
    expect(held).toEqual([[], [], { files: [], unfit: [] }, sizeOfFiles([]), null]);
    expect(await stage.store.users()).toEqual([]);
  });

  test("guests and the host read back byte for byte what was written", async () => {
    await using stage = await StoreStage.open(kind);
    const texts = ["", "x", "\uFEFFmark\r\n", "nul\0 in it", "日本語 😀\n", "y".repeat(100_000)];
    await stage.commit(
      "alice",
      texts.map((text, at) => write(`f${at}.md`, text)),
    );
    const reads = await stage.ask("alice", ...texts.map((_, at) => ["read", "memory", `f${at}.md`] as const));
    expect(reads).toEqual(texts.map((value) => ({ value })));
    const sizes = await stage.ask("alice", ...texts.map((_, at) => ["sizeOf", "memory", `f${at}.md`] as const));
    expect(sizes).toEqual(texts.map((text) => ({ value: Buffer.byteLength(text) })));
    await stage.hold("alice", async ({ reader }) => {
      for (const [at, text] of texts.entries()) {
        expect(Buffer.from((await reader.bytesOf("memory", `f${at}.md`)) ?? [1])).toEqual(Buffer.from(text));
      }
    });
  });

  test("a file that is not UTF-8 is ENTRY_UNREADABLE to a guest, and bytes to the host", async () => {
    await using stage = await StoreStage.open(kind);
    const bytes = Uint8Array.of(0xff, 0xfe, 0x00);
    await stage.commit("alice", [write("a.md", bytes)]);
    expect(await stage.ask("alice", ["read", "memory", "a.md"])).toEqual([{ code: "ENTRY_UNREADABLE" }]);
    const held = await stage.hold("alice", ({ reader }) => reader.bytesOf("memory", "a.md"));
    expect(Buffer.from(held ?? [])).toEqual(Buffer.from(bytes));
  });

  test("a listing is sorted, filters by prefix, and shows the trash only on request", async () => {
    await using stage = await StoreStage.open(kind);
    const paths = ["b.md", "a.md", "a/z.md", "a/b/c.md", "a-b.md", "B.md", "2026/01/02.md"];
    await stage.commit("alice", [...paths.map((path) => write(path, path)), write("gone.md", "12345")]);
    await stage.commit("alice", [trash("gone.md", "trash/gone.1.md")]);
    const lists = await stage.ask(
      "alice",
      ["list", "memory", ""],
      ["list", "memory", "a"],
      ["list", "memory", "a/"],
      ["list", "memory", "trash/"],
      ["list", "memory", "tras"],
      ["list", "memory", "none"],
      ["list", "other", ""],
      ["scopeSize", "memory"],
    );
    expect(lists).toEqual([
      listed("2026/01/02.md", "B.md", "a-b.md", "a.md", "a/b/c.md", "a/z.md", "b.md"),
      listed("a-b.md", "a.md", "a/b/c.md", "a/z.md"),
      listed("a/b/c.md", "a/z.md"),
      { value: [file("trash/gone.1.md", 5)] },
      { value: [] },
      { value: [] },
      { value: [] },
      {
        value: sizeOfFiles(
          [...paths, "trash/gone.1.md"].map((path) => ({ path, bytes: path.startsWith("trash") ? 5 : path.length })),
        ),
      },
    ]);
    const survey = await stage.hold("alice", ({ reader }) => reader.survey("memory"));
    expect(survey.files.map(({ path }) => path)).toEqual([...paths, "trash/gone.1.md"].toSorted());
    expect(survey.unfit).toEqual([]);
  });

  test("names that differ only in case are different files", async (context) => {
    using folder = temporaryFolder();
    if (kind === "fileStore" && diskLacks("case-sensitive names", folder.path)) {
      skipWithReason(context, "the disk has no case-sensitive names");
    }
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "small"), write("A.md", "large"), write("Trash/a.md", "no trash")]);
    const answers = await stage.ask("alice", ["read", "memory", "a.md"], ["read", "memory", "A.md"]);
    expect(answers).toEqual([{ value: "small" }, { value: "large" }]);
    expect(await stage.ask("alice", ["read", "memory", "trash/a.md"])).toEqual([{ value: null }]);
  });

  test("users and scopes are separate", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "hers"), write("a.md", "her notes", "notes")]);
    await stage.commit("Alice", [write("a.md", "another's")]);
    expect(await stage.ask("bob", ["read", "memory", "a.md"], ["list", "memory", ""])).toEqual([
      { value: null },
      { value: [] },
    ]);
    expect(await stage.ask("alice", ["read", "memory", "a.md"], ["read", "notes", "a.md"])).toEqual([
      { value: "hers" },
      { value: "her notes" },
    ]);
    expect(await stage.ask("Alice", ["read", "memory", "a.md"])).toEqual([{ value: "another's" }]);
    expect((await stage.store.users()).toSorted()).toEqual(["Alice", "alice"]);
    expect(await stage.hold("alice", ({ reader }) => reader.scopes())).toEqual(["memory", "notes"]);
  });

  test.each(["", "..", "Memory", ".memcell", "a/b", "../bob/memory", "__proto__", "x".repeat(33)])(
    "the scope %j is CAPABILITY_DENIED, to read and to change",
    async (scope) => {
      await using stage = await StoreStage.open(kind);
      await stage.commit("alice", [write("a.md", "x")]);
      const denied = { code: "CAPABILITY_DENIED" };
      const answers = await stage.ask(
        "alice",
        ["read", scope, "a.md"],
        ["sizeOf", scope, "a.md"],
        ["list", scope, ""],
        ["scopeSize", scope],
      );
      expect(answers).toEqual([denied, denied, denied, denied]);
      await expect(stage.commit("alice", [write("b.md", "x", scope)])).rejects.toMatchObject(denied);
      await expect(stage.hold("alice", ({ reader }) => reader.bytesOf(scope, "a.md"))).rejects.toMatchObject(denied);
    },
  );

  test.each([
    "",
    ".",
    "..",
    "../a.md",
    "/a.md",
    "a//b.md",
    "a/",
    ".a.md",
    "a b.md",
    "a\\b.md",
    "ä.md",
    "x".repeat(256),
  ])("the path %j is CAPABILITY_DENIED, to read and to change", async (path) => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "x")]);
    const denied = { code: "CAPABILITY_DENIED" };
    expect(await stage.ask("alice", ["read", "memory", path], ["sizeOf", "memory", path])).toEqual([denied, denied]);
    for (const change of [write(path, "x"), remove(path), trash("a.md", path)]) {
      await expect(stage.commit("alice", [change])).rejects.toMatchObject(denied);
    }
    expect(await stage.ask("alice", ["list", "memory", ""])).toEqual([{ value: [file("a.md", 1)] }]);
  });

  test("a file is not a folder, and a folder is not a file", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a", "x"), write("b/c", "y")]);
    const unsafe = { code: "STORAGE_UNSAFE" };
    expect(await stage.ask("alice", ["read", "memory", "a/b"], ["read", "memory", "b"])).toEqual([unsafe, unsafe]);
    for (const path of ["a/b", "b"]) {
      await expect(stage.commit("alice", [write(path, "z")])).rejects.toMatchObject(unsafe);
    }
    await stage.commit("alice", [remove("b/c")]);
    expect(await stage.ask("alice", ["list", "memory", ""])).toEqual([{ value: [file("a", 1)] }]);
  });

  test("a file over 2 MiB is not read or listed, and is reported as unfit", async () => {
    await using stage = await StoreStage.open(kind);
    const full = "x".repeat(2 * mebibyte);
    await stage.commit("alice", [write("full.md", full), write("over.md", `${full}x`)]);
    const answers = await stage.ask(
      "alice",
      ["sizeOf", "memory", "full.md"],
      ["read", "memory", "over.md"],
      ["sizeOf", "memory", "over.md"],
      ["list", "memory", ""],
      ["scopeSize", "memory"],
    );
    const unsafe = { code: "STORAGE_UNSAFE" };
    const fullAlone = { value: [file("full.md", 2 * mebibyte)] };
    expect(answers).toEqual([
      { value: 2 * mebibyte },
      unsafe,
      unsafe,
      fullAlone,
      { value: { live: { files: 2, bytes: 4 * mebibyte + 1 }, trash: noFiles } },
    ]);
    const survey = await stage.hold("alice", ({ reader }) => reader.survey("memory"));
    expect(survey.files.map(({ path }) => path)).toEqual(["full.md"]);
    expect(survey.unfit).toMatchObject([{ path: "over.md", reason: expect.stringContaining("at most 2097152") }]);
  });

  test("a reader reports each file it has read once", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one")]);
    const [, , , seen] = await stage.ask(
      "alice",
      ["read", "memory", "a.md"],
      ["read", "memory", "none.md"],
      ["read", "memory", "a.md"],
      ["seen"],
    );
    const found = [
      { scope: "memory", path: "a.md", digest: hash("sha256", "one") },
      { scope: "memory", path: "none.md", digest: null },
    ];
    // A store on a disk adds what the disk's times show.
    expect(seen).toMatchObject({ value: found });
    const held = await stage.hold("alice", async ({ reader }) => {
      for (const path of ["a.md", "none.md", "a.md"]) await reader.bytesOf("memory", path);
      return reader.seen;
    });
    expect(held).toMatchObject(found);
  });

  test("changes to bytes that the host wrote or read do not reach the store", async () => {
    await using stage = await StoreStage.open(kind);
    const content = Buffer.from("one");
    await stage.commit("alice", [write("a.md", content)]);
    content.fill("x");
    await stage.hold("alice", async ({ reader }) => {
      (await reader.bytesOf("memory", "a.md"))?.fill(0);
    });
    expect(await stage.ask("alice", ["read", "memory", "a.md"])).toEqual([{ value: "one" }]);
  });
});
