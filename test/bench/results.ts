/** What one run found, as `results/bench.json` holds it. */
import * as z from "zod/mini";

/** A bound and what was found. */
const target = z.strictObject({
  /** What was promised, in words. */
  text: z.string(),
  kind: z.enum(["at most", "at least"]),
  bound: z.number(),
  found: z.number(),
  unit: z.string(),
  isMet: z.boolean(),
});

const spread = z.tuple([z.number(), z.number()]);

const figure = z.strictObject({
  /** Names the figure for the picture and the README. Unique in its table. */
  key: z.string(),
  name: z.string(),
  /** What a reader must know to compare: transport, durability, and so on. */
  facts: z.record(z.string(), z.string()),
  median: z.number(),
  /** `null` where there are too few samples for one. */
  p99: z.nullable(z.number()),
  spread,
  /** Against the figure of the same table that `to` names. */
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
  /** How it was measured, and what could not be. */
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
    /** Of the folder in which most was measured. */
    fileSystem: z.string(),
  }),
  /** The same work in every round of every section, in milliseconds: what spreads here is the machine. */
  noise: z.array(noise),
  sections: z.array(sectionSchema),
});

export type Results = z.infer<typeof resultsSchema>;
export type Section = z.infer<typeof sectionSchema>;
export type Table = z.infer<typeof table>;
export type Figure = z.infer<typeof figure>;
export type Target = z.infer<typeof target>;
export type Noise = z.infer<typeof noise>;

/** Throws for a text that is no results of this form. */
export function parseResults(text: string): Results {
  return z.parse(resultsSchema, JSON.parse(text));
}

/** As the file holds it: four digits that count, which is more than the machine's noise leaves. */
export function formatResults(results: Results): string {
  return `${JSON.stringify(results, rounded, 2).replaceAll(pair, "[$1, $2]")}\n`;
}

/** Two numbers, as a range has them, on lines of their own. */
const pair = /\[\s+(-?[\d.e+-]+),\s+(-?[\d.e+-]+)\s+\]/g;

const rounded = (_key: string, value: unknown): unknown =>
  typeof value === "number" ? Number(value.toPrecision(4)) : value;
