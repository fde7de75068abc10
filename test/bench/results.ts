/** The results of one run, in the form of `results/bench.json`. */
import * as z from "zod/mini";

/** A bound and the figure found. */
const target = z.strictObject({
  /** The bound in words. */
  text: z.string(),
  kind: z.enum(["at most", "at least"]),
  bound: z.number(),
  found: z.number(),
  unit: z.string(),
  isMet: z.boolean(),
});

const spread = z.tuple([z.number(), z.number()]);

const figure = z.strictObject({
  /** Identifies the figure for the picture and the README. Unique in its table. */
  key: z.string(),
  name: z.string(),
  /** Facts that a reader needs for comparing, such as transport and durability. */
  facts: z.record(z.string(), z.string()),
  median: z.number(),
  /** `null` if there are too few samples. */
  p99: z.nullable(z.number()),
  spread,
  /** Compared with the figure of the same table that `to` names. */
  compared: z.nullable(z.strictObject({ to: z.string(), unit: z.string(), value: z.number(), spread })),
  targets: z.array(target),
});

const table = z.strictObject({
  key: z.string(),
  title: z.string(),
  unit: z.string(),
  figures: z.array(figure),
});

export const sectionSchema = z.strictObject({
  number: z.int(),
  title: z.string(),
  /** How it was measured, and what could not be measured. */
  notes: z.array(z.string()),
  tables: z.array(table),
});

const noise = z.strictObject({ name: z.string(), median: z.number(), p99: z.number(), spread });

export const resultsSchema = z.strictObject({
  effort: z.enum(["full", "quick"]),
  rounds: z.int(),
  machine: z.strictObject({
    cores: z.int(),
    cpu: z.string(),
    node: z.string(),
    system: z.string(),
    /** The file system of the folder used for most measurements. */
    fileSystem: z.string(),
  }),
  /** The time of the same work in every round of every section, in milliseconds. Its spread is the machine's noise. */
  noise: z.array(noise),
  sections: z.array(sectionSchema),
});

export type Results = z.infer<typeof resultsSchema>;
export type Section = z.infer<typeof sectionSchema>;
export type Table = z.infer<typeof table>;
export type Figure = z.infer<typeof figure>;
export type Target = z.infer<typeof target>;
export type Noise = z.infer<typeof noise>;

/** Throws for text that does not match the schema. */
export function parseResults(text: string): Results {
  return z.parse(resultsSchema, JSON.parse(text));
}

/** The file's text, with four significant digits, which is more than the machine's noise allows. */
export function formatResults(results: Results): string {
  return `${JSON.stringify(results, rounded, 2).replaceAll(pair, "[$1, $2]")}\n`;
}

/** Matches a range's two numbers on separate lines. */
const pair = /\[\s+(-?[\d.e+-]+),\s+(-?[\d.e+-]+)\s+\]/g;

const rounded = (_key: string, value: unknown): unknown =>
  typeof value === "number" ? Number(value.toPrecision(4)) : value;

/** Finds a figure by its table's key and its own. Returns `undefined` when its section did not run. */
export function figureAt({ sections }: Results, ofTable: string, ofFigure: string): Figure | undefined {
  const tables = sections.flatMap((section) => section.tables);
  return tables.find(({ key }) => key === ofTable)?.figures.find(({ key }) => key === ofFigure);
}
