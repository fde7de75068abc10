/** What the manifest says about the tool `CallerNotes`. Not part of the guest. */
import type { Right } from "../../../shared/abi.ts";
import type { Family } from "../../../shared/manifest.ts";
import { anyStore } from "../../../shared/shared-scope.ts";
import * as z from "../../../shared/zod.ts";
import { noteSources } from "../note-lines.ts";

const described = (meaning: string) => z.optional(z.described(z.string(), meaning));
const texts = (meaning: string) => z.optional(z.described(z.array(z.string()), meaning));

const input = z.strictObject({
  command: z.described(z.enum(["get", "list", "search", "put", "forget", "pull", "push"]), "What to do"),
  namespace: described('Whose notes: "owner", "shared", or "caller:" and who called'),
  namespaces: texts("With list and search: whose notes. Default: all"),
  key: described("The note's name"),
  content: described("With put: the note"),
  description: described("With put: one line about the note"),
  source: described("With put: who wrote it, tool, compaction or owner"),
  at: described("With put: when it was written. Default, and the latest possible: now"),
  prefix: described("With list: what the keys begin with"),
  excludeSources: texts("With list: sources of which no note is wanted"),
  query: described("With search: words to look for"),
  limit: z.optional(z.described(z.int(), "With list and search: the most notes to return")),
  since: described("With pull: the cursor of the pull before. Default: from the start"),
  lines: z.optional(z.described(z.array(z.unknown()), "With push: the changes of another machine")),
});

const place = { namespace: z.string(), key: z.string() };

const note = z.strictObject({
  ...place,
  content: z.string(),
  description: z.string(),
  source: z.enum(noteSources),
  created: z.described(z.string(), "UTC, ISO 8601"),
  updated: z.string(),
});

const line = z.strictObject({
  op: z.enum(["put", "delete"]),
  ...place,
  at: z.described(z.string(), "When the note was changed. The later change counts"),
  content: z.optional(z.string()),
  description: z.optional(z.string()),
  source: z.optional(z.string()),
});

const output = z.strictObject({
  note: z.described(z.optional(z.nullable(note)), "With get and put; null if there is none"),
  notes: z.described(z.optional(z.array(note)), "With list, the last changed first, and with search, the best first"),
  forgotten: z.described(z.optional(z.int()), "With forget: how many notes, 0 or 1"),
  lines: z.described(z.optional(z.array(line)), "With pull: what has changed, the oldest change first"),
  cursor: z.described(z.optional(z.nullable(z.string())), "With pull: where the next one begins"),
  more: z.described(z.optional(z.boolean()), "With pull: whether another page waits"),
  applied: z.described(z.optional(z.int()), "With push: how many changes were later than what was there"),
  refused: z.described(
    z.optional(z.array(z.strictObject({ at: z.int(), reason: z.string() }))),
    "With push: the lines that cannot be applied, by their place in the list",
  ),
});

const reading: Right[] = ["read", "list", "clock", "grant_list"];
const writing: Right[] = ["read", "list", "write", "trash", "clock", "grant_list"];
const forgetting: Right[] = ["read", "list", "write", "trash", "clock", "grant_list"];

export const callerNotes: Family["tools"][number] = {
  name: "CallerNotes",
  commands: [
    { name: "get", export: "caller_notes_get", rights: reading, fields: ["namespace", "key"] },
    {
      name: "list",
      export: "caller_notes_list",
      rights: reading,
      fields: ["namespaces", "prefix", "excludeSources", "limit"],
    },
    { name: "search", export: "caller_notes_search", rights: reading, fields: ["query", "namespaces", "limit"] },
    {
      name: "put",
      export: "caller_notes_put",
      rights: writing,
      fields: ["namespace", "key", "content", "description", "source", "at"],
    },
    { name: "forget", export: "caller_notes_forget", rights: forgetting, fields: ["namespace", "key"] },
    { name: "pull", export: "caller_notes_pull", rights: reading, fields: ["namespace", "since"] },
    { name: "push", export: "caller_notes_push", rights: forgetting, fields: ["namespace", "lines"] },
  ],
  audience: "host",
  description: "An agent's notes about its callers, in namespaces of its own store that no model and no grant reaches.",
  input,
  output,
  scopes: [anyStore],
  rights: forgetting,
};
