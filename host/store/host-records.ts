/** What the host keeps about a user: files of the scope `.memcell`, which change with the next commit of the home. */
import type { EngineHome, StagedRecord } from "./engine.ts";
import { recordAt, recordPath } from "./home.ts";
import type { RecordKind } from "./home.ts";
import type { LoweredRun } from "./versions/present-origins.ts";

/**
 * Small files of the host's own about a user, beside the scopes: no guest can name them, no list, search or export has
 * them, and an erasure removes them with the user. A name is 1 to 64 characters `[a-z0-9-]`. What is written here is read
 * here at once, and is durable with the next commit of the home. Must not be used after the work has ended.
 */
export class HostRecords {
  readonly #home: EngineHome;
  readonly #commit: () => Promise<void>;
  /** By path. */
  readonly #written = new Map<string, StagedRecord>();
  #lowered: LoweredRun[] = [];
  /** As they are on the medium. Nobody else changes them while the home is held. */
  readonly #sizes = new Map<RecordKind, ReadonlyMap<string, number>>();

  /** `commit` makes a commit of the home that changes nothing else. */
  constructor(home: EngineHome, commit: () => Promise<void>) {
    this.#home = home;
    this.#commit = commit;
  }

  /** Sorted. */
  async names(kind: RecordKind): Promise<string[]> {
    return [...(await this.sizes(kind)).keys()];
  }

  /** The bytes of all records of a kind, by name. Reads none of them. */
  async sizes(kind: RecordKind): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map(await this.#known(kind));
    for (const written of this.#written.values()) {
      if (written.kind !== kind) continue;
      if (written.text === null) sizes.delete(written.name);
      else sizes.set(written.name, Buffer.byteLength(written.text));
    }
    return new Map([...sizes].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** `null` if there is none. What it returns can be anything: people and other programs can write to a disk. */
  async read(kind: RecordKind, name: string): Promise<string | null> {
    const written = this.#written.get(checkedPath(kind, name));
    return written === undefined ? await this.#home.readRecord(kind, name) : written.text;
  }

  /** Replaces a record, or makes one. */
  async write(kind: RecordKind, name: string, text: string): Promise<void> {
    this.#written.set(checkedPath(kind, name), { kind, name, text });
  }

  /** Removes a record. Does nothing if there is none. */
  async remove(kind: RecordKind, name: string): Promise<void> {
    const path = checkedPath(kind, name);
    if ((await this.#known(kind)).has(name)) this.#written.set(path, { kind, name, text: null });
    else this.#written.delete(path);
  }

  async #known(kind: RecordKind): Promise<ReadonlyMap<string, number>> {
    const sizes = this.#sizes.get(kind) ?? (await this.#home.recordSizes(kind));
    this.#sizes.set(kind, sizes);
    return sizes;
  }

  /** The runs whose trust has fallen, by the user's history; the last comes last. `isWhole`: none of its versions is missing. */
  async loweredRuns(): Promise<{ readonly runs: readonly LoweredRun[]; readonly isWhole: boolean }> {
    const { history } = this.#home;
    return { runs: [...(await history.loweredRuns()), ...this.#lowered], isWhole: !history.state().isBroken };
  }

  /** Adds to the user's history that the trust of a run has fallen. */
  async noteLowered(lowered: LoweredRun): Promise<void> {
    this.#lowered.push(lowered);
  }

  /** Commits what is staged, and nothing else. Does nothing if nothing is. */
  async commit(): Promise<void> {
    if (this.#written.size + this.#lowered.length > 0) await this.#commit();
  }

  /** Forgets what is staged. */
  drop(): void {
    this.take();
  }

  /** What is staged. Afterwards nothing is. */
  take(): { readonly records: readonly StagedRecord[]; readonly lowered: readonly LoweredRun[] } {
    const staged = { records: [...this.#written.values()], lowered: this.#lowered };
    this.#written.clear();
    this.#sizes.clear();
    this.#lowered = [];
    return staged;
  }
}

/** Throws a `RangeError` for a name that no record has. */
function checkedPath(kind: RecordKind, name: string): string {
  const path = recordPath(kind, name);
  if (recordAt(path) === null) throw new RangeError("A record's name has 1 to 64 characters a-z, 0-9 and -");
  return path;
}
