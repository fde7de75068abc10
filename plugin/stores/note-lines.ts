/** What a note has besides other entries, in its front matter: a line about it, and who wrote it. */
export const noteSources = ["tool", "compaction", "owner"] as const;
export type NoteSource = (typeof noteSources)[number];

export interface Note {
  /** Empty, or one line. */
  readonly description: string;
  readonly source: NoteSource;
}

export const noteKeys: readonly string[] = ["description", "source"];

/** The lines of `noteLines`, as a part of a regular expression with two groups. */
export const notePattern: string = String.raw`(?:description: ("(?:[^"\\\n]|\\.)*")\nsource: (${noteSources.join("|")})\n)?`;

export const noteLines = ({ description, source }: Note): string[] => [
  `description: ${JSON.stringify(description)}`,
  `source: ${source}`,
];

/** The note that the groups of `notePattern` hold; `null` if it is not what `noteLines` writes. */
export function noteIn([description, source]: readonly (string | undefined)[]): Note | undefined | null {
  if (description === undefined) return undefined;
  try {
    return noteOf(source ?? null, JSON.parse(description) as string) ?? null;
  } catch {
    return null;
  }
}

/** `undefined` without one of the sources. */
export function noteOf(source: string | null, description: string | null): Note | undefined {
  const known = noteSources.find((each) => each === source);
  return known && { description: description ?? "", source: known };
}
