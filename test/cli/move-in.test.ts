/** `memcell import` moves in what other programs keep: says what it is, plans first, overwrites nothing, follows no link. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { expect, test } from "vitest";

import { loopDisk } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { commandStage } from "./command-stage.ts";
import type { CommandStage } from "./command-stage.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;

function put(at: CommandStage, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(at.place(path)), { recursive: true });
    writeFileSync(at.place(path), content);
  }
}

const mem0 = [
  { id: "1", memory: "Likes tea", user_id: "a", created_at: "2024-07-20T01:30:36Z", categories: ["food"] },
  { id: "2", memory: "Lives in Graz", user_id: "a" },
  { id: "3", memory: "Lives in Rome", user_id: "b" },
];

/** The source, its files, what it is called, what is created, and how much is left. */
const sources: readonly (readonly [string, Files, string, readonly string[], number])[] = [
  [
    "memories",
    {
      "memories/refunds": "Refunds take 5 days.",
      "memories/rules.xml": "<rule>Be kind.</rule>",
      "memories/a.png": "\0",
    },
    "a folder of Claude's memory tool: 3 files",
    ["refunds", "rules"],
    1,
  ],
  [
    "claude",
    {
      "claude/MEMORY.md": "# Memory\n- [Role](role.md) — developer\n- [Tests](tests.md) — no mocks\n",
      "claude/role.md": "---\nname: role\ndescription: Developer\nmetadata:\n  type: user\n---\nHe reviews.\n",
      "claude/tests.md": "Use real disks.\n",
    },
    "a memory of Claude Code: 3 files",
    ["role", "tests"],
    1,
  ],
  [
    "vault",
    {
      "vault/.obsidian/app.json": "{}",
      "vault/.obsidian/plugins/x/main.js": "",
      "vault/Projekte/Über mich.md": "---\ntags: [a]\naliases: [ich]\n---\n# Über mich\n\n[[Zug]] und [[Haus|Heim]]\n",
      "vault/日記.md": "今日は晴れ。",
    },
    "a vault of Obsidian: 2 files",
    ["note", "uber-mich"],
    1,
  ],
  [
    "basic-memory",
    {
      "basic-memory/coffee.md":
        "---\ntitle: Coffee\ntype: note\npermalink: coffee\ntags: [food]\n---\n- [fact] Only decaf #coffee\n",
      "basic-memory/tea.md": "# Tea\n\n- relates_to [[Coffee]]\n",
    },
    "a folder of Markdown notes: 2 files",
    ["Coffee", "tea"],
    0,
  ],
  ["mem0.json", { "mem0.json": JSON.stringify(mem0) }, "an export of mem0: 1 file", ["likes-tea", "lives-in-graz"], 1],
  [
    "memories.txt",
    { "memories.txt": "Saved memories\n\n- Has two cats\n- Works at ACME\n2. Has two cats\n" },
    "a list of memories: 1 file",
    ["has-two-cats", "works-at-acme"],
    2,
  ],
];

test.for(sources)("%s", async ([source, files, what, names, left]) => {
  using at = commandStage();
  put(at, files);
  const args = ["import", source, "--user", "bob"];
  const planned = await at.memcell(...args);
  expect(planned.stdout.split("\n")[0]).toBe(`This is ${what}`);
  expect(planned.stdout.endsWith("\nNothing was changed; use --yes to import\n")).toBe(true);
  expect(existsSync(at.home("bob"))).toBe(false);
  const counts = `\n${names.length} created, ${left === 0 ? "" : `${left} left out, `}`;
  const moved = await at.memcell(...args, "--yes");
  expect(moved).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining(counts) });
  const listed = JSON.parse((await at.memcell("list", "--json")).stdout) as {
    entries: { name: string; file: { trust: string } }[];
  };
  expect(listed.entries.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  expect(new Set(listed.entries.map(({ file }) => file.trust))).toEqual(new Set(["unstated"]));
  const before = treeFingerprint(at.place("data/users/bob/memory"));
  expect((await at.memcell(...args, "--yes")).stdout).toMatch(
    new RegExp(`\\n${names.length} skipped(?:, \\d+ left out)?\\nNothing is to be imported\\n$`),
  );
  expect(treeFingerprint(at.place("data/users/bob/memory"))).toEqual(before);
});

test("whoever says whose texts they are has them trusted so, and the words of a page wait for a confirmation", async () => {
  using at = commandStage();
  put(at, { "mine.txt": "- Likes tea\n- Has cats\n", "page.txt": "- Sells gold\n- Sells silver\n" });
  await at.memcell("import", "page.txt", "--user", "bob", "--from", "web", "--yes");
  await at.memcell("import", "mine.txt", "--user", "bob", "--from", "me", "--yes");
  const { stdout } = await at.memcell("list");
  expect(stdout).toMatch(/^likes-tea +\d.* by you /m);
  expect(stdout).toMatch(/^sells-gold +\d.* not approved: /m);
  expect((await at.memcell("show", "MEMORY.md")).stdout).toContain("not approved: ");
  const wrong = await at.memcell("import", "mine.txt", "--user", "bob", "--from", "friend");
  expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining("me, document, web") });
});

test("what is there stays: another text of the same name gets another name, and the same text is named", async () => {
  using at = commandStage();
  put(at, { "a.txt": "- Likes tea\n- Has cats\n", "b.txt": "Likes tea!\nHas cats\nLikes TEA\n" });
  await at.memcell("import", "a.txt", "--user", "bob", "--yes");
  const { stdout } = await at.memcell("import", "b.txt", "--user", "bob", "--yes");
  expect(stdout).toContain("create memory/likes-tea-2.md\n");
  expect(stdout).toContain("create memory/likes-tea-3.md\n");
  expect(stdout).toContain("skip memory/has-cats.md\n");
  put(at, { "c.json": '[{"memory":"Likes tea","created_at":"2024-05-01"}]' });
  const same = await at.memcell("import", "c.json", "--user", "bob", "--yes");
  expect(same.stdout).toContain("leave out c.json: its text is that of likes-tea.md\n");
  expect(at.files("bob")["memory/likes-tea.md"]).toContain("\nLikes tea");
});

test("a text that begins as a zip file does is a text, and a file that says so is none", async () => {
  using at = commandStage();
  put(at, { "pki.txt": "- PKI certificates expire\n- PKs are keys\n", "text.zip": "no zip file" });
  expect((await at.memcell("import", "pki.txt", "--user", "bob")).stdout).toContain("2 created");
  expect((await at.memcell("import", "text.zip", "--user", "bob")).status).toBe(1);
});

test("what cannot be imported is said in words of the import", async () => {
  using at = commandStage();
  put(at, { "empty.txt": "", "white.txt": " \n\n", "list.txt": "- Likes tea\n", "notes/b.md": "B" });
  writeFileSync(Buffer.concat([Buffer.from(at.place("notes/a")), Buffer.from([0xff]), Buffer.from(".md")]), "A");
  for (const [args, status, said] of [
    [["empty.txt"], 1, "Cannot read the import: the file is empty"],
    [["white.txt"], 0, "This is a list of memories: 1 file\nNothing is to be imported\n"],
    [["list.txt", "--format", "nope"], 1, 'format is "nope"; expected one of claude-code, '],
    [["notes"], 0, "leave out a\ufffd.md: its name is not UTF-8\n1 created, "],
  ] as const) {
    const { stdout, stderr, ...ran } = await at.memcell("import", ...args, "--user", "bob");
    expect({ ...ran, said: stdout + stderr }).toEqual({ status, said: expect.stringContaining(said) });
    expect(stdout + stderr).not.toContain("ConvertFiles");
  }
});

test("no link is followed, hidden folders and other encodings do no harm, and what is no text is named", async () => {
  using at = commandStage();
  put(at, {
    "secret.md": "A secret",
    "notes/a.md": "One",
    "notes/utf16.txt": Buffer.from("\ufeffÄpfel", "utf16le"),
    "notes/latin1.md": Buffer.from("\xc4pfel", "latin1"),
    "notes/.git/objects/b.md": "No note",
  });
  symlinkSync(at.place("secret.md"), at.place("notes/link.md"));
  symlinkSync(at.place("."), at.place("notes/up"));
  const { stdout } = await at.memcell("import", "notes", "--user", "bob", "--yes");
  expect(stdout).toContain("leave out .git/: it is hidden\n");
  expect(stdout).toContain("leave out latin1.md: it is not UTF-8 text\n");
  expect(stdout).toContain("leave out link.md: it is a link or no regular file\n");
  expect(stdout).toContain("leave out up: it is a link or no regular file\n");
  const texts = Object.values(at.files("bob")).join("\n");
  expect(texts).toContain("Äpfel");
  expect(texts).not.toContain("secret");
});

test("an export into the data folder is refused, and one to a disk that cannot hold a name names it", async (context) => {
  using at = commandStage({ alice: { "memory/what?.md": "What\n", "memory/a.md": "A\n" } });
  mkdirSync(at.place("sub"));
  mkdirSync(at.place("mounted"));
  symlinkSync("../data/users", at.place("sub/link"));
  const places = ["data/alice.zip", "data/users/alice.json", "data/../data/x", "sub/link/x", "mounted/x.zip"];
  for (const place of places) {
    const { status, stderr } = await at.memcell("export", "--user", "alice", place, "--mount", "journal=mounted");
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("is in the data folder") });
  }
  // Of the two ways to read it, both programs and the disk take the one without a link.
  expect(await at.memcell("export", "--user", "alice", "sub/link/../x.zip")).toMatchObject({ status: 0 });
  expect(existsSync(at.place("sub/x.zip"))).toBe(true);
  const disk = await loopDisk("exfat", { bytes: 4 * 1024 * 1024 });
  if (typeof disk === "string") return skipWithReason(context, disk);
  using mounted = disk;
  const folder = `${mounted.path}/alice`;
  expect(await at.memcell("export", "--user", "alice", "--format", "markdown", folder)).toMatchObject({
    status: 0,
    stdout: "left out: memory/what?.md: the disk cannot hold its name\n1 file, 2 bytes written\n",
  });
  expect((await at.memcell("import", "--user", "bob", folder, "--yes")).stdout).toContain("1 created");
});

/** Names as people give them, with everything that is odd in them. */
function vault(): Record<string, string> {
  const odd = [
    "Über mich",
    "日記",
    "Ω mega",
    "a  b",
    "100% sure",
    "C++ & C#",
    "what?",
    "50€",
    "naïve café",
    "e\u0301te\u0301",
    "Привет мир",
    "emoji 🎉",
    "dots...",
    "UPPER",
    "upper-",
    "CON",
    "nul.txt",
    "MEMORY",
    "index",
    "README",
    "a'b",
    'q"q',
    "x;y",
    "[brackets]",
    "(round)",
    "#tag",
    "@home",
    "~tilde",
    "-dash",
    "_under",
    "%C3%9C",
    "2024-05-01",
    "עברית",
    "ไทย",
    "हिन्दी",
    "a".repeat(100),
    "ß".repeat(60),
    "tab\there",
    "line\nbreak",
    "zero\u200bwidth",
    "bidi\u202etxt",
    " lead",
    "trail ",
    "trash",
    "🙂",
  ];
  const files: Record<string, string> = {};
  for (let at = 0; at < 300; at++) {
    const folder = ["", "Projekte/", "Tages notizen/2024/", "日本/", "a.b/"][at % 5] ?? "";
    const stem = odd[at % odd.length] ?? "";
    const name = at < odd.length ? stem : `${stem} ${at}`;
    files[`vault/${folder}${name}.md`] = `# Note ${at}\n\nText of ${at}.\n`;
  }
  return files;
}

test("of 300 notes with everything odd in their names, each is an entry", async () => {
  using at = commandStage();
  const notes = vault();
  put(at, { ...notes, "vault/.obsidian/app.json": "{}" });
  expect(Object.keys(notes)).toHaveLength(300);
  const { status, stdout } = await at.memcell("import", "vault", "--user", "bob", "--yes");
  expect(stdout).toMatch(/\n300 created, 1 left out, \d+ bytes\n$/);
  expect(status).toBe(0);
  const texts = Object.values(at.files("bob")).join("\n");
  for (let number = 0; number < 300; number++) expect(texts).toContain(`Text of ${number}.`);
  expect((await at.memcell("doctor", "--user", "bob")).status).toBe(0);
});

test("an export goes out in three forms, and each comes back byte for byte", async () => {
  const notes = { "memory/a.md": "A\n", "memory/b.bin": "\u0000", "memory/Reise/Über mich.md": "Ich\n" };
  using at = commandStage({ alice: notes });
  const forms = { zip: "alice.zip", json: "alice.json", markdown: "alice/" };
  for (const [format, name] of Object.entries(forms)) {
    expect(await at.memcell("export", "--user", "alice", name)).toMatchObject({ status: 0 });
    expect(await at.memcell("export", "--user", "alice", name, "--format", format)).toMatchObject({ status: 1 });
    expect(await at.memcell("import", "--user", format, name, "--yes")).toMatchObject({ status: 0 });
    expect(at.files(format)).toMatchObject({ "memory/a.md": "A\n", "memory/Reise/Über mich.md": "Ich\n" });
  }
  expect(readFileSync(at.place("alice/memory/Reise/Über mich.md"), "utf8")).toBe("Ich\n");
  put(at, { "alice/memory/Bilder/von mir.md": "Neu\n", "alice/.DS_Store": "", "alice/memory/.git/x": "" });
  put(at, { "alice/README.txt": "For me", "alice/memory/12:30.md": "Lunch", "alice/.gitignore": "x" });
  symlinkSync(at.place("alice.zip"), at.place("alice/memory/link.md"));
  const carols = await at.memcell("import", "--user", "carol", "alice", "--yes");
  expect(carols.status).toBe(0);
  for (const left of [
    ".gitignore: it is hidden",
    "README.txt: it is in no folder of a scope",
    "memory/12:30.md: it has a name that no path can have",
    "memory/link.md: it is a link or no regular file",
    "memory/.git/: it is hidden",
  ])
    expect(carols.stdout).toContain(`leave out ${left}\n`);
  expect(at.files("carol")["memory/Bilder/von mir.md"]).toBe("Neu\n");
  const pretty = JSON.stringify(JSON.parse(readFileSync(at.place("alice.json"), "utf8")), null, 2);
  put(at, { "pretty.json": `\ufeff\n${pretty}` });
  expect((await at.memcell("import", "--user", "dave", "pretty.json", "--yes")).status).toBe(0);
  expect(at.files("dave")).toEqual(at.files("json"));
  for (const text of [
    '{"memcell":1,"files":[{"scope":"../bob","path":"a.md","text":"x"}]}',
    '{"memcell":1,"files":[{"scope":"memory","path":"a.md","txt":"x"}]}',
    '{"memcell":1,"files":[{"scope":"memory","path":"a.md","text":"x","base64":"eA=="}]}',
    '{"memcell":1,"files":[{"scope":"memory","path":"a.md","base64":"!!"}]}',
    '{"memcell":1,"files":[{"scope":"memory","path":"a.md","text":"x","text":"y"}]}',
    '{"memcell":2,"files":[]}',
    '{"memcell":1,',
    '{"memcell":1,"files":7}',
  ]) {
    put(at, { "broken.json": text });
    const { status, stderr } = await at.memcell("import", "--user", "bob", "broken.json");
    expect([status, stderr]).toEqual([1, expect.stringContaining("it is no sound export of version 1")]);
  }
});
