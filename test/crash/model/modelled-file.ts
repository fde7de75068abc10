/** A disk's clock is the number of its effects. */
export interface FileTimes {
  /** When the content was last written. */
  readonly writtenAt: number;
  /** The same, or when the file last got a name. */
  readonly changedAt: number;
}

/**
 * One file's bytes as a crash may leave them. Every write creates a version. For each 512-byte sector the disk holds
 * some version since the last flushed one, and the size may come from another version.
 *
 * A flush that fails leaves its pages clean, as Linux does: a later flush does not write them again.
 */
interface Version {
  readonly at: number;
  readonly content: Buffer;
  readonly pages: readonly number[];
}

interface Page {
  /** The version that is certainly on the disk. */
  safe: number;
  /** The version that the system assumes to be on the disk. */
  tried: number;
}

const sectorBytes = 512;
const pageBytes = 4096;

export class ModelledFile {
  #versions: Version[];
  /** The number of the oldest version that this object keeps. */
  #base = 0;
  #pages = new Map<number, Page>();
  #safeSize = 0;
  /** A crash leaves the newest times. */
  times: FileTimes;

  constructor(durable: Buffer = Buffer.alloc(0), times: FileTimes = { writtenAt: 0, changedAt: 0 }) {
    this.#versions = [{ at: -1, content: durable, pages: [] }];
    this.times = times;
  }

  clone(): ModelledFile {
    const copy = new ModelledFile();
    copy.#versions = [...this.#versions];
    copy.#base = this.#base;
    copy.#pages = new Map(Array.from(this.#pages, ([at, page]) => [at, { ...page }]));
    copy.#safeSize = this.#safeSize;
    copy.times = this.times;
    return copy;
  }

  get content(): Buffer {
    return this.#content(this.#newest);
  }

  get isDurable(): boolean {
    return this.#newest === this.#base;
  }

  write(count: number, at: number, bytes: Buffer): void {
    const old = this.content;
    const content = Buffer.alloc(Math.max(old.length, at + bytes.length));
    old.copy(content);
    bytes.copy(content, at);
    this.#add(count, content, at, at + bytes.length);
  }

  truncate(count: number, bytes: number): void {
    const old = this.content;
    const content = Buffer.alloc(bytes);
    old.copy(content);
    this.#add(count, content, Math.min(bytes, old.length), Math.max(bytes, old.length));
  }

  flush(upTo: number, isOk: boolean): void {
    const covered = this.#base + this.#versions.findLastIndex(({ at }) => at < upTo);
    for (const [at, page] of this.#pages) {
      const isDirty = this.#versions.some(({ pages }, index) => {
        const number = this.#base + index;
        return number > page.tried && number <= covered && pages.includes(at);
      });
      if (!isDirty) continue;
      page.tried = covered;
      if (isOk) page.safe = covered;
    }
    if (isOk) this.#safeSize = covered;
    if (isOk && [...this.#pages.values()].every(({ safe, tried }) => safe === tried)) this.#forgetBefore(covered);
  }

  /** The bytes if `pick` chooses the version of each sector and of the size. */
  after(pick: { sector: Pick; size: Pick }): Buffer {
    const size = this.#content(pick.size(0, this.#safeSize, this.#newest)).length;
    const result = Buffer.alloc(size);
    for (let at = 0; at < size; at += sectorBytes) {
      const safe = Math.max(this.#base, this.#pages.get(Math.floor(at / pageBytes))?.safe ?? this.#base);
      const source = this.#content(pick.sector(at / sectorBytes, safe, this.#newest));
      if (at < source.length) source.copy(result, at, at, Math.min(at + sectorBytes, size));
    }
    return result;
  }

  /** The sectors that are not certain, in order. */
  get openSectors(): number[] {
    const sectors: number[] = [];
    const pages = Array.from(this.#pages).filter(([, { safe }]) => safe < this.#newest);
    for (const [page, { safe }] of pages.toSorted(([a], [b]) => a - b)) {
      const [old, now] = [this.#content(Math.max(safe, this.#base)), this.content];
      for (let at = page * pageBytes; at < Math.min((page + 1) * pageBytes, now.length); at += sectorBytes) {
        const end = at + sectorBytes;
        if (!old.subarray(at, end).equals(now.subarray(at, end))) sectors.push(at / sectorBytes);
      }
    }
    return sectors;
  }

  get #newest(): number {
    return this.#base + this.#versions.length - 1;
  }

  #content(version: number): Buffer {
    return this.#versions[version - this.#base]?.content ?? Buffer.alloc(0);
  }

  #add(at: number, content: Buffer, from: number, to: number): void {
    const pages: number[] = [];
    for (let page = Math.floor(from / pageBytes); page * pageBytes < to; page++) {
      pages.push(page);
      if (!this.#pages.has(page)) this.#pages.set(page, { safe: this.#base, tried: this.#newest });
    }
    this.#versions.push({ at, content, pages });
    this.times = { writtenAt: at, changedAt: at };
  }

  #forgetBefore(version: number): void {
    this.#versions = this.#versions.slice(version - this.#base);
    this.#base = version;
    const later = new Set(this.#versions.slice(1).flatMap(({ pages }) => pages));
    for (const [at, page] of this.#pages) {
      if (later.has(at)) Object.assign(page, { safe: version, tried: version });
      else this.#pages.delete(at);
    }
  }
}

/** Chooses a version for a place, between the oldest that may still be on the disk and the newest. */
export type Pick = (place: number, oldest: number, newest: number) => number;
