/** The results of one run, in the form of `results/bench.json`. */

/** A bound and the figure found. */
export interface Target {
  /** The bound in words. */
  readonly text: string;
  readonly kind: "at most" | "at least";
  readonly bound: number;
  readonly found: number;
  readonly unit: string;
  readonly isMet: boolean;
}

export type Range = readonly [low: number, high: number];

export interface Figure {
  /** Unique in its table. */
  readonly key: string;
  readonly name: string;
  readonly median: number;
  /** `null` if there are too few samples. */
  readonly p99: number | null;
  /** The lowest and the highest median of a round. */
  readonly spread: Range;
  /** Compared with the figure of the same table that `to` names. */
  readonly compared: {
    readonly to: string;
    readonly unit: string;
    readonly value: number;
    readonly spread: Range;
  } | null;
  readonly targets: readonly Target[];
}

export interface Table {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly figures: readonly Figure[];
}

export interface Section {
  readonly title: string;
  /** How it was measured, and what could not be measured. */
  readonly notes: readonly string[];
  readonly tables: readonly Table[];
}

export interface Results {
  readonly effort: "full" | "quick";
  readonly rounds: number;
  readonly machine: {
    readonly cores: number;
    readonly cpu: string;
    readonly node: string;
    readonly system: string;
    /** That of the folder used for most measurements. */
    readonly fileSystem: string;
  };
  readonly sections: readonly Section[];
}

/** The file's text, with four significant digits, which is more than the machine's noise allows. */
export function formatResults(results: Results): string {
  return `${JSON.stringify(results, rounded, 2).replaceAll(pair, "[$1, $2]")}\n`;
}

/** Matches a range's two numbers on separate lines. */
const pair = /\[\s+(-?[\d.e+-]+),\s+(-?[\d.e+-]+)\s+\]/g;

const rounded = (_key: string, value: unknown): unknown =>
  typeof value === "number" ? Number(value.toPrecision(4)) : value;
