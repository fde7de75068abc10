/**
 * The memory of one person, Hanna, in 500 entries: those in `own-entries.txt`, written one by one, and others made from
 * `templates.txt`. Both are the same in every run.
 *
 * An own entry is `# name type: description`, then its body. A template is `= type count words of the name`, then the
 * description and the body's lines, followed by a blank line. `{list}` is an item of the list `@list: item | item`, the
 * same within an entry; `{list:2}` is the item's second part, after a semicolon. Of a line with `||`, one part is taken;
 * a line with `? ` is left out half of the time.
 */
import { readFileSync } from "node:fs";

import { seededRandom } from "../../support/seeded-random.ts";

export type EntryType = "user" | "feedback" | "project" | "reference";

export interface Entry {
  readonly name: string;
  readonly type: EntryType;
  readonly description: string;
  readonly body: string;
}

const random = seededRandom(500);

const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8").trimEnd();
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

/** In the order in which they are stored: own ones lie among the others. */
export const entries: readonly Entry[] = [...ownEntries(), ...templateEntries()]
  .map((entry) => ({ entry, place: random() }))
  .toSorted((one, other) => one.place - other.place)
  .map(({ entry }) => entry);

function ownEntries(): Entry[] {
  return textOf("own-entries.txt")
    .split(/^# /m)
    .slice(1)
    .map((text) => {
      const [head = "", ...body] = text.trimEnd().split("\n");
      const [, name = "", type, description = ""] = /^(\S+) (\w+): (.+)$/.exec(head) ?? [];
      return { name, type: type as EntryType, description, body: body.join("\n") };
    });
}

function templateEntries(): Entry[] {
  const blocks = textOf("templates.txt").split("\n\n");
  const lines = blocks.flatMap((block) => block.split("\n"));
  const lists = new Map(lines.flatMap((line) => listIn(line)));
  const made = new Map<string, Entry>();
  for (const block of blocks) {
    const template = block.split("\n").filter((line) => !line.startsWith("@"));
    const [, type, count, words = ""] = /^= (\w+) (\d+) (.+)$/.exec(template.shift() ?? "") ?? [];
    const wanted = made.size + Number(count ?? 0);
    for (let attempt = 0; made.size < wanted; attempt++) {
      if (attempt === 10_000) throw new RangeError(`The lists give fewer than ${count} names: ${words}`);
      const fill = filler(lists);
      const name = wordsOf(fill(words));
      if (!made.has(name)) made.set(name, fromTemplate(nameFrom(name), type as EntryType, template, fill));
    }
  }
  return [...made.values()];
}

type Lists = ReadonlyMap<string, readonly string[]>;

function listIn(line: string): [string, string[]][] {
  const [, name, items] = /^@(\w+): (.+)$/.exec(line) ?? [];
  return name && items ? [[name, items.split(" | ")]] : [];
}

/** Fills the gaps of one entry: a list gives it one item. */
function filler(lists: Lists): (text: string) => string {
  const chosen = new Map<string, string>();
  const fill = (text: string): string =>
    text.replace(/\{(\w+)(?::(\d))?\}/g, (_, list: string, part = "1") => {
      const item = chosen.get(list) ?? pick(lists.get(list) ?? [`no list ${list}`]);
      chosen.set(list, item);
      return fill(item.split(" ; ")[Number(part) - 1] ?? `no part ${part} in ${item}`);
    });
  return fill;
}

function fromTemplate(name: string, type: EntryType, template: string[], fill: (text: string) => string): Entry {
  const kept = template.filter((line) => !line.startsWith("? ") || random() < 0.5);
  const [description = "", ...body] = kept.map((line) => fill(pick(line.replace("? ", "").split(" || "))));
  return { name, type, description: capitalised(description), body: body.map(capitalised).join("\n") };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Names are ASCII. */
function wordsOf(text: string): string {
  const ascii = text.normalize("NFKD").replaceAll(/\p{M}|'/gu, "");
  return ascii
    .replaceAll(/[^a-zA-Z0-9]+/g, " ")
    .trim()
    .toLowerCase();
}

/** Agents do not agree on a style: kebab case is the most frequent, then snake case, then camel case. */
function nameFrom(words: string): string {
  const style = random();
  if (style < 0.5) return words.replaceAll(" ", "-");
  if (style < 0.8) return words.replaceAll(" ", "_");
  return words.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
}
