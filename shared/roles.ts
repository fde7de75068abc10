/**
 * What a host asks of a family without knowing it. A tool with a role takes what the role's input says and answers what its
 * output says, or more; both are checked when a plugin is judged. Every role but `index` is about exactly one scope.
 *
 * No role is compulsory. Where a family has none of a kind, the host does without: its files are listed, exported, imported
 * and put back byte for byte, and nobody says what they mean.
 */
import { declarableCodes } from "./errors.ts";
import { roleLimits } from "./limits.ts";
import { isScopePath } from "./path.ts";
import * as z from "./zod.ts";

export const roleNames = ["index", "entries", "read", "inspect", "restore"] as const;
export type Role = (typeof roleNames)[number];

/**
 * The part of the user's memory that enters every prompt, framed as data; empty when there is none. `linesMax` and `bytesMax`
 * bound what stands inside the frame, from 0; the frame itself takes at most 8 lines and 1 KiB. Default: the family's own bounds.
 */
export const indexInput = z.strictObject({ linesMax: z.optional(z.int()), bytesMax: z.optional(z.int()) });

export type IndexInput = z.infer<typeof indexInput>;

export const indexOutput = z.object({
  text: z.string(),
  entriesShown: z.int(),
  entriesHidden: z.int(),
});

export type IndexOutput = z.infer<typeof indexOutput>;

/** Every entry by its name, which is unique, and one line that tells what it is about. */
export const entriesInput = z.strictObject({});

export type EntriesInput = z.infer<typeof entriesInput>;

export const entriesOutput = z.object({
  entries: z.array(z.object({ name: z.string(), description: z.string() })),
});

export type EntriesOutput = z.infer<typeof entriesOutput>;

/** One entry, by a name of `entries`. `body` is its text; whatever else the answer holds is shown beside it. */
export const readInput = z.strictObject({ name: z.string() });

export type ReadInput = z.infer<typeof readInput>;

export const readOutput = z.object({ body: z.string() });

export type ReadOutput = z.infer<typeof readOutput>;

/**
 * What is wrong with the user's files, and with `mend` its mending. Two more questions are asked for imports:
 * `paths` asks which of these paths the family keeps files under, whatever lies there; `incoming` names files that an import
 * has just put there, and asks which of them cannot be used as they are. The two are never asked together. To `paths` it answers
 * without a look at any file. With `mend` and `incoming` it fails when anything is refused: a success is committed.
 */
export const inspectInput = z.strictObject({
  mend: z.boolean(),
  paths: z.optional(z.array(z.string())),
  incoming: z.optional(z.array(z.string())),
});

export type InspectInput = z.infer<typeof inspectInput>;

/** Inside the scope; empty for what is wrong with all files together. */
const placeInScope = z.string().check(z.refine((path) => path === "" || isScopePath(path)));

const finding = z.object({
  /** What kind of finding it is, in the family's own words: lower-case letters, digits and dashes. */
  problem: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,63}$/)),
  path: placeInScope,
  /** What is wrong, in a sentence. */
  message: z.string(),
  /** What mending does, in a sentence; `null` when only a person can help. */
  remedy: z.nullable(z.string()),
});

const refusedPath = z.object({
  path: placeInScope,
  /** What a plugin may find out, and none of the host's own. */
  code: z.enum(declarableCodes),
  /** As a clause about "it". */
  reason: z.string(),
});

export type RefusedPath = z.infer<typeof refusedPath>;

const refusedPaths = z.array(refusedPath).check(z.maxLength(roleLimits.toldMax));

/** With `mend`, what was found and has been mended as its remedy says. */
export const inspectOutput = z.object({
  findings: z.array(finding).check(z.maxLength(roleLimits.toldMax)),
  /** How many more there are. */
  findingsHidden: z.int().check(z.nonnegative()),
  /** To `paths`: those under which the family keeps nothing. */
  unfit: z.optional(refusedPaths),
  /** To `paths`: those of files that the family makes from the others. An import leaves one that is there as it is. */
  derived: z.optional(z.array(z.string()).check(z.maxLength(roleLimits.toldMax))),
  /** To `incoming`: those that cannot be used as they are. The findings then tell of all other files. */
  refused: z.optional(refusedPaths),
});

export type InspectOutput = z.infer<typeof inspectOutput>;
export type InspectFinding = InspectOutput["findings"][number];

/** Puts a file of the trash back. The host takes it out of the trash together with this. */
export const restoreInput = z.strictObject({ trashed: z.string() });

export type RestoreInput = z.infer<typeof restoreInput>;

/** `path`: where it lies now, inside the scope. */
export const restoreOutput = z.object({ path: z.string() });

export type RestoreOutput = z.infer<typeof restoreOutput>;

/** What is judged of a tool with a role. */
export const roleSchemas = {
  index: { input: indexInput, output: indexOutput },
  entries: { input: entriesInput, output: entriesOutput },
  read: { input: readInput, output: readOutput },
  inspect: { input: inspectInput, output: inspectOutput },
  restore: { input: restoreInput, output: restoreOutput },
} as const satisfies Record<Role, { readonly input: z.ZodMiniType; readonly output: z.ZodMiniType }>;
