/**
 * Input and output of the tools that a host calls, each in its role: `shared/roles.ts` says what a host asks.
 *
 * The inputs are made for each call: made once, each would be a part of every instance, and few calls need one.
 */
import * as z from "../../shared/zod.ts";
import { keyField } from "./fields.ts";

const roomAllowed = "a whole number";

/** Both lower what is shown of the summary and raise nothing. */
export const indexInput = () => {
  const room = z.optional(z.int({ error: roomAllowed }));
  return z.strictObject({ linesMax: room, bytesMax: room }, { error: "no other fields than linesMax and bytesMax" });
};

export type IndexInput = z.infer<ReturnType<typeof indexInput>>;

export const indexOutput = z.strictObject({
  /** The framed summary for a system prompt; empty for a user without one. */
  text: z.string(),
  entriesShown: z.int(),
  entriesHidden: z.int(),
});

export type IndexOutput = z.infer<typeof indexOutput>;

export const entriesInput = () => z.strictObject({}, { error: "no fields" });

export const entriesOutput = z.strictObject({
  /** Those of the summary first, of each kind the newest first. */
  entries: z.array(z.strictObject({ name: z.string(), description: z.string() })),
});

export type EntriesOutput = z.infer<typeof entriesOutput>;

export const readEntryInput = () =>
  z.strictObject({ name: keyField("A key of JournalEntries, or any other") }, { error: "no other field than name" });

export type ReadEntryInput = z.infer<ReturnType<typeof readEntryInput>>;

const listAllowed = "a list of texts";

export const inspectInput = () => {
  const paths = z.optional(z.array(z.string({ error: listAllowed }), { error: listAllowed }));
  return z.strictObject(
    { mend: z.boolean({ error: "true or false" }), paths, incoming: paths },
    { error: "no other fields than mend, paths and incoming" },
  );
};

export type InspectInput = z.infer<ReturnType<typeof inspectInput>>;

const journalFinding = z.strictObject({
  problem: z.enum(["too-many-files", "file-unused", "file-unreadable", "block-too-large"]),
  /** The file, inside the journal's folder. */
  path: z.string(),
  /** What is wrong, in a sentence. */
  message: z.string(),
  /** Only a person can help. */
  remedy: z.nullable(z.string()),
});

export type JournalFinding = z.infer<typeof journalFinding>;

const refusedPath = z.strictObject({
  /** Inside the journal's folder; empty for what is wrong with all of them together. */
  path: z.string(),
  code: z.enum(["INPUT_INVALID", "ENTRY_UNREADABLE", "QUOTA_EXCEEDED"]),
  /** As a clause about "it". */
  reason: z.string(),
});

export type RefusedPath = z.infer<typeof refusedPath>;

export const inspectOutput = z.strictObject({
  findings: z.array(journalFinding),
  /** How many more there are. */
  findingsHidden: z.int(),
  /** To `paths`: those of files that are not Markdown. */
  unfit: z.optional(z.array(refusedPath)),
  /** To `paths`: none, as no file of a journal is made from others. */
  derived: z.optional(z.array(z.string())),
  /** To `incoming`: those that are no text. */
  refused: z.optional(z.array(refusedPath)),
});

export type InspectOutput = z.infer<typeof inspectOutput>;
