/**
 * Roles: what a host can use a family's tools for without knowing the family. A tool with a role takes every input of
 * the role and returns the role's output, or more. The host checks both schemas when it checks the plugin. Every role
 * except `index` and `convert` is for exactly one scope.
 *
 * No role is required. Without a role, the host does without: it lists, exports, imports and restores the files byte
 * for byte, and cannot say what they mean.
 */
import { declarableCodes } from "./errors.ts";
import { roleLimits } from "./limits.ts";
import { isScopePath } from "./path.ts";
import * as z from "./zod.ts";

export const roleNames = [
  "index",
  "entries",
  "read",
  "inspect",
  "restore",
  "get",
  "set",
  "clear",
  "search",
  "add",
  "convert",
] as const;
export type Role = (typeof roleNames)[number];

const pathInScope = z.string().check(z.refine(isScopePath));

/**
 * The part of the user's memory that goes into every prompt, framed as data; empty when there is none. `linesMax` and
 * `bytesMax`, from 0, bound the text inside the frame. The frame itself takes at most 8 lines and 1 KiB. Default: the
 * family's own bounds.
 */
export const indexInput = z.strictObject({ linesMax: z.optional(z.int()), bytesMax: z.optional(z.int()) });

export type IndexInput = z.infer<typeof indexInput>;

export const indexOutput = z.object({
  text: z.string(),
  entriesShown: z.int(),
  entriesHidden: z.int(),
});

export type IndexOutput = z.infer<typeof indexOutput>;

/**
 * All entries: the unique name of each, and a description of one line. `path`: its file in the scope, if that is not where
 * the tool's `entryFile` says.
 */
export const entriesInput = z.strictObject({});

export type EntriesInput = z.infer<typeof entriesInput>;

export const entriesOutput = z.object({
  entries: z.array(z.object({ name: z.string(), description: z.string(), path: z.optional(pathInScope) })),
});

export type EntriesOutput = z.infer<typeof entriesOutput>;

/** One entry, by a name from `entries`. `body` is its text. The host shows all other fields of the answer beside it. */
export const readInput = z.strictObject({ name: z.string() });

export type ReadInput = z.infer<typeof readInput>;

export const readOutput = z.object({ body: z.string() });

export type ReadOutput = z.infer<typeof readOutput>;

/**
 * Finds what is wrong with the user's files, and repairs it with `mend`. Two fields are for files that the owner of the
 * data puts there, never together:
 *
 * - `paths`: which of these paths can the family keep files at? The tool answers without looking at any file.
 * - `incoming`: an import has just put files at these paths, or an earlier version was put back. Which of them cannot be
 *   used as they are? With `mend`, the tool makes what it derives from them anew, and fails when it refuses any of them,
 *   because a success is committed. Where there is no file, one was taken away.
 */
export const inspectInput = z.strictObject({
  mend: z.boolean(),
  paths: z.optional(z.array(z.string())),
  incoming: z.optional(z.array(z.string())),
});

export type InspectInput = z.infer<typeof inspectInput>;

/** A path inside the scope; empty for a problem of all files together. */
const placeInScope = z.string().check(z.refine((path) => path === "" || isScopePath(path)));

const finding = z.object({
  /** The kind of finding, in the family's own words: lower-case letters, digits and dashes. */
  problem: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,63}$/)),
  path: placeInScope,
  /** What is wrong, in a sentence. */
  message: z.string(),
  /** What mending does, in a sentence; `null` when only a person can help. */
  remedy: z.nullable(z.string()),
});

const refusedPath = z.object({
  path: placeInScope,
  /** A code for a fault that a plugin finds; not one of the host's. */
  code: z.enum(declarableCodes),
  /** As a clause about "it". */
  reason: z.string(),
});

export type RefusedPath = z.infer<typeof refusedPath>;

const refusedPaths = z.array(refusedPath).check(z.maxLength(roleLimits.toldMax));

/** With `mend`: the findings that have been repaired, each as its remedy says. */
export const inspectOutput = z.object({
  findings: z.array(finding).check(z.maxLength(roleLimits.toldMax)),
  /** The number of further findings. */
  findingsHidden: z.int().check(z.nonnegative()),
  /** For `paths`: those at which the family keeps no files. */
  unfit: z.optional(refusedPaths),
  /** For `paths`: those of files that the family derives from others. An import does not replace an existing one. */
  derived: z.optional(z.array(z.string()).check(z.maxLength(roleLimits.toldMax))),
  /** For `incoming`: those that cannot be used as they are. The findings can then cover all other files, and need not. */
  refused: z.optional(refusedPaths),
});

export type InspectOutput = z.infer<typeof inspectOutput>;
export type InspectFinding = InspectOutput["findings"][number];

/**
 * Restores a trashed file. The host removes it from the trash in the same commit, and moves the `others` of the answer
 * out of the trash.
 */
export const restoreInput = z.strictObject({ trashed: z.string() });

export type RestoreInput = z.infer<typeof restoreInput>;

export const restoreOutput = z.object({
  /** The restored file's path inside the scope. */
  path: z.string(),
  /** Trashed files that belong to it, each with its path before. The tool neither reads nor writes them. */
  others: z.optional(z.array(z.object({ trashed: z.string(), path: z.string() }))),
});

export type RestoreOutput = z.infer<typeof restoreOutput>;

/**
 * An entry of a shared store that is for programs alone: no tool for models finds, lists or names it. `store`: a
 * store's id; default: the user's own.
 */
const internalEntry = { store: z.optional(z.string()), key: z.string(), namespace: z.optional(z.string()) };

/** Gets the value of such an entry; of an entry for models if there is none. */
export const getInput = z.strictObject(internalEntry);

export type GetInput = z.infer<typeof getInput>;

export const getOutput = z.object({ found: z.boolean(), value: z.unknown() });

export type GetOutput = z.infer<typeof getOutput>;

/** Creates or replaces such an entry, with all its flags. `ttl`: seconds until it ends; default: never. */
export const setInput = z.strictObject({
  ...internalEntry,
  value: z.unknown(),
  encrypted: z.optional(z.boolean()),
  ttl: z.optional(z.int()),
});

export type SetInput = z.infer<typeof setInput>;

export const setOutput = z.object({});

export type SetOutput = z.infer<typeof setOutput>;

/** Moves what another user has created in the user's own store to the trash. `creator`: the id of that user's own store. */
export const clearInput = z.strictObject({ creator: z.string() });

export type ClearInput = z.infer<typeof clearInput>;

export const clearOutput = z.object({ trashed: z.int().check(z.nonnegative()) });

export type ClearOutput = z.infer<typeof clearOutput>;

/** The entries that words find, the best first. `snippet`: a line of the text around what was found. */
export const searchInput = z.strictObject({ query: z.string() });

export type SearchInput = z.infer<typeof searchInput>;

export const searchOutput = z.object({
  entries: z.array(z.object({ name: z.string(), description: z.string(), snippet: z.optional(z.string()) })),
});

export type SearchOutput = z.infer<typeof searchOutput>;

/** Makes an entry of a person's text. `name`: one that no entry has; default: the family makes one of the text. */
export const addInput = z.strictObject({ text: z.string(), name: z.optional(z.string()) });

export type AddInput = z.infer<typeof addInput>;

/** `path`: the entry's file inside the scope. */
export const addOutput = z.object({ name: z.string(), path: pathInScope });

export type AddOutput = z.infer<typeof addOutput>;

/**
 * Makes entries of what another program keeps as memory: text in, files out. Such a tool has no scope and no right. Its
 * guest forgets everything between two calls: what it has to know again is in `carry`, which only the tool understands.
 * Two fields, never together:
 *
 * - `paths`: the names of all that was found, in one or more calls. Which of these files does the tool want to read?
 * - `files`: their texts, in that order, and none at the end, as many in each call as its input has room for. `more`: the text is not the end of
 *   its file. With them, `format` is that of the last answer to `paths`, or one that a person has chosen.
 */
export const convertInput = z.strictObject({
  paths: z.optional(z.array(z.string())),
  files: z.optional(z.array(z.strictObject({ path: z.string(), text: z.string(), more: z.optional(z.boolean()) }))),
  format: z.optional(z.string()),
  /** Names that entries must not get. They can come with any call, and so can `present`. */
  taken: z.optional(z.array(z.string())),
  /** Files of the family that are there: no entry gets their names, and none is made of a text that one of them has. */
  present: z.optional(z.array(z.strictObject({ path: z.string(), content: z.string() }))),
  carry: z.optional(z.string()),
});

export type ConvertInput = z.infer<typeof convertInput>;

export const convertOutput = z.object({
  /** What the files seem to be, in the tool's own words. */
  format: z.string(),
  /** For `paths`: the files to read, in the order in which to send them. */
  wants: z.array(z.string()),
  /** For `files`: a family's files, each with its path in the scope. */
  entries: z.array(z.object({ path: pathInScope, content: z.string() })),
  /** What is not taken, or not as it was, each with the reason, as a clause about "it". */
  left: z.array(z.object({ path: z.string(), reason: z.string() })),
  /**
   * For `files`: where to go on, because the answer is full, or because a text is not all of its file: with this file, from
   * this byte of the text that was sent. `null`: with the next file.
   */
  rest: z.nullable(z.object({ path: z.string(), bytes: z.int().check(z.nonnegative()) })),
  /** To be sent with the next call. */
  carry: z.string(),
});

export type ConvertOutput = z.infer<typeof convertOutput>;

/** The schemas that a tool with a role must fit. */
export const roleSchemas = {
  index: { input: indexInput, output: indexOutput },
  entries: { input: entriesInput, output: entriesOutput },
  read: { input: readInput, output: readOutput },
  inspect: { input: inspectInput, output: inspectOutput },
  restore: { input: restoreInput, output: restoreOutput },
  get: { input: getInput, output: getOutput },
  set: { input: setInput, output: setOutput },
  clear: { input: clearInput, output: clearOutput },
  search: { input: searchInput, output: searchOutput },
  add: { input: addInput, output: addOutput },
  convert: { input: convertInput, output: convertOutput },
} as const satisfies Record<Role, { readonly input: z.ZodMiniType; readonly output: z.ZodMiniType }>;
