/** Uses of the tools of `stores` that need their rights, for each command. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { storeIdOf } from "memcell";
import type { Runtime } from "memcell";

export type Use = (runtime: Runtime) => Promise<string[]>;

const alice = { userId: "alice" };
const [own, others, searched] = [storeIdOf("alice"), storeIdOf("bob"), storeIdOf("carol")];

const use =
  (tool: string, input: object): Use =>
  async (runtime) => {
    const result = await runtime.callAsHost(tool, input, alice);
    return result.ok ? [] : [result.error.message];
  };

const memory = (command: string, name: string, more: object = {}): Use =>
  use("memory", { command, path: `/memories/${name}`, ...more });

const anthropic = (command: string, more: object): Use => use("AnthropicMemory", { command, ...more });
const at = (name: string): { readonly path: string } => ({ path: `/memories/${name}` });

const notes = (command: string, more: object): Use => use("CallerNotes", { command, ...more });
const note = (key: string): { readonly namespace: string; readonly key: string } => ({ namespace: "owner", key });

/** By tool and, where it has commands, the command. */
export const storeUses: Readonly<Record<string, readonly Use[]>> = {
  "memory view": [memory("view", ""), memory("view", "a.md")],
  "memory create": [memory("create", "hidden.md", { content: "x" })],
  "memory edit": [memory("edit", "a.md", { old_str: "text", new_str: "x" })],
  "memory delete": [memory("delete", "b.md")],
  "memory rename": [memory("rename", "c.md", { new_str: "/memories/new.md" })],
  "memory search": [
    use("memory", { command: "search", query: "text" }),
    use("memory", { command: "search", query: "text", path: `/memories/shared/${searched}/` }),
  ],
  "memory share": [use("memory", { command: "share", agent: others, ttl: 60 })],
  "memory unshare": [use("memory", { command: "unshare", agent: others })],
  "memory stores": [use("memory", { command: "stores" })],
  "AnthropicMemory view": [anthropic("view", at("")), anthropic("view", at("a.md"))],
  "AnthropicMemory create": [anthropic("create", { ...at("hidden2.md"), file_text: "x" })],
  "AnthropicMemory str_replace": [anthropic("str_replace", { ...at("d.md"), old_str: "text", new_str: "x" })],
  "AnthropicMemory insert": [anthropic("insert", { ...at("d.md"), insert_line: 0, insert_text: "x" })],
  "AnthropicMemory delete": [anthropic("delete", at("d.md"))],
  "AnthropicMemory rename": [anthropic("rename", { old_path: "/memories/e.md", new_path: "/memories/f.md" })],
  "CallerNotes get": [notes("get", note("n"))],
  "CallerNotes list": [notes("list", {})],
  "CallerNotes search": [notes("search", { query: "text" })],
  "CallerNotes put": [notes("put", { ...note("o"), content: "x" }), notes("put", { ...note("torn"), content: "x" })],
  "CallerNotes forget": [notes("forget", note("p"))],
  "CallerNotes pull": [notes("pull", { namespace: "owner" })],
  "CallerNotes push": [
    notes("push", { namespace: "owner", lines: [{ op: "delete", ...note("q"), at: "9000-01-01T00:00:00.000Z" }] }),
    notes("push", {
      namespace: "owner",
      lines: [{ op: "put", ...note("r"), at: "2026-01-02T00:00:00Z", content: "x" }],
    }),
  ],
  MemoryKeys: [use("MemoryKeys", {})],
  ListOwnEntries: [use("ListOwnEntries", {})],
  ReadOwnEntry: [use("ReadOwnEntry", { name: "a.md" })],
  InspectStore: [use("InspectStore", { mend: true })],
  GetInternal: [use("GetInternal", { key: "a.md" })],
  ClearEntries: [use("ClearEntries", { creator: others })],
  SetInternal: [use("SetInternal", { key: "g.md", value: 1, ttl: 60 })],
  kv_get: [use("kv_get", { key: "a.md" })],
  kv_set: [
    use("kv_set", { key: "hidden3.md", value: 1, ttl: 60 }),
    use("kv_set", { key: "torn.md", value: 1, ttl: 60 }),
  ],
  kv_delete: [use("kv_delete", { key: "h.md" })],
};

const entry = (name: string, fields: string): string =>
  `---\nkey: "${name}.md"\nowner: ${own}\n${fields}\nupdated: '2026-01-01T00:00:00.000Z'\n---\nsome text\n`;

/** A text with a byte that is not UTF-8. What is written in its place moves it to the trash. */
export const noUtf8 = (text: string): Uint8Array => Buffer.from(`${text}\xe9\n`, "latin1");

/** Alice's own store, with entries that are hidden or have expired, and one that she may only search. */
export function writeStores(dataDir: string): void {
  const write = (path: string, text: string | Uint8Array): void => {
    const file = join(dataDir, "stores", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const fields = "in_context: true\nencrypted: false\nexpires: '9000-01-01T00:00:00.000Z'";
  for (const name of "abcdegh") write(`${own}/entries/${name}.md`, entry(name, fields));
  for (const name of ["hidden", "hidden2", "hidden3"]) {
    write(`${own}/entries/${name}.md`, entry(name, "in_context: false\nencrypted: false"));
  }
  // A note without its time has that of its file.
  const noteFields = "namespace: owner\nexpires: '9000-01-01T00:00:00.000Z'";
  for (const key of "npq") {
    write(`${own}/entries/_.ns/owner/${key}_.md`, `---\nkey: ${key}\nowner: ${own}\n${noteFields}\n---\nsome text\n`);
  }
  for (const path of ["torn.md", "_.ns/owner/torn_.md"]) write(`${own}/entries/${path}`, noUtf8("some text"));
  write(`${own}/entries/_.by/${others}/x.md`, entry("x", fields).replace(own, others));
  write(`${own}/entries/old.md`, entry("old", "encrypted: false\nexpires: '2026-01-01T00:00:00.000Z'"));
  write(`.granted/${own}/${searched}.1.never`, "");
  write(`${searched}/.memcell/owner`, `stores/${searched}`);
  write(`${searched}/entries/s.md`, "some text of carol's");
  const grant = { grantee: own, level: "search", grantedMs: 1, expiresMs: null };
  write(`${searched}/.memcell/grants.json`, JSON.stringify({ version: 1, grants: [grant] }));
}
