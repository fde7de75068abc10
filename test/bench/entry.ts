/** The entries that every contestant stores. */

/** About 1 KB of text. */
export const body: string = "All that is known about it. ".repeat(36);

export const entryName = (at: number): string => `e${at}`;

/** Differs in each round, so that every upsert changes something. */
export const describe = (at: number, round: number): string => `What entry ${at} says in round ${round}`;

export function upsertInput(at: number, round: number, text: string = body): Record<string, string> {
  return { action: "upsert", name: entryName(at), type: "user", description: describe(at, round), body: text };
}

export function entryText(at: number, description: string, text: string = body): string {
  return `---\nname: ${entryName(at)}\ndescription: ${description}\ntype: user\n---\n${text}`;
}

export const indexLine = (at: number, description: string): string =>
  `- [${entryName(at)}](${entryName(at)}.md) — ${description}\n`;

/** A folder's files for a program that remembers the descriptions and reads nothing back. */
export class KnownFolder {
  readonly #descriptions: string[] = [];

  /** The entry's description, or `undefined` for a new entry. */
  descriptionAt(at: number): string | undefined {
    return this.#descriptions[at];
  }

  /** The two files that an upsert changes: the entry's and the index. */
  change(at: number, round: number): [entry: [name: string, text: string], index: [name: string, text: string]] {
    const description = describe(at, round);
    this.#descriptions[at] = description;
    const lines = Array.from(this.#descriptions, (each, place) => indexLine(place, each ?? ""));
    return [
      [`${entryName(at)}.md`, entryText(at, description)],
      ["MEMORY.md", lines.join("")],
    ];
  }
}
