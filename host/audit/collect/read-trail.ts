/** Reads the trails of a call's guests in the main thread when they have ended, and sums them up. */
import { auditLimits } from "../../../shared/limits.ts";
import type { CallEntry, UseEntry } from "../audit-record.ts";
import { aligned, entryHeadBytes, noFile, regions, words } from "./trail-memory.ts";
import type { Trail } from "./trail-memory.ts";

type Refusal = Pick<UseEntry, "capability" | "code" | "scope" | "path">;

/** The capability uses of one guest. */
export interface Uses extends Pick<CallEntry, "reads" | "lists" | "writes" | "trashed"> {
  /** The denied and failed uses that the trail had room for. */
  readonly refusals: readonly Refusal[];
  readonly denied: number;
  readonly failed: number;
  /** How many successful uses the trail had no room for: reads and lists here, changes below. */
  readonly looksNotShown: number;
  readonly changesNotShown: number;
}

/** Reads a closed trail. */
export function readTrail(trail: Trail): Uses {
  const word = (index: number): number => Atomics.load(trail.words, index);
  const uses: Uses = {
    reads: [],
    lists: [],
    writes: [],
    trashed: [],
    refusals: entriesOf(trail, "refusals").map(({ text }) => refusalOf(text)),
    denied: word(words.denied),
    failed: word(words.failed),
    looksNotShown: word(words.looksNotShown),
    changesNotShown: word(words.changesNotShown),
  };
  for (const entry of entriesOf(trail, "uses")) addUse(uses, entry);
  return uses;
}

interface Entry {
  readonly text: string;
  readonly bytes: number;
}

function entriesOf({ words: all, bytes }: Trail, name: keyof typeof regions): Entry[] {
  const { start, endWord } = regions[name];
  const end = start + Atomics.load(all, endWord);
  const entries: Entry[] = [];
  for (let at = start; at < end;) {
    const textAt = at + entryHeadBytes;
    const textEnd = textAt + Atomics.load(all, at / 4);
    entries.push({ text: bytes.toString("latin1", textAt, textEnd), bytes: Atomics.load(all, at / 4 + 1) });
    at = aligned(textEnd);
  }
  return entries;
}

function addUse(uses: Uses, { text, bytes }: Entry): void {
  const [letter, scope = "", path = "", trashed = ""] = text.split("\n");
  if (letter === "r") uses.reads.push({ scope, path, bytes: bytes === noFile ? null : bytes });
  if (letter === "l") uses.lists.push({ scope, prefix: path, files: bytes });
  if (letter === "w") uses.writes.push({ scope, path, bytes });
  if (letter === "t") uses.trashed.push({ scope, path, bytes, trashed });
}

function refusalOf(text: string): Refusal {
  const [capability, code, scope, path] = JSON.parse(text) as [
    Refusal["capability"],
    Refusal["code"],
    Refusal["scope"],
    Refusal["path"],
  ];
  return { capability, code, scope, path };
}

/**
 * The uses of all guests of a call. There are several when a person edited the files meanwhile: the call then ran
 * again. Reads of every guest count, but only the changes of the last one can be committed.
 */
export class TotalUses {
  readonly #reads = new Map<string, CallEntry["reads"][number]>();
  readonly #lists = new Map<string, CallEntry["lists"][number]>();
  writes: CallEntry["writes"] = [];
  trashed: CallEntry["trashed"] = [];
  changesNotShown = 0;
  /** All uses without room, except staged changes. */
  notShown = 0;
  denied = 0;
  failed = 0;

  add(uses: Uses): void {
    for (const read of uses.reads) this.#keep(this.#reads, `${read.scope}:${read.path}`, read);
    for (const list of uses.lists) this.#keep(this.#lists, `${list.scope}:${list.prefix}`, list);
    this.writes = uses.writes;
    this.trashed = uses.trashed;
    this.changesNotShown = uses.changesNotShown;
    this.denied += uses.denied;
    this.failed += uses.failed;
    this.notShown += uses.looksNotShown + uses.denied + uses.failed - uses.refusals.length;
  }

  get reads(): CallEntry["reads"] {
    return [...this.#reads.values()];
  }

  get lists(): CallEntry["lists"] {
    return [...this.#lists.values()];
  }

  #keep<Use>(kept: Map<string, Use>, key: string, use: Use): void {
    if (kept.has(key) || kept.size < auditLimits.recordUsesMax) kept.set(key, use);
    else this.notShown++;
  }
}
