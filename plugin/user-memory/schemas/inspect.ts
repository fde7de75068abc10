/** Input and output of `InspectMemory`, which a host calls for its doctor, for exports and for imports. */
import * as z from "../../../shared/zod.ts";

const allowed = "mend, which is true or false, and paths and incoming, which are lists of texts";

/** Made for each call, of which there are few: made once, it would be a part of every instance. */
export const inspectInput = () => {
  const paths = z.optional(z.array(z.string({ error: allowed }), { error: allowed }));
  return z.strictObject({ mend: z.boolean({ error: allowed }), paths, incoming: paths }, { error: allowed });
};

export type InspectMemoryInput = z.infer<ReturnType<typeof inspectInput>>;

/** What may be wrong with a user's files, as the tool that knows their format sees it. */
export const memoryProblems = [
  "index-missing",
  "index-unreadable",
  "line-without-entry",
  "line-repeated",
  "entry-without-line",
  "entry-unreadable",
  "entry-too-large",
  "names-differ-by-case",
] as const;

export const memoryFinding = z.strictObject({
  problem: z.enum(memoryProblems),
  /** The file, inside the memory folder. */
  path: z.string(),
  /** What is wrong, in a sentence. */
  message: z.string(),
  /** What mending does, in a sentence; `null` when only a person can help. */
  remedy: z.nullable(z.string()),
});

export type MemoryFinding = z.infer<typeof memoryFinding>;

const refusedPath = z.strictObject({
  /** Inside the memory folder; empty for what is wrong with all of them together. */
  path: z.string(),
  code: z.enum(["INPUT_INVALID", "NAME_RESERVED", "NAME_CONFLICT", "ENTRY_UNREADABLE", "QUOTA_EXCEEDED"]),
  /** As a clause about "it". */
  reason: z.string(),
});

export type RefusedPath = z.infer<typeof refusedPath>;

/** With `mend`, what was found and has been mended as its remedy says. */
export const inspectOutput = z.strictObject({
  findings: z.array(memoryFinding),
  /** How many more there are. */
  findingsHidden: z.int(),
  /** To `paths`: those under which this family keeps nothing. */
  unfit: z.optional(z.array(refusedPath)),
  /** To `paths`: the index, if it is among them. */
  derived: z.optional(z.array(z.string())),
  /** To `incoming`: those that cannot be used as they are. With any of them nothing is mended. */
  refused: z.optional(z.array(refusedPath)),
});

export type InspectMemoryOutput = z.infer<typeof inspectOutput>;
