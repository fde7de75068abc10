/** `upkeep.inspect` and `mend`: find, report and repair what people or crashes have left behind, and keep every text. */
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import { storeIdOf } from "memcell";
import { afterAll, expect, test } from "vitest";

import { asMemoryFiles, entryText, indexLine } from "../support/memory-files.ts";
import { userFolder, writeUserFiles } from "../support/user-files.ts";
import { alice, inShort, openUpkeep, upsert } from "./upkeep-stage.ts";

const stage = await openUpkeep();
afterAll(() => stage[Symbol.asyncDispose]());
const { upkeep } = stage;
let users = 0;

/** A user with these files in the scope `memory`. */
function userWith(memory: Readonly<Record<string, string | Buffer>>) {
  const userId = `user-${(users += 1)}`;
  const home = stage.home(userId);
  stage.put({ ".memcell/owner": userId }, userId);
  for (const [path, text] of Object.entries(memory)) {
    mkdirSync(join(home, "memory", path, ".."), { recursive: true });
    writeFileSync(join(home, "memory", path), text);
  }
  const files = (): Record<string, string> =>
    Object.fromEntries(
      Object.entries(stage.files(userId)).map(([path, text]) => [path.replace(/^memory\//, ""), text]),
    );
  return { ctx: { userId }, home, files };
}

const stamp = "20260101T000000000Z";
const now = "'2026-01-01T00:00:00.000Z'";
const notes = {
  "diet.md": "No nuts.\n",
  "tagged.md": "---\ntags: [work, idea]\n---\n## An idea\n",
  "trip.md": "\uFEFF# Trip to Kyoto\r\n\r\n- Trains\r\n",
};
const lines =
  "- [diet](diet.md) \u2014 No nuts.\n- [tagged](tagged.md) \u2014 An idea\n- [trip](trip.md) \u2014 Trip to Kyoto\n";

interface Case {
  readonly name: string;
  readonly before: Record<string, string>;
  /** Each as `path problem`. */
  readonly found: readonly string[];
  /** What has changed, without the texts that have gone to the trash. */
  readonly after: Record<string, string>;
}

test.for<Case>([
  {
    name: "a folder without problems",
    before: { "MEMORY.md": `my notes\n${indexLine("a")}`, "a.md": entryText("a") },
    found: [],
    after: {},
  },
  {
    name: "a line without an entry",
    before: { "MEMORY.md": indexLine("a") + indexLine("ghost"), "a.md": entryText("a") },
    found: ["MEMORY.md line-without-entry"],
    after: { "MEMORY.md": indexLine("a") },
  },
  {
    name: "a repeated line",
    before: { "MEMORY.md": `${indexLine("a")}- [a](a.md) \u2014 other words\n`, "a.md": entryText("a") },
    found: ["MEMORY.md line-repeated"],
    after: { "MEMORY.md": indexLine("a") },
  },
  {
    name: "an entry without a line",
    before: { "MEMORY.md": `mine\n${indexLine("a")}`, "a.md": entryText("a"), "b.md": entryText("b") },
    found: ["b.md entry-without-line"],
    after: { "MEMORY.md": `mine\n${indexLine("a")}${indexLine("b")}` },
  },
  {
    name: "no index",
    before: { "a.md": entryText("a"), "b.md": entryText("b") },
    found: ["MEMORY.md index-missing"],
    after: { "MEMORY.md": indexLine("a") + indexLine("b") },
  },
  {
    name: "texts without front matter, or with some of it",
    before: { "MEMORY.md": "", ...notes },
    found: Object.keys(notes).flatMap((path) => [`${path} entry-incomplete`, `${path} entry-without-line`]),
    after: {
      "MEMORY.md": lines,
      "diet.md": `---\nname: diet\ndescription: No nuts.\ntype: reference\ncreated: ${now}\nupdated: ${now}\n---\nNo nuts.\n`,
      "tagged.md": `---\nname: tagged\ndescription: An idea\ntype: reference\ncreated: ${now}\nupdated: ${now}\ntags: [work, idea]\n---\n## An idea\n`,
      "trip.md": `---\nname: trip\ndescription: Trip to Kyoto\ntype: reference\ncreated: ${now}\nupdated: ${now}\n---\n${notes["trip.md"]}`,
    },
  },
  {
    name: "front matter without a type",
    before: {
      "MEMORY.md": "- [half](half.md) \u2014 listed so\n",
      "half.md": "---\ncreated: long ago\nmine: 1\n---\nbody\r\n",
    },
    found: ["MEMORY.md line-differs", "half.md entry-incomplete"],
    after: {
      "MEMORY.md": "- [half](half.md) \u2014 body\n",
      "half.md": `---\nname: half\ndescription: body\ntype: reference\ncreated: long ago\nupdated: ${now}\nmine: 1\n---\nbody\r\n`,
    },
  },
])("$name", async ({ before, found, after }) => {
  const { files, ctx } = userWith(before);
  const inspected = await upkeep.inspect(ctx);
  expect(inspected.map(inShort)).toEqual(found.map((each) => `memory/${each}`));
  expect(files()).toEqual(before);
  expect(await upkeep.mend(ctx)).toEqual(inspected);
  const trashed = Object.entries(before).filter(
    ([path, text]) => after[path] !== undefined && !after[path].startsWith(text),
  );
  const trash = trashed.map(([path, text]) => [`trash/${path.replace(".md", `.${stamp}.md`)}`, text]);
  expect(files()).toEqual({ ...before, ...after, ...(Object.fromEntries(trash) as Record<string, string>) });
  expect(await upkeep.inspect(ctx)).toEqual([]);
  expect(await upkeep.mend(ctx)).toEqual([]);
});

test("a hand-made text is in the next prompt, its description follows it, and nothing is written", async () => {
  const { files, ctx } = userWith({ "MEMORY.md": "", ...notes });
  const index = await stage.runtime.memoryIndex(ctx);
  expect(index).toContain(`\n${lines}</user_memory_index>`);
  expect(files()).toEqual({ "MEMORY.md": "", ...notes });
  stage.put({ "memory/diet.md": "# Eats nuts again\n", "memory/later.md": "Later" }, ctx.userId);
  expect(await stage.runtime.memoryIndex(ctx)).toContain(
    "\n- [diet](diet.md) \u2014 Eats nuts again\n- [later](later.md) \u2014 Later\n- [tagged]",
  );
  const trip = await stage.runtime.readEntry({ family: "user-memory", name: "trip" }, ctx);
  expect(trip).toMatchObject({ body: notes["trip.md"] });
});

test("the first upsert moves a hand-made text to the trash, from where it can be restored; the second does not", async () => {
  const { files, ctx } = userWith({ "MEMORY.md": lines, ...notes });
  const write = (body: string) => stage.runtime.call("UpdateUserMemory", upsert("trip", body, "d"), ctx);
  expect(await write("one")).toMatchObject({ ok: true, data: { trashed: `trash/trip.${stamp}.md` } });
  expect(await write("two")).toMatchObject({ ok: true, data: { trashed: null } });
  expect(files()[`trash/trip.${stamp}.md`]).toBe(notes["trip.md"]);
  await stage.runtime.call("UpdateUserMemory", { action: "delete", name: "trip" }, ctx);
  await upkeep.restore(ctx, `trip.${stamp}.md`, { scope: "memory" });
  expect(files()).toMatchObject({ "MEMORY.md": lines, "trip.md": notes["trip.md"] });
});

test("a file that is not text goes to the trash byte for byte, and an index likewise", async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00]);
  const { home, ctx } = userWith({ "a.md": entryText("a"), "b.md": bytes, "MEMORY.md": bytes });
  const found = (await upkeep.mend(ctx)).map(inShort);
  expect(found).toEqual(["memory/MEMORY.md index-unreadable", "memory/b.md entry-unreadable"]);
  for (const name of ["b", "MEMORY"]) {
    expect(readFileSync(join(home, `memory/trash/${name}.${stamp}.md`))).toEqual(bytes);
  }
  expect(readFileSync(join(home, "memory/MEMORY.md"), "utf8")).toBe(indexLine("a"));
});

test("what only a person can repair is reported, and left alone", async () => {
  const names = ["A", "a", "big"];
  const { home, ctx } = userWith({
    "MEMORY.md": names.map(indexLine).join(""),
    "A.md": entryText("A"),
    "a.md": entryText("a"),
    "big.md": entryText("big", "x".repeat(70_000)),
  });
  symlinkSync("a.md", join(home, "memory/link.md"));
  // A scope's folder named like the host's own hides nothing.
  symlinkSync("/etc", join(home, "memory/.memcell"));
  const found = await upkeep.inspect(ctx);
  expect(found.map(inShort).toSorted()).toEqual([
    "memory/.memcell not-a-plain-file",
    "memory/a.md names-differ-by-case",
    "memory/big.md entry-too-large",
    "memory/link.md not-a-plain-file",
  ]);
  expect(found.every(({ remedy }) => remedy === null)).toBe(true);
  expect(await upkeep.mend(ctx)).toEqual([]);
  const left = readdirSync(join(home, "memory")).toSorted();
  expect(left).toEqual([".memcell", "A.md", "MEMORY.md", "a.md", "big.md", "link.md"]);
});

test("files and folders that no tool finds because of their names are named in every scope, with a better name", async () => {
  const { ctx } = userWith({});
  const { userId } = ctx;
  const deep = `${"d".repeat(200)}/${"e".repeat(60)}.md`;
  const strange: Readonly<Record<string, readonly [problem: string, advice: string]>> = {
    "memory/My notes.md": ["name-not-allowed", 'rename it, for example to "My-notes.md"'],
    "memory/Über.md": ["name-not-allowed", 'rename it, for example to "Uber.md"'],
    "memory/notes.txt": ["file-unused", "to make it an entry, rename it to notes.md"],
    "memory/photo.png": ["file-unused", ""],
    "memory/sub/c.md": ["file-unused", "to make it an entry, move it to c.md"],
    "memory/v1.2.md": ["file-unused", "to make it an entry, rename it to v1-2.md"],
    "journal/a b.md": ["name-not-allowed", 'rename it, for example to "a-b.md"'],
    [`journal/${deep}`]: ["name-not-allowed", ""],
    "of-no-plugin/x y": ["name-not-allowed", ""],
  };
  const files = Object.fromEntries(
    [...Object.keys(strange), "memory/.DS_Store", "memory/.git/x"].map((each) => [each, "x"]),
  );
  stage.put({ ...files, "memory/MEMORY.md": "", "runs/My Notes/x.md": "x" }, userId);
  const store = join(stage.dataDir, "stores", storeIdOf(userId));
  for (const below of ["entries/My Notes", ".memcell"]) mkdirSync(join(store, below), { recursive: true });
  writeFileSync(join(store, "entries/My Notes/Über panda.md"), "x");
  writeFileSync(join(store, ".memcell/staged-0"), "left over");
  const before = stage.files(userId);
  const found = await upkeep.inspect(ctx);
  const ofHost = [`stores/${storeIdOf(userId)}/.memcell/owner owner-missing`];
  ofHost.push(`stores/${storeIdOf(userId)}/.memcell/staged-0 temporary-file`);
  expect(found.map(inShort).toSorted()).toEqual(
    [
      ...Object.entries(strange).map(([path, [problem]]) => `${path} ${problem}`),
      "runs/My Notes name-not-allowed",
      "store/My Notes name-not-allowed",
      ...ofHost,
    ].toSorted(),
  );
  for (const { path, message, remedy } of found) {
    const [, advice] = strange[path] ?? [];
    if (path.startsWith("memory/")) expect(message.split("; ").slice(1).join("; ")).toBe(advice);
    expect(remedy === null).toBe(!path.startsWith("stores/"));
  }
  expect((await upkeep.mend(ctx)).map(inShort).toSorted()).toEqual(ofHost.toSorted());
  expect(stage.files(userId)).toEqual(before);
});

test("what a killed process has left in the host's own folder is found and removed, a damaged log kept", async () => {
  const userId = `user-${(users += 1)}`;
  expect(await stage.runtime.call("UpdateUserMemory", upsert("a", ""), { userId })).toMatchObject({ ok: true });
  const own = join(stage.home(userId), ".memcell");
  writeFileSync(join(own, "staged-7"), "half a fi");
  writeFileSync(join(own, "journal-damaged-1"), "not a WAL");
  const found = (await upkeep.inspect({ userId })).map(inShort).toSorted();
  expect(found).toEqual([".memcell/journal-damaged-1 wal-damaged", ".memcell/staged-7 temporary-file"]);
  expect((await upkeep.mend({ userId })).map(inShort)).toEqual([".memcell/staged-7 temporary-file"]);
  expect(readdirSync(own).toSorted().join(" ")).toBe("history journal journal-damaged-1 lock owner turnstile");
});

const entryWith = (text: string): string => `---\ndescription: d\ntype: user\n${text}---\nBody`;

test.for([
  ["20 KB of blank lines", "\n".repeat(20_000)],
  ["100,000 open brackets", `note: ${"[".repeat(100_000)}\n`],
  [
    "aliases of aliases",
    `a: &a [x, x]\n${Array.from({ length: 200 }, (_, at) => `b${at}: &b${at} [*a, *a]\n`).join("")}`,
  ],
] as const)("an entry with %s, which the YAML library takes too long for, costs only itself", async ([, text]) => {
  const { ctx, files } = userWith({ "bad.md": entryWith(text), "good.md": entryWith("") });
  // Without an index, it is built from the entries.
  expect(await stage.runtime.memoryIndex(ctx)).toContain("[good](good.md)");
  const problems = (await upkeep.inspect(ctx)).map(({ problem }) => problem);
  expect(problems).not.toContain("not-inspected");
  expect(await stage.runtime.call("ReadUserMemory", { name: "good" }, ctx)).toMatchObject({ ok: true });
  expect((await upkeep.mend(ctx)).length).toBeGreaterThan(0);
  expect((await upkeep.inspect(ctx)).filter(({ remedy }) => remedy !== null)).toEqual([]);
  expect(Object.values(files())).toContain(entryWith(text));
});

test("a text that is written while a large change set takes effect is in the trash", async () => {
  await using at = await openUpkeep();
  const names = Array.from({ length: 200 }, (_, each) => `entry-${each}`);
  const filesWith = (body: string) =>
    asMemoryFiles(Object.fromEntries(names.map((name) => [`${name}.md`, entryText(name) + body])));
  await at.upkeep.import(alice, filesWith("old"));
  const memory = join(at.home(), "memory");
  const [first, last] = [join(memory, "entry-0.md"), join(memory, "entry-199.md")];
  const over = new AbortController();
  // Looks between any two pieces of the work. The old files go to the trash first, then the new ones come, in order.
  const edit = async (): Promise<boolean> => {
    while (!over.signal.aborted) {
      await setImmediate();
      if (existsSync(last) || !existsSync(first)) continue;
      writeFileSync(last, "By the person");
      return true;
    }
    return false;
  };
  const editing = edit();
  await at.upkeep.import(alice, filesWith("new"), { replace: true });
  over.abort();
  expect(await editing).toBe(true);
  const files = at.files();
  expect(names.filter((name) => !files[`memory/${name}.md`]?.endsWith("new"))).toEqual([]);
  expect(
    Object.entries(files)
      .filter(([path]) => path.startsWith("memory/trash/"))
      .map(([, text]) => text),
  ).toContain("By the person");
});

test("users() lists everyone who has a folder, whatever their ids look like", async () => {
  await using at = await openUpkeep();
  expect(await at.upkeep.users()).toEqual([]);
  const ids = ["alice", "Ünï cödé", "con", "%41", "x".repeat(128), "漢".repeat(42)];
  for (const userId of ids) await at.runtime.call("UpdateUserMemory", upsert("a", ""), { userId });
  writeUserFiles(at.dataDir, { "by hand": { "memory/a.md": entryText("a") } });
  mkdirSync(join(at.dataDir, "users/no%user"));
  symlinkSync(userFolder(at.dataDir, "alice"), join(at.dataDir, "users/link"));
  expect(await at.upkeep.users()).toEqual(["by hand", ...ids].toSorted());
});

test("tools of repair and restoring cannot be called as tools, and a closed runtime refuses both operations", async () => {
  await using at = await openUpkeep("memory");
  for (const tool of ["InspectMemory", "RestoreEntry"]) {
    expect(await at.runtime.call(tool, {}, alice)).toMatchObject({ ok: false, error: { code: "TOOL_UNKNOWN" } });
  }
  await expect(at.upkeep.inspect({ userId: ".." })).rejects.toMatchObject({ code: "USER_INVALID" });
  await at.runtime.close();
  await expect(at.upkeep.mend(alice)).rejects.toMatchObject({ code: "CLOSED" });
});
