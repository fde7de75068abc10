import { lengthOf, weightsOf } from "./entry-words.ts";
import type { IndexFile } from "./index-file.ts";
import { hasTimeOfFile, notIndexed, withoutRoom } from "./index-row.ts";
import type { IndexRow } from "./index-row.ts";
import { noPostings, weightsIn, withoutRows, withRows } from "./postings.ts";
import type { PostingLines } from "./postings.ts";
import { searchLimits } from "./search-limits.ts";
import type { SearchedEntry } from "./searched.ts";

type Stems = ReadonlyMap<string, number>;

/** How a file of an entry was when its words were taken. */
export type FileFacts = Pick<IndexRow, "path" | "bytes" | "changedUs">;

/** An index file that is about to be written again. The postings change only once, at the end. */
export class EditedIndex {
  readonly #rows: (IndexRow | null)[];
  readonly #lines: PostingLines;
  /** The numbers of rows whose postings go. */
  readonly #removed = new Set<number>();
  readonly #added = new Map<number, Stems>();
  #isChanged = false;
  /** About the length of the file. */
  #units: number;
  /** What the postings of a row took on average when the file was read. */
  readonly #unitsPerRow: number;

  /** `bytes`: the length of the file. */
  constructor(file: IndexFile | null, bytes: number) {
    this.#rows = file?.rows.slice() ?? [];
    this.#lines = file?.lines ?? noPostings;
    this.#units = bytes;
    this.#unitsPerRow = this.#lines.length / Math.max(1, this.#rows.length);
  }

  get rows(): IndexRow[] {
    return this.#rows.filter((row) => row !== null);
  }

  /** Whether an entry was put or removed. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  get units(): number {
    return this.#units;
  }

  /** Adds or replaces an entry. Of `null`, and of an entry without room for its words, only the facts are kept. */
  put(facts: FileFacts, entry: SearchedEntry | null): void {
    if (!entry) return this.#set({ ...facts, notAfterUs: 0, expiresMs: null, updatedMs: 0, length: 0 }, null);
    const { expiresMs, updatedMs } = entry;
    this.#set({ ...facts, notAfterUs: 0, expiresMs, updatedMs, length: lengthOf(entry) }, weightsOf(entry));
  }

  setChangedUs(row: IndexRow, changedUs: number): void {
    if (row.changedUs !== changedUs) this.#rows[this.#rows.indexOf(row)] = { ...row, changedUs, notAfterUs: 0 };
  }

  /** Keeps what the file's own time says of its rows, because it gets another. `changedUs`: that time. */
  keepTime(changedUs: number): void {
    this.#rows.forEach((row, number) => {
      if (row !== null && hasTimeOfFile(row)) this.#rows[number] = { ...row, notAfterUs: changedUs };
    });
  }

  remove(path: string): void {
    const number = this.#rows.findIndex((row) => row?.path === path);
    if (number === -1) return;
    const added = this.#added.get(number);
    this.#units -= (added ? unitsOf(added) : this.#unitsPerRow) + unitsOfRow({ path });
    this.#isChanged = true;
    this.#rows[number] = null;
    this.#removed.add(number);
    this.#added.delete(number);
  }

  moveTo(other: EditedIndex, isMoved: (path: string) => boolean): void {
    const { rows, lines } = this.content;
    const numbers = [...rows.keys()].filter((number) => isMoved(rows[number]?.path ?? ""));
    for (const [number, stems] of weightsIn(lines, numbers)) {
      const row = rows[number];
      if (!row) continue;
      other.#set(row, stems);
      this.remove(row.path);
    }
  }

  get content(): IndexFile {
    const lines = withRows(withoutRows(this.#lines, [...this.#removed]), this.#added);
    return { rows: this.#rows.slice(0, this.#rows.findLastIndex((row) => row !== null) + 1), lines };
  }

  #set(row: IndexRow, stems: Stems | null): void {
    this.remove(row.path);
    const free = this.#rows.indexOf(null);
    const number = free === -1 ? this.#rows.length : free;
    const units = stems ? unitsOf(stems) : 0;
    this.#units += unitsOfRow(row);
    const fits = this.#units + units <= searchLimits.postingUnitsMax;
    this.#isChanged = true;
    this.#rows[number] = fits ? row : { ...row, changedUs: timeWithoutRoom(row) };
    if (!fits || !stems) return;
    this.#added.set(number, stems);
    this.#units += units;
  }
}

const timeWithoutRoom = ({ changedUs }: IndexRow): number => (changedUs > 0 ? withoutRoom(changedUs) : notIndexed);

/** About what a row of the table takes: a store of entries with few words has hardly anything else. */
const unitsOfRow = ({ path }: Pick<IndexRow, "path">): number => path.length + 60;

/** About what an entry's postings take: each stem, a number, and at times a line of its own. */
function unitsOf(stems: Stems): number {
  return Array.from(stems.keys()).reduce((units, stem) => units + stem.length + 4, 0);
}
