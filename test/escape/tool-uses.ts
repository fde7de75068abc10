/** What each tool of the package is asked for so that it needs its rights, and the data for it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { storeIdOf } from "memcell";
import type { Runtime, ToolResult } from "memcell";

import { userFolder, writeUserFiles } from "../support/user-files.ts";

const [own, others, searched] = [storeIdOf("alice"), storeIdOf("bob"), storeIdOf("carol")];

const entry = { type: "user", description: "d", body: "b" };
const run = (runId: string): object => ({ agentId: "planner", runId });
const events = [{ type: "planner_note", data: '{"note":"n"}' }];
const at = (name: string): object => ({ path: `/memories/${name}` });
const note = (key: string): object => ({ namespace: "owner", key });
const pushed = (op: string, key: string, more: object = {}): object => ({
  namespace: "owner",
  lines: [{ op, ...note(key), at: "2026-01-02T00:00:00.000Z", ...more }],
});
const setting = { value: 1, ttl: 60 };

/** Inputs by tool and, where it has commands, the command. */
export const toolUses: Readonly<Record<string, readonly object[]>> = {
  UpdateUserMemory: [
    { action: "upsert", name: "new", ...entry },
    { action: "delete", name: "old" },
  ],
  ReadUserMemory: [{ name: "kept" }],
  SearchUserMemory: [{ query: "text" }],
  PromptIndex: [{}],
  ListEntries: [{}],
  InspectMemory: [{ mend: false }, { mend: true }],
  RestoreEntry: [{ trashed: "trash/gone.20260102T030405000Z.md" }],
  JournalIndex: [{}],
  JournalEntries: [{}],
  ReadJournalEntry: [{ name: "kept" }],
  InspectJournal: [{ mend: false }],
  memory_write: [{ key: "new", content: "b" }],
  memory_update: [
    { key: "kept", content: "b" },
    { key: "torn", content: "b" },
  ],
  memory_read: [{ key: "kept" }],
  memory_search: [{ query: "b" }],
  ReadRunHistory: [run("kept")],
  AppendRunEvents: [
    { ...run("new"), events },
    { ...run("kept"), events, appendId: "a" },
  ],
  LoadRun: [run("kept")],
  ListRuns: [{}],
  DeleteRun: [run("old")],
  InspectRuns: [{ mend: true }],
  RestoreRun: [{ trashed: "trash/planner/gone/000001.20260102T030405000Z.jsonl" }],
  "memory view": [at(""), at("a.md")],
  "memory create": [{ ...at("hidden.md"), content: "x" }],
  "memory edit": [{ ...at("a.md"), old_str: "text", new_str: "x" }],
  "memory delete": [at("b.md")],
  "memory rename": [{ ...at("c.md"), new_str: "/memories/new.md" }],
  "memory search": [{ query: "text" }, { query: "text", ...at(`shared/${searched}/`) }],
  "memory share": [{ agent: others, ttl: 60 }],
  "memory unshare": [{ agent: others }],
  "memory stores": [{}],
  "AnthropicMemory view": [at(""), at("a.md")],
  "AnthropicMemory create": [{ ...at("hidden2.md"), file_text: "x" }],
  "AnthropicMemory str_replace": [{ ...at("d.md"), old_str: "text", new_str: "x" }],
  "AnthropicMemory insert": [{ ...at("d.md"), insert_line: 0, insert_text: "x" }],
  "AnthropicMemory delete": [at("d.md")],
  "AnthropicMemory rename": [{ old_path: "/memories/e.md", new_path: "/memories/f.md" }],
  "CallerNotes get": [note("n")],
  "CallerNotes list": [{}],
  "CallerNotes search": [{ query: "text" }],
  "CallerNotes put": [
    { ...note("o"), content: "x" },
    { ...note("torn"), content: "x" },
  ],
  "CallerNotes forget": [note("p")],
  "CallerNotes pull": [{ namespace: "owner" }],
  "CallerNotes push": [pushed("delete", "q", { at: "9000-01-01T00:00:00.000Z" }), pushed("put", "r", { content: "x" })],
  MemoryKeys: [{}],
  ListOwnEntries: [{}],
  ReadOwnEntry: [{ name: "a.md" }],
  InspectStore: [{ mend: true }],
  GetInternal: [{ key: "a.md" }],
  ClearEntries: [{ creator: others }],
  SetInternal: [{ key: "g.md", ...setting }],
  kv_get: [{ key: "a.md" }],
  kv_set: [
    { key: "hidden3.md", ...setting },
    { key: "torn.md", ...setting },
  ],
  kv_delete: [{ key: "h.md" }],
};

/** Uses a tool, or one of its commands, for Alice. Returns the messages of what fails. */
export async function failuresOf(runtime: Runtime, use: string): Promise<string[]> {
  const [tool = "", command] = use.split(" ");
  // Programs may use all commands of a tool that is offered to models.
  const isForModels = command === undefined && runtime.tools().some(({ name }) => name === tool);
  const failures: string[] = [];
  for (const input of toolUses[use] ?? []) {
    const asked = command === undefined ? input : { command, ...input };
    const result: ToolResult = await runtime[isForModels ? "call" : "callAsHost"](tool, asked, { userId: "alice" });
    if (!result.ok) failures.push(result.error.message);
  }
  return failures;
}

const eventLine = '{"type":"planner_note","timestamp":"2026-01-02T03:04:05Z","data":{"note":"n"},"labels":{}}\n';

const fact = (name: string): string =>
  `---\nname: ${name}\ndescription: d\ntype: user\ncreated: '2026-01-02T03:04:05.000Z'\n` +
  "updated: '2026-01-02T03:04:05.000Z'\n---\nbody\n";

/** A text with a byte that is not UTF-8. What is written in its place moves it to the trash. */
const noUtf8 = (text: string): Uint8Array => Buffer.from(`${text}\xe9\n`, "latin1");

/** Writes entries and runs without an index or facts, some that cannot be read, and some in the trash. */
export function writeUseData(dataDir: string): string {
  writeUserFiles(dataDir, {
    alice: {
      "memory/old.md": fact("old"),
      "memory/kept.md": fact("kept"),
      "memory/broken.md": "No front matter.\n",
      "memory/trash/gone.20260102T030405000Z.md": fact("gone"),
      "journal/MEMORY.md": "### always\n\nb\n",
      "journal/2026/01/02.md": "### kept\n\nb\n",
      "runs/planner/old/000001.jsonl": eventLine,
      "runs/planner/kept/000001.jsonl": eventLine,
      "runs/planner/broken/000001.jsonl": eventLine,
      "runs/planner/broken/run.json": "No facts.\n",
      "runs/trash/planner/gone/000001.20260102T030405000Z.jsonl": eventLine,
    },
  });
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "/");
  const alice = userFolder(dataDir, "alice");
  for (const day of ["2026/01/03", today]) write(join(alice, "journal", `${day}.md`), noUtf8("### torn\n\nb"));
  write(join(alice, "runs/planner/kept/appends/000001.jsonl"), noUtf8(""));
  writeStores(join(dataDir, "stores"));
  return dataDir;
}

function write(file: string, text: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const stored = (name: string, fields: string): string =>
  `---\nkey: "${name}.md"\nowner: ${own}\n${fields}\nupdated: '2026-01-01T00:00:00.000Z'\n---\nsome text\n`;

/** Alice's own store, with entries that are hidden or have expired, and one that she may only search. */
function writeStores(stores: string): void {
  const mine = join(stores, own, "entries");
  const later = "expires: '9000-01-01T00:00:00.000Z'";
  const fields = `in_context: true\nencrypted: false\n${later}`;
  for (const name of "abcdegh") write(join(mine, `${name}.md`), stored(name, fields));
  for (const name of ["hidden", "hidden2", "hidden3"]) {
    write(join(mine, `${name}.md`), stored(name, "in_context: false\nencrypted: false"));
  }
  // A note without its time has that of its file.
  for (const key of "npq") {
    const text = `---\nkey: ${key}\nowner: ${own}\nnamespace: owner\n${later}\n---\nsome text\n`;
    write(join(mine, `_.ns/owner/${key}_.md`), text);
  }
  for (const path of ["torn.md", "_.ns/owner/torn_.md"]) write(join(mine, path), noUtf8("some text"));
  write(join(mine, `_.by/${others}/x.md`), stored("x", fields).replace(own, others));
  write(join(mine, "old.md"), stored("old", "encrypted: false\nexpires: '2026-01-01T00:00:00.000Z'"));
  write(join(stores, `.granted/${own}/${searched}.1.never`), "");
  write(join(stores, searched, ".memcell/owner"), `stores/${searched}`);
  write(join(stores, searched, "entries/s.md"), "some text of carol's");
  const grant = { grantee: own, level: "search", grantedMs: 1, expiresMs: null };
  write(join(stores, searched, ".memcell/grants.json"), JSON.stringify({ version: 1, grants: [grant] }));
}
