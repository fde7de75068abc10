/** A folder of notes as people name them: each is an entry, or is named with the reason why not. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { ToolResult } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { namesBelow } from "../support/names-below.ts";
import { userFolder } from "../support/user-files.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";

const family = "user-memory";
let stage: RuntimeStage;
let nowMs = Date.UTC(2026, 0, 1);
beforeAll(async () => {
  stage = await openStage({ clock: () => (nowMs += 1_000) });
});
afterAll(() => stage[Symbol.asyncDispose]());

const memoryOf = (userId: string): string => join(userFolder(stage.dataDir, userId), "memory");

function put(userId: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const place = join(memoryOf(userId), path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
}

const call = (userId: string, tool: string, input: object): Promise<ToolResult> =>
  stage.runtime.call(tool, input, { userId });

async function dataOf<Data>(result: Promise<ToolResult>): Promise<Data> {
  const answer = await result;
  if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer.data as Data;
}

const nfd = (text: string): string => text.normalize("NFD");

const stems: readonly string[] = [
  ..."Über mich|Größe & Gewicht|café|naïve résumé|Ångström|Łódź|Þórr|smørrebrød|İstanbul|Dvořák – Rusalka".split("|"),
  ..."日記|日本語のメモ|한국어|Заметки|Ελληνικά|עברית|العربية|हिन्दी|ภาษาไทย|ქართული".split("|"),
  ..."🎉|🎉 Party|👨‍👩‍👧 Familie|C# und F#|a'b|(draft)|[x]|{y}|100%|a=b&c|q?|star*|<b>|a|b;c,d".split("|"),
  ..."2026-01-01|2026-01-01 Montag|1. Idee|v1.2.3|README|Untitled 1|Untitled 2| führend|zwei  Leerzeichen".split("|"),
  "x".repeat(150),
  "ü".repeat(90),
  "日".repeat(60),
  ..."memory|Memory|con|COM1|-|_|--|…|!".split("|"),
];
const folders = ["", "Projekte/", "Projekte/Über uns/", "日本/", "Archiv 2025/01/", "b.c/"];

/** Every stem in every folder, as far as a path has room: some 320 notes. */
const vault = Object.fromEntries(
  folders.flatMap((folder) => stems.map((stem) => [`${folder}${stem}.md`, `# ${stem}\n\nText of ${folder}${stem}\n`])),
);

/** What is no note, by the kind of reason. */
const strange = {
  "a\u202egpj.md": "its name is not a valid memory path",
  "two\nlines.md": "its name is not a valid memory path",
  "zero\u200bwidth.md": "its name is not a valid memory path",
  "12:30.md": "its name is not a valid memory path",
  "back\\slash.md": "its name is not a valid memory path",
  "blank .md/x.md ": "its name is not a valid memory path",
  "%41.md": "its name is not a valid memory path",
  [`${"ü".repeat(120)}.md`]: "at most 225 allowed",
  [`${"d".repeat(200)}/${"e".repeat(80)}.md`]: "its path has over 255 bytes",
  "Bild.png": "it is not MEMORY.md, a note",
  "Liste.txt": "rename it to Liste.md",
  "NOTIZ.MD": "rename it to NOTIZ.md",
};

interface Entry {
  readonly name: string;
  readonly description: string;
}

const entriesOf = (userId: string): Promise<readonly Entry[]> => stage.runtime.memoryEntries({ userId }, { family });

test("each of 300 notes with odd names is an entry of its own, or is named with its reason", async () => {
  const userId = stage.user();
  put(userId, vault);
  for (const path of Object.keys(strange)) put(userId, { [path]: path });
  put(userId, { [nfd("ö.md")]: "nfd" });
  put(userId, { "ö.md": "nfc", ".obsidian/app.json": "{}", ".DS_Store": "x" });
  symlinkSync("/etc/hostname", join(memoryOf(userId), "link.md"));
  execFileSync("mkfifo", [join(memoryOf(userId), "pipe.md")]);
  const before = namesBelow(memoryOf(userId)).toSorted();
  expect(Object.keys(vault).length).toBeGreaterThan(300);

  const found = await entriesOf(userId);
  const names = found.map(({ name }) => name);
  expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,100}$/.test(name))).toEqual([]);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  const findings = await stage.runtime.upkeep.inspect({ userId });
  const bodies = new Map<string, string>();
  for (const name of names) {
    const { body } = await dataOf<{ body: string }>(call(userId, "ReadUserMemory", { name }));
    bodies.set(body, name);
  }
  const unread = Object.entries(vault).filter(([, text]) => !bodies.has(text));
  // Names that the index or a device has, at the top: they could not be there on every disk.
  expect(unread.map(([path]) => path).toSorted()).toEqual(["COM1.md", "Memory.md", "con.md", "memory.md"]);
  const reasonOf = (path: string): string =>
    findings
      .filter((each) => [each.path, decodeIfPath(each.path)].includes(`memory/${JSON.stringify(path).slice(1, -1)}`))
      .map(({ message }) => message)
      .join("\n");
  for (const [path] of unread) expect(reasonOf(path), path).toContain("its name is reserved");
  for (const [path, reason] of Object.entries(strange)) {
    const [top = ""] = path.split("/");
    expect(reasonOf(path) || reasonOf(top), path).toContain(reason);
  }
  expect(reasonOf(nfd("ö.md"))).toContain("in another form of Unicode");
  expect(reasonOf("link.md")).not.toBe("");
  expect(reasonOf("pipe.md")).not.toBe("");
  expect(bodies.has("nfc")).toBe(true);
  const index = await stage.runtime.memoryIndex({ userId }, { family });
  expect(index).toContain("19 files are not read: `memcell doctor` names them.");
  expect(namesBelow(memoryOf(userId)).toSorted()).toEqual(before);

  // The doctor lists them, and a lost index is made again with the same names.
  await stage.runtime.upkeep.mend({ userId });
  expect((await entriesOf(userId)).map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  rmSync(join(memoryOf(userId), "MEMORY.md"));
  expect((await entriesOf(userId)).map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  // A read of each is minutes on a machine that is busy.
}, 300_000);

const decodeIfPath = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

const upsert = (name: string, body: string): object => ({
  action: "upsert",
  name,
  type: "user",
  description: "About me",
  body,
});

test("an upsert and a deletion by the name change the person's file where it is", async () => {
  const userId = stage.user();
  put(userId, { "Projekte/Über mich.md": "# Ich\n\nText\n", "MEMORY.md": "# Mein Index\n" });
  const [entry] = await entriesOf(userId);
  expect(entry).toMatchObject({ name: "uber-mich", description: "Ich" });
  expect(await stage.runtime.memoryIndex({ userId }, { family })).toContain(
    "- [uber-mich](Projekte/%C3%9Cber%20mich.md) — Ich",
  );
  const written = await dataOf<object>(call(userId, "UpdateUserMemory", upsert("uber-mich", "new")));
  expect(written).toMatchObject({
    outcome: "replaced",
    path: "Projekte/%C3%9Cber%20mich.md",
    trashed: expect.stringMatching(/^trash\/Projekte\/%C3%9Cber%20mich\.\d{8}T\d{9}Z\.md$/) as string,
  });
  expect(readFileSync(join(memoryOf(userId), "Projekte/Über mich.md"), "utf8")).toMatch(/^---\nname: uber-mich\n/);
  expect(readFileSync(join(memoryOf(userId), "MEMORY.md"), "utf8")).toBe(
    "# Mein Index\n- [uber-mich](Projekte/%C3%9Cber%20mich.md) — About me\n",
  );
  expect(readdirSync(join(memoryOf(userId), "trash/Projekte"))[0]).toMatch(/^Über mich\.\d{8}T\d{9}Z\.md$/);
  // The same name is no second entry, in any case.
  expect(await call(userId, "UpdateUserMemory", upsert("Uber-Mich", "x"))).toMatchObject({
    error: { code: "NAME_CONFLICT" },
  });
  const gone = await dataOf<{ trashed: string }>(
    call(userId, "UpdateUserMemory", { action: "delete", name: "uber-mich" }),
  );
  expect(await entriesOf(userId)).toEqual([]);
  const trash = await stage.runtime.upkeep.listTrash({ userId });
  const stamp = gone.trashed.slice(gone.trashed.lastIndexOf("mich.") + "mich.".length, -".md".length);
  await stage.runtime.upkeep.restore({ userId }, trash.find(({ name }) => name.includes(stamp))?.name ?? "");
  expect(await dataOf(call(userId, "ReadUserMemory", { name: "uber-mich" }))).toMatchObject({ body: "new" });
  expect(readFileSync(join(memoryOf(userId), "MEMORY.md"), "utf8")).toContain("(Projekte/%C3%9Cber%20mich.md)");
});

test("a name stays with its file once the index has it, whatever comes beside it", async () => {
  const userId = stage.user();
  put(userId, { "b/Ideen 1.md": "of b" });
  await stage.runtime.upkeep.mend({ userId });
  put(userId, { "a/Ideen 1.md": "of a", "c/Ideen-1.md": "of c" });
  const bodyOf = async (name: string): Promise<string> =>
    (await dataOf<{ body: string }>(call(userId, "ReadUserMemory", { name }))).body;
  expect(await bodyOf("ideen-1")).toBe("of b");
  const others = (await entriesOf(userId)).map(({ name }) => name).filter((name) => name !== "ideen-1");
  expect(await Promise.all(others.toSorted().map(bodyOf))).toHaveLength(2);
  for (const name of others) expect(name).toMatch(/^ideen-1-[0-9a-f]{8}$/i);
  // What is at the top under its own name has that name.
  put(userId, { "ideen-1.md": "of the top" });
  expect(await bodyOf("ideen-1")).toBe("of the top");
  expect(await entriesOf(userId)).toHaveLength(4);
});

test("a person's own title stays in the index, which says by which name to read the note", async () => {
  const userId = stage.user();
  const lines = ["- [Über mich](Projekte/Über%20mich.md)", "- [[Noch nicht]]", "- [Web](https://example.org/x.md)"];
  put(userId, { "Projekte/Über mich.md": "# Ich\n", "MEMORY.md": `${lines.join("\n")}\n` });
  const index = await stage.runtime.memoryIndex({ userId }, { family });
  expect(index.split("\n").slice(2, 5)).toEqual([`${lines[0]} (uber-mich) — Ich`, ...lines.slice(1)]);
  await dataOf(call(userId, "UpdateUserMemory", upsert("uber-mich", "new")));
  expect(readFileSync(join(memoryOf(userId), "MEMORY.md"), "utf8").split("\n")[0]).toBe(`${lines[0]} — About me`);
  expect((await stage.runtime.upkeep.inspect({ userId })).filter((each) => /line/.test(each.problem))).toEqual([]);
});

test("a note is found by words of its file's name and folder, in its own script", async () => {
  const userId = stage.user();
  put(userId, { "旅行/京都.md": "temples", "Bücher/Zauberberg.md": "Mann", "plain.md": "nothing" });
  for (const [query, count] of [
    ["京都", 1],
    ["旅行", 1],
    ["bucher", 1],
    ["Bücher", 1],
    ["zauberberg", 1],
  ] as const) {
    const { entries } = await dataOf<{ entries: readonly Entry[] }>(call(userId, "SearchUserMemory", { query }));
    expect(entries, query).toHaveLength(count);
  }
});

test("history, undo, export and import keep such names", async () => {
  const userId = stage.user();
  put(userId, { "Tagebuch/Käse.md": "# Käse\n" });
  await dataOf(call(userId, "UpdateUserMemory", upsert("kase", "changed")));
  const path = "Tagebuch/K%C3%A4se.md";
  const versions = await stage.runtime.upkeep.history({ userId }, { scope: "memory" });
  expect(versions.map((each) => each.path)).toContain(path);
  put(userId, { "12:30.md": "no path has this name" });
  const { files, leftOut } = await stage.runtime.upkeep.export({ userId });
  expect(leftOut).toEqual([{ scope: "memory", path: "12:30.md", reason: "its name is not a valid memory path" }]);
  const zip = await zippedBytes(files);
  const list =
    "import io, sys, zipfile; print(*zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).namelist(), sep='|')";
  const listed = execFileSync("python3", ["-X", "utf8", "-c", list], { input: zip, encoding: "utf8" });
  expect(listed.trim().split("|")).toContain("memory/Tagebuch/Käse.md");
  const other = stage.user();
  await stage.runtime.upkeep.import({ userId: other }, await readZip(zip));
  expect((await stage.runtime.upkeep.export({ userId: other })).files).toEqual(files);
  expect(readFileSync(join(memoryOf(other), "Tagebuch/Käse.md"), "utf8")).toContain("changed");
  expect(await dataOf(call(other, "ReadUserMemory", { name: "kase" }))).toMatchObject({ body: "changed" });
  await stage.runtime.upkeep.undo({ userId }, { since: new Date(0) });
  expect(readFileSync(join(memoryOf(userId), "Tagebuch/Käse.md"), "utf8")).toBe("# Käse\n");
});

test("a user's id in two forms of Unicode is one user, and a folder of the older form is still the user's", async () => {
  const composed = `josé-${stage.user()}`.normalize("NFC");
  const other = nfd(composed);
  await dataOf(call(composed, "UpdateUserMemory", upsert("a", "of one")));
  expect(await dataOf(call(other, "ReadUserMemory", { name: "a" }))).toMatchObject({ body: "of one" });
});

test("a folder that was made for another form of a user's id is still the user's, unless both are there", async () => {
  const composed = `josé-${stage.user()}`.normalize("NFC");
  // As an earlier version has made it.
  const older = join(stage.dataDir, "users", encodeURIComponent(nfd(composed)));
  for (const each of ["memory", ".memcell"]) mkdirSync(join(older, each), { recursive: true });
  writeFileSync(join(older, ".memcell/owner"), nfd(composed));
  writeFileSync(join(older, "memory/a.md"), "of one");
  expect(await dataOf(call(composed, "ReadUserMemory", { name: "a" }))).toMatchObject({ body: "of one" });
  await dataOf(call(composed, "UpdateUserMemory", upsert("b", "of the same")));
  expect(readdirSync(join(older, "memory")).toSorted()).toEqual(["MEMORY.md", "a.md", "b.md"]);
  const named = async (): Promise<string[]> =>
    (await stage.runtime.upkeep.users()).filter((each) => each.normalize("NFC") === composed);
  expect(await named()).toEqual([composed]);
  // With a folder of each form, that of NFC is the user's; the other is told, and left.
  mkdirSync(join(userFolder(stage.dataDir, composed), "memory"), { recursive: true });
  expect(await call(composed, "ReadUserMemory", { name: "a" })).toMatchObject({ error: { code: "ENTRY_NOT_FOUND" } });
  expect(await named()).toEqual([composed]);
  expect(readdirSync(join(older, "memory")).toSorted()).toEqual(["MEMORY.md", "a.md", "b.md"]);
});

const at = (text: string, form: string): string => text.replace("*", form);

test("the two forms of Unicode of a path, a key and an id are one in every family", async () => {
  const userId = stage.user();
  const [one, other] = ["café".normalize("NFC"), nfd("café")] as const;
  const asHost = (tool: string, input: object): Promise<ToolResult> =>
    stage.runtime.callAsHost(tool, input, { userId });
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const by = from === one ? "a" : "b";
    await dataOf(call(userId, "memory", { command: "create", path: at(`/memories/${by}/*.md`, from), content: "x" }));
    const viewed = await call(userId, "memory", { command: "view", path: at(`/memories/${by}/*.md`, to) });
    expect(JSON.stringify(viewed)).toMatch(/^\{"ok":true.*\bx\b/);
    await dataOf(asHost("SetInternal", { key: at(`${by}*`, from), value: 1 }));
    expect(await dataOf(asHost("GetInternal", { key: at(`${by}*`, to) }))).toEqual({ found: true, value: 1 });
    await dataOf(call(userId, "memory_write", { key: at(`${by} *`, from), content: "x" }));
    expect(await call(userId, "memory_write", { key: at(`${by} *`, to), content: "y" })).toMatchObject({
      error: { code: "MEMORY_KEY_EXISTS" },
    });
    await dataOf(call(userId, "memory_read", { key: at(`${by} *`, to) }));
    const events = [{ type: "planner_note", data: '{"note":"x"}' }];
    for (const form of [from, to]) await dataOf(asHost("AppendRunEvents", { agentId: form, runId: by + form, events }));
    const { events: loaded } = await dataOf<{ events: unknown[] }>(asHost("LoadRun", { agentId: to, runId: by + to }));
    expect(loaded).toHaveLength(2);
  }
  // A person's block, as another editor writes it.
  const file = join(userFolder(stage.dataDir, userId), "journal/Über.md");
  writeFileSync(file, `### ${nfd("Käse")}\n\nby hand\n`);
  await dataOf(call(userId, "memory_read", { key: "Käse".normalize("NFC") }));
});
