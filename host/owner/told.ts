/** What a person reads of a result. Whoever shows it makes hidden characters visible: nothing here is escaped. */

/** Lines, and what is more than a line. */
export type Told = readonly (string | ToldTable | ToldText | ToldDifference)[];

export interface ToldTable {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the last column is cut to the terminal. Default: no. */
  readonly isCut?: boolean;
  /** The columns with numbers, which are aligned to the right. Default: none. */
  readonly numbers?: readonly number[];
}

/** A whole text, as somebody has written it. */
export interface ToldText {
  readonly text: string;
}

/** Lines of a unified diff. */
export interface ToldDifference {
  readonly difference: readonly string[];
}

/** A time as people read it, in the time zone of the process: `20 Nov 2026, 10:05`. */
export const shownTime = (at: Date): string =>
  at.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

/** The same without the time of day. */
export const shownDay = (at: Date): string =>
  at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** How many there are of what, without those of which there is none: "2 restored, 1 kept". */
export const countsOf = (lists: Readonly<Record<string, { readonly length: number }>>): string =>
  Object.entries(lists)
    .flatMap(([what, { length }]) => (length > 0 ? [`${length} ${what}`] : []))
    .join(", ");
