/** Input and output of `InspectMemory`, which the host calls for its doctor. */
import * as z from "../zod.ts";

export const inspectInput = z.strictObject({ mend: z.boolean() }, { error: "mend, which is true or false" });

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

/** With `mend`, what was found and has been mended as its remedy says. */
export const inspectOutput = z.strictObject({
  findings: z.array(memoryFinding),
  /** How many more there are. */
  findingsHidden: z.int(),
});

export type InspectMemoryOutput = z.infer<typeof inspectOutput>;
