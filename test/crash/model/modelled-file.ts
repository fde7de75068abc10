/** A disk's clock is the number of its effects. */
export interface FileTimes {
  /** When the content was last written. */
  readonly writtenAt: number;
  /** The same, or when the file last got a name. */
  readonly changedAt: number;
}

interface Version<Value> {
  readonly at: number;
  readonly value: Value;
}

/** A sector, or the size. */
interface Place<Value> {
  /** From the one that is certainly on the disk to the newest: a crash leaves any of them. */
  readonly versions: readonly Version<Value>[];
  /** Whether a flush writes it. One that fails leaves pages clean, as Linux does: a later flush does not write them. */
  readonly isDirty: boolean;
}

/** Chooses among the versions of a place: returns an index. */
export type Pick = (place: number, versions: readonly Version<unknown>[]) => number;

export const newest: Pick = (_place, versions) => versions.length - 1;

const sectorBytes = 512;
const pageBytes = 4096;

/** One file's bytes as a crash may leave them. */
export class ModelledFile {
  #sectors: Place<Buffer>[] = [];
  #size: Place<number>;
  /** A crash leaves the newest times. */
  times: FileTimes;

  constructor(durable: Buffer = Buffer.alloc(0), times: FileTimes = { writtenAt: 0, changedAt: 0 }) {
    for (let at = 0; at * sectorBytes < durable.length; at++) this.#sectors.push(certain(sectorOf(durable, at)));
    this.#size = certain(durable.length);
    this.times = times;
  }

  clone(): ModelledFile {
    const copy = new ModelledFile();
    copy.#sectors = [...this.#sectors];
    copy.#size = this.#size;
    copy.times = this.times;
    return copy;
  }

  get content(): Buffer {
    return this.after({ sector: newest, size: newest });
  }

  get isDurable(): boolean {
    return [this.#size, ...this.#sectors].every(({ versions }) => versions.length === 1);
  }

  write(count: number, at: number, bytes: Buffer): void {
    const old = this.content;
    const content = Buffer.concat([old], Math.max(old.length, at + bytes.length));
    bytes.copy(content, at);
    this.#become(count, content, [at, at + bytes.length]);
  }

  truncate(count: number, bytes: number): void {
    const old = this.content;
    this.#become(count, Buffer.concat([old], bytes), [Math.min(bytes, old.length), Math.max(bytes, old.length)]);
  }

  flush(upTo: number, isOk: boolean): void {
    this.#sectors = this.#sectors.map((place) => (place.isDirty ? flushed(place, upTo, isOk) : place));
    if (isOk) this.#size = flushed(this.#size, upTo, isOk);
  }

  /** The bytes if `pick` chooses the version of each sector and of the size. */
  after({ sector, size }: { readonly sector: Pick; readonly size: Pick }): Buffer {
    const sectors = this.#sectors.map((place, at) => chosen(place, at, sector));
    return Buffer.concat(sectors, chosen(this.#size, 0, size));
  }

  /** The sectors that are not certain, in order. */
  get openSectors(): number[] {
    return this.#sectors.flatMap(({ versions }, at) => (versions.length > 1 ? [at] : []));
  }

  /** All pages are dirty in which something is written. */
  #become(count: number, content: Buffer, [from, to]: readonly [number, number]): void {
    const sectorsInPage = pageBytes / sectorBytes;
    const end = Math.ceil(to / pageBytes) * sectorsInPage;
    for (let at = Math.floor(from / pageBytes) * sectorsInPage; at < end; at++) {
      const { versions } = this.#sectors[at] ?? certain(Buffer.alloc(sectorBytes));
      this.#sectors[at] = { versions: changed(versions, count, sectorOf(content, at)), isDirty: true };
    }
    this.#size = { versions: changed(this.#size.versions, count, content.length), isDirty: true };
    this.times = { writtenAt: count, changedAt: count };
  }
}

/** Filled up with zeros. */
const sectorOf = (content: Buffer, at: number): Buffer =>
  Buffer.concat([content.subarray(at * sectorBytes, (at + 1) * sectorBytes)], sectorBytes);

const certain = <Value>(value: Value): Place<Value> => ({ versions: [{ at: -1, value }], isDirty: false });

function changed<Value extends Buffer | number>(
  versions: readonly Version<Value>[],
  at: number,
  value: Value,
): readonly Version<Value>[] {
  const now = versions.at(-1)?.value;
  const isSame = Buffer.isBuffer(value) ? Buffer.isBuffer(now) && value.equals(now) : value === now;
  return isSame ? versions : [...versions, { at, value }];
}

function flushed<Value>({ versions }: Place<Value>, upTo: number, isOk: boolean): Place<Value> {
  const covered = versions.findLastIndex(({ at }) => at < upTo);
  return { versions: isOk ? versions.slice(covered) : versions, isDirty: covered < versions.length - 1 };
}

function chosen<Value>({ versions }: Place<Value>, place: number, pick: Pick): Value {
  const version = versions[pick(place, versions)];
  if (version === undefined) throw new RangeError("There is no such version of a place");
  return version.value;
}
