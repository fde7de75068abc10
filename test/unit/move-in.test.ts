/** What other programs keep as memory becomes entries: each format, what is left, names, and large files in pieces. */
import { expect, test } from "vitest";

import { convertFiles } from "../../plugin/move-in/convert-files.ts";
import { timeFrom, typeFrom } from "../../plugin/move-in/entry-facts.ts";
import { parseEntry } from "../../plugin/user-memory/entry-file.ts";
import type { Entry } from "../../plugin/user-memory/entry-file.ts";
import { freeName, nameFrom } from "../../plugin/user-memory/name-from.ts";
import type { ConvertInput } from "../../shared/roles.ts";
import { moveIn } from "../support/move-in.ts";
import type { MovedIn } from "../support/move-in.ts";

const moved = (files: Readonly<Record<string, string>>, options = {}): Promise<MovedIn> =>
  moveIn(files, convertFiles, options);

/** The entries by name, as this memory reads them. */
function entriesOf({ entries }: MovedIn): Record<string, Entry> {
  const found = entries.map(({ path, content }) => {
    const name = path.replace(/\.md$/, "");
    const entry = parseEntry(content, name);
    if ("unreadable" in entry || entry.incomplete !== null)
      expect.fail(`${path}: ${JSON.stringify(entry)}\n${content}`);
    return [name, entry] as const;
  });
  expect(new Set(found.map(([name]) => name.toLowerCase())).size).toBe(found.length);
  return Object.fromEntries(found);
}

test("the folder of Anthropic's memory tool: files of any name", async () => {
  const told = await moved({
    "memories/customer_guidelines.xml": "<rules>\n<rule>Be kind.</rule>\n</rules>\n",
    "memories/refunds": "Refunds take 5 days.\n",
    "memories/project/status.txt": "Phase 2 has begun.\n",
    "memories/project/diagram.png": "\0",
  });
  expect(told.format).toBe("claude-memory");
  expect(entriesOf(told)).toMatchObject({
    customer_guidelines: { description: "<rules>", body: "<rules>\n<rule>Be kind.</rule>\n</rules>\n" },
    refunds: { description: "Refunds take 5 days.", type: "reference", created: null },
    status: { body: "Phase 2 has begun.\n" },
  });
  expect(told.left).toEqual([{ path: "memories/project/diagram.png", reason: "it is no text, as .png says" }]);
});

test("Claude Code's folder: descriptions from front matter or the index, types from metadata or the file's name", async () => {
  const index = "# Memory\n\n- [Role](user_role.md) — senior developer\n- [Tests](feedback_testing.md) — no mocks\n";
  const role =
    "---\nname: user_role\ndescription: Senior developer at ACME\nmetadata:\n  type: user\n---\n\nHe reviews.\n";
  const told = await moved({ "user_role.md": role, "MEMORY.md": index, "feedback_testing.md": "Use real disks.\n" });
  expect(told.format).toBe("claude-code");
  expect(entriesOf(told)).toMatchObject({
    user_role: { type: "user", description: "Senior developer at ACME", body: "\nHe reviews.\n" },
    feedback_testing: { type: "feedback", description: "no mocks", body: "Use real disks.\n" },
  });
  expect(told.left).toEqual([
    { path: "MEMORY.md", reason: "it is the index of 2 files: here, each line is made of an entry's description" },
  ]);
});

test("what an index alone says is not lost: of a file that is not there, or with a description of its own", async () => {
  const index = "- [Gone](gone.md) — I am allergic to nuts\n- [Role](role.md) — uses vim\n";
  const told = await moved({ "MEMORY.md": index, "role.md": "---\ndescription: Developer\n---\nReviews code.\n" });
  expect(entriesOf(told)).toMatchObject({
    gone: { body: "I am allergic to nuts" },
    role: { description: "Developer" },
  });
  expect(told.left).toContainEqual({
    path: "role.md",
    reason: 'it has a description of its own; the index says: "uses vim"',
  });
});

test("an index with other words is a note as well, so nothing of it is lost", async () => {
  const index = "# Memory\n\n- [Role](role.md) — developer\n\nThe build needs Node 20.\n";
  const told = await moved({ "MEMORY.md": index, "role.md": "Reviews code." });
  expect(entriesOf(told)).toMatchObject({ "MEMORY-notes": { body: index }, role: { description: "developer" } });
  expect(told.left).toEqual([]);
});

test("notes of Obsidian and basic-memory: all of the text and of the front matter stays", async () => {
  const front =
    "title: Über Projekt\ntype: note\npermalink: work/uber-projekt\ntags:\n- go # mine\n- wasm\ncreated: 2024-05-01\n";
  const body = "# Über Projekt\n\n- [tech] Uses Go #go (since May)\n- relates_to [[Other note|that]]\n";
  const told = await moved({
    ".obsidian/app.json": "{}",
    "Work/Über Projekt.md": `---\n${front}---\n${body}`,
    "Work/index.md": "One",
    "Home/index.md": "Two",
    "Заметка.md": "---\naliases: [a, b]\n---\nТекст.\r\n",
    "日本語.md": "日本語のメモ。",
    "broken.md": "---\ntitle: a: b: c\n---\nText of it.\n",
    ".trash/old.md": "gone",
  });
  expect(told.format).toBe("obsidian");
  const entries = entriesOf(told);
  expect(entries).toMatchObject({
    "uber-projekt": { description: "Über Projekt", created: "2024-05-01T00:00:00.000Z", body },
    index: { body: "One" },
    "Home-index": { body: "Two" },
    Zametka: { description: "Текст.", body: "Текст.\r\n" },
    note: { description: "日本語のメモ。" },
    broken: { description: "Text of it.", body: "---\ntitle: a: b: c\n---\nText of it.\n" },
  });
  expect(entries["uber-projekt"]?.frontMatter?.split("\n").slice(4)).toEqual([
    "source_type: note",
    "title: Über Projekt",
    "permalink: work/uber-projekt",
    "tags:",
    "- go # mine",
    "- wasm",
    "",
  ]);
  expect(told.left.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
    ".obsidian/app.json: it is a setting of Obsidian",
    ".trash/old.md: it is hidden",
  ]);
});

test("a folder of Markdown: what is empty, double or no text is named", async () => {
  const told = await moved({
    "notes/a.md": "# Coffee\n\nOnly decaf.\n",
    "notes/b.md": "\n# Coffee\n\nOnly decaf.",
    "notes/empty.md": " \n",
    "notes/utf-16.md": "a\0b\0",
    "notes/con.md": "A device's name.",
    "notes/MEMORY.MD": "An index's name.",
  });
  expect(told.format).toBe("markdown");
  expect(Object.keys(entriesOf(told))).toEqual(["a", "notes-con", "notes-MEMORY"]);
  expect(told.left).toEqual([
    { path: "notes/b.md", reason: "its text is that of a.md" },
    { path: "notes/empty.md", reason: "it is empty" },
    {
      path: "notes/utf-16.md",
      reason: "it is not UTF-8 text: it has NUL bytes, as UTF-16 without a byte order mark has",
    },
  ]);
});

const ofMem0 = {
  count: 5,
  next: null,
  results: [
    {
      id: "m1",
      memory: "Likes tea, and only tea.",
      user_id: "alice",
      created_at: "2024-07-20T01:30:36.275141-07:00",
      updated_at: null,
      metadata: { source: "chat" },
      categories: ["user_preferences"],
      hash: "",
    },
    { id: "m2", payload: { data: "Leads the API project.", created_at: 1_700_000_000 }, categories: ["project"] },
    { id: "m3", memory: "Bob is tall.", user_id: "bob" },
    { id: "m4", score: 1 },
    "Speaks Greek.",
    7,
    { text: "Likes tea, and only tea." },
  ],
  relations: [{ source: "alice" }],
};

test.for([
  ["an object with results", ofMem0],
  ["an object with memories", { memories: ofMem0.results, relations: [{}] }],
  ["a list", ofMem0.results],
] as const)("mem0's JSON, %s: fields beside the text stay, and no other user's memory comes in", async ([, data]) => {
  const told = await moved({ "export.json": JSON.stringify(data, null, 1) });
  expect(told.format).toBe("mem0");
  const entries = entriesOf(told);
  expect(entries).toMatchObject({
    "likes-tea-and-only-tea": {
      type: "user",
      created: "2024-07-20T08:30:36.275Z",
      updated: "2024-07-20T08:30:36.275Z",
      body: "Likes tea, and only tea.",
      frontMatter: expect.stringContaining("metadata:\n  source: chat\n") as string,
    },
    "leads-the-api-project": { type: "project", created: "2023-11-14T22:13:20.000Z", body: "Leads the API project." },
    "speaks-greek": { body: "Speaks Greek." },
  });
  expect(Object.keys(entries)).toHaveLength(3);
  const reasons = [
    'its memory 3 is of the user "bob", and the first is of "alice"',
    "its memory 4 has no text: none of memory, text, data, content",
    "its memory 6 is neither an object nor a text",
    "its text is that of likes-tea-and-only-tea.md",
    'its "relations" is no list of memories',
  ];
  expect(told.left.map(({ reason }) => reason)).toEqual(Array.isArray(data) ? reasons.slice(0, -1) : reasons);
});

const reasonsOf = async (text: string): Promise<unknown[]> => {
  const told = await moved({ "a.json": text });
  return [told.entries.length, ...told.left.map(({ reason }) => reason)];
};

test("JSON that breaks off or has no memories says so, and what came before is taken", async () => {
  expect(await reasonsOf('[{"memory":"A"},{"memory":"B')).toEqual([1, "its JSON breaks off"]);
  expect(await reasonsOf('{"version": 1, "users": {"a": [1]}}')).toEqual([
    0,
    'its "users" is no list of memories',
    "it has no memory in it",
  ]);
  expect(await reasonsOf("memory: a")).toEqual([0, "it is no JSON of a list or an object"]);
  expect(await reasonsOf('["A"] ["B"]')).toEqual([1, "it has more behind its end"]);
  expect(await reasonsOf('[{"memory":"A","vector":[' + "0.123456,".repeat(2_000) + "1]}]")).toEqual([
    1,
    'its memory 1 has more than front matter can have: without its "vector"',
  ]);
});

test("memories of ChatGPT and Claude as text: a line is an entry, headings are left", async () => {
  const text = [
    "Here is what I know about you:",
    "",
    "```",
    "## Instructions",
    "[2024-05-01] - Prefers Greek yoghurt",
    "[unknown] - Always answer in German",
    "- [May 3, 2025] Has a cat",
    "  called Ilse",
    "3. Works on [memcell](https://example.org)",
    "* [ ] Learns to swim",
    "•  ",
    "**Work context**",
    "(2023-01-02) Moved to Athens",
    "Has a cat",
    "```",
  ].join("\r\n");
  const told = await moved({ "memories.txt": text });
  expect(told.format).toBe("list");
  expect(Object.values(entriesOf(told)).map(({ body, created, type }) => [type, created, body])).toEqual([
    ["user", "2024-05-01T00:00:00.000Z", "Prefers Greek yoghurt"],
    ["user", null, "Always answer in German"],
    ["user", "2025-05-03T00:00:00.000Z", "Has a cat\r\n  called Ilse"],
    ["user", null, "Works on [memcell](https://example.org)"],
    ["user", null, "Learns to swim"],
    ["user", "2023-01-02T00:00:00.000Z", "Moved to Athens"],
    ["user", null, "Has a cat"],
  ]);
  expect(told.left.map(({ reason }) => reason)).toEqual([
    'its line 1 is a heading: "Here is what I know about you:"',
    'its line 4 is a heading: "## Instructions"',
    'its line 12 is a heading: "**Work context**"',
  ]);
});

const countOf = async (path: string, text: string, options = {}): Promise<number> =>
  (await moved({ [path]: text }, options)).entries.length;

test("whether one file is a list or a note, its text says, and a person can say otherwise", async () => {
  const prose = "# Trip\n\nWe go to Crete.\n\nIn May.\n";
  expect(await countOf("trip.md", prose)).toBe(1);
  expect(await countOf("trip.txt", prose)).toBe(2);
  expect(await countOf("list.md", "- Likes tea\n- Has a cat\n")).toBe(2);
  expect(await countOf("list.md", "---\ntitle: A\n---\n- Likes tea\n- Has a cat\n")).toBe(1);
  expect(await countOf("list.md", "- Likes tea\n- Has a cat\n", { format: "markdown" })).toBe(1);
});

const namesOf = (told: MovedIn): string[] => told.entries.map(({ path }) => path);

test("names that are taken are not given, in any case, and the answer is the same each time", async () => {
  const files = { "Editor.md": "Uses vim.", "sub/editor.md": "Or emacs." };
  expect(namesOf(await moved(files))).toEqual(["Editor.md", "sub-editor.md"]);
  expect(namesOf(await moved(files, { taken: ["EDITOR", "sub-editor"] }))).toEqual(["Editor-2.md", "editor-3.md"]);
  expect(await moved(files)).toEqual(await moved(files));
});

test("a text of several times what an entry holds is parts, which together are the text", async () => {
  const text = Array.from({ length: 9_000 }, (_, at) => `Zeile ${at} ist ein wenig länger, 日本語 😀\n`).join("");
  for (const bytesMax of [192 * 1024, 70_000]) {
    const told = await moved({ "Long.md": `---\ntags: [a]\n---\n${text}` }, { bytesMax });
    const entries = Object.entries(entriesOf(told));
    expect(entries.length).toBeGreaterThan(6);
    expect(entries.map(([, { body }]) => body).join("")).toBe(text);
    expect(entries.every(([, { body }]) => Buffer.byteLength(body) <= 65_536)).toBe(true);
    expect(entries[1]?.[0]).toBe("Long-2");
    expect(entries[1]?.[1].description).toMatch(/ \(part 2\)$/);
  }
});

const megabytes = 3;

test(
  "megabytes of JSON or of lines go through in pieces; beyond what one move holds, the rest is named",
  { timeout: 60_000 },
  async () => {
    const memories = Array.from({ length: megabytes * 2_000 }, (_, at) => ({
      memory: `${at} ${"likes it ".repeat(55)}`,
    }));
    const lines = memories.map(({ memory }) => `- ${memory}\n`).join("");
    for (const [path, text] of [
      ["a.json", JSON.stringify({ results: memories })],
      ["a.txt", lines],
    ] as const) {
      const told = await moved({ [path]: text });
      expect(told.entries.length).toBeGreaterThan(2_000);
      const reason = `its rest is beyond the ${told.entries.length} entries that move in at once`;
      expect(told.left).toEqual([{ path, reason }]);
    }
    const few = memories.slice(0, 500).map(({ memory }) => ({ memory, large: memory.repeat(20) }));
    expect((await moved({ "a.json": JSON.stringify(few) })).entries).toHaveLength(500);
  },
);

const largeText = (at: number): string => `${at} ${'Zeile für Zeile, so ist es "gut".\n'.repeat(4_500)}`;

test("large texts beside others fit no answer together, so they come one after the other", async () => {
  const small = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`s${at}.md`, `${at} ${"wort ".repeat(700)}`]),
  );
  const notes = await moved({
    ...small,
    "large.md": largeText(0),
    constructor: "A file's name that every object has.",
  });
  expect([notes.entries.length, notes.left]).toEqual([44, []]);
  const memories = [...Object.values(small), largeText(1), "x", largeText(2)].map((memory) => ({ memory }));
  const exported = await moved({ "a.json": JSON.stringify(memories) });
  expect([exported.entries.length, exported.left]).toEqual([47, []]);
  const lines = [...Object.values(small), `- ${largeText(3).replaceAll("\n", " ")}`, "- x"].join("\n");
  expect((await moved({ "a.txt": lines })).entries).toHaveLength(44);
});

test("a memory that is larger than a piece is named, and the next one is taken", async () => {
  const told = await moved({ "a.json": JSON.stringify([{ memory: 'x\\"'.repeat(200_000) }, { memory: "Next" }]) });
  expect([told.entries.length, told.left]).toEqual([1, [{ path: "a.json", reason: "its memory 1 is too large" }]]);
});

test.for([
  ["Grüße, Welt!", "grusse-welt"],
  ["Моя первая заметка", "moya-pervaya-zametka"],
  ["Ελληνικά", "Ellinika"],
  ["don't panic", "dont-panic"],
  ["editorTheme", "editorTheme"],
  ["../../etc/passwd", "etc-passwd"],
  ["日本語", ""],
  ["-_-", ""],
  ["word ".repeat(40), "word-".repeat(20).slice(0, -1)],
] as const)("the name of %s is %s", ([text, name]) => {
  expect(nameFrom(text)).toBe(name);
  expect(freeName("memory", () => false)).toBe("memory-notes");
});

test.for([
  ["2024-05-01", "2024-05-01T00:00:00.000Z"],
  ["2024-5-1 10:30", "2024-05-01T10:30:00.000Z"],
  ["2024-07-20T01:30:36.275141-07:00", "2024-07-20T08:30:36.275Z"],
  ["2024-07-20T01:30:36+0530", "2024-07-19T20:00:36.000Z"],
  ["1 May 2024", "2024-05-01T00:00:00.000Z"],
  [1_700_000_000, "2023-11-14T22:13:20.000Z"],
  ["yesterday", null],
  ["2024-13-45", null],
  ["[2024]", null],
] as const)("the time %s is %s", ([text, time]) => {
  expect(timeFrom(text)).toBe(time);
});

test("types of other programs are the nearest of ours", () => {
  const words = ["feedback", "user_preferences", "personal_details", "work", "https links", "misc"];
  const types = words.map((word) => typeFrom([word], "reference"));
  expect(types).toEqual(["feedback", "user", "user", "project", "reference", "reference"]);
});

test.for<readonly [what: string, input: ConvertInput, message: string]>([
  ["neither names nor files", {}, "paths is missing, allowed: either paths or files"],
  ["an unknown format", { format: "x", files: [] }, 'format is "x", allowed: one of claude-code'],
  ["a carry of somebody else", { paths: [], carry: "{" }, 'carry is "{", allowed: the carry of the answer before'],
])("%s is refused", ([, input, message]) => {
  expect(() => convertFiles(input)).toThrow(message);
});
