/** Plans the changes that import files into a scope. Only reads. */
import { storeLimits } from "../../shared/limits.ts";
import { isScopePath, isTrashPath, parseTrashPath } from "../../shared/path.ts";
import { transferLimits } from "../archive/transfer-limits.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { MemoryFile, UnreadFile } from "../values/memory-file.ts";
import { trashPaths } from "../values/trash-path.ts";
import { giveTurn } from "../values/turns.ts";
import { FilePlaces } from "./file-places.ts";
import type { RefusedFile } from "./memory-files.ts";

export interface ImportTask {
  readonly scope: string;
  /** The files of this scope only. */
  readonly files: readonly UnreadFile[];
  /** The paths of files that the scope's plugin makes from the others. */
  readonly derived: ReadonlySet<string>;
  /** Whether the scope's plugin is asked about the files, and can make others from them. */
  readonly isInspected: boolean;
  /** Whether an existing file goes to the trash. */
  readonly replaces: boolean;
}

/** `bytes`: those of the files that are written. Paths are inside the scope; an empty path means all files together. */
export type PlannedFiles = Pick<
  ImportPlanner,
  "created" | "replaced" | "skipped" | "trashed" | "refused" | "changes" | "bytes"
>;

/** The same, with the contents of its files. */
export interface ReadTask extends Omit<ImportTask, "files"> {
  readonly files: readonly MemoryFile[];
  /** What is refused whatever is there. Then no file is planned. */
  readonly refused: readonly RefusedFile[];
}

/** `epochMs`: when what is replaced was trashed. */
export async function planImport(reader: HeldHome, task: ReadTask, epochMs: number): Promise<PlannedFiles> {
  const planner = new ImportPlanner(reader, task, epochMs);
  planner.refused.push(...task.refused);
  if (planner.refused.length === 0) await planner.addAll();
  return planner;
}

class ImportPlanner {
  readonly created: string[] = [];
  readonly replaced: string[] = [];
  readonly skipped: string[] = [];
  readonly trashed: string[] = [];
  readonly refused: RefusedFile[] = [];
  readonly changes: SizedChange[] = [];
  bytes = 0;
  readonly #reader: HeldHome;
  readonly #task: ReadTask;
  readonly #epochMs: number;
  /** Of every existing or imported file. */
  readonly #places = new FilePlaces([]);
  /** Digests of the trashed files that were read; `null` if there is no file. */
  readonly #digests = new Map<string, string | null>();

  constructor(reader: HeldHome, task: ReadTask, epochMs: number) {
    this.#reader = reader;
    this.#task = task;
    this.#epochMs = epochMs;
  }

  async addAll(): Promise<void> {
    const { scope, files } = this.#task;
    const present = (await this.#reader.survey(scope)).files.map(({ path }) => path);
    for (const path of [...files.map((file) => file.path), ...present]) {
      await giveTurn();
      this.#places.add(path);
    }
    for (const file of files) await this.#add(file);
    await this.#checkQuotas(present.filter((path) => !isTrashPath(path)).length);
  }

  async #add(file: MemoryFile): Promise<void> {
    const { path, content } = file;
    const there = await this.#reader.bytesOf(this.#task.scope, path);
    const twin = this.#places.at(path);
    if (there !== null && Buffer.compare(there, content) === 0) this.skipped.push(path);
    else if (this.#places.nestedWith(path) !== null) this.#refuse(path, "a file and a folder would have the same name");
    else if (isTrashPath(path)) await this.#addTrashed(file, there !== null || twin !== path);
    else if (twin !== null && twin !== path) this.#refuse(path, `"${twin}" is there, which differs only by case`);
    else if (there === null) this.#create(file);
    else if (this.#task.derived.has(path)) this.skipped.push(path);
    else if (this.#task.replaces) await this.#replace(file, there);
    else this.#refuse(path, "an entry of this name is there with other content");
  }

  /** Refuses the import if the scope would then have more files or bytes than a scope may hold. */
  async #checkQuotas(present: number): Promise<void> {
    const { scope, files, derived, isInspected } = this.#task;
    // The plugin can add the file that it makes from the others, unless the import has it.
    const made = isInspected && !files.some(({ path }) => derived.has(path)) ? 1 : 0;
    const { live, trash } = await this.#reader.scopeSize(scope);
    for (const [planned, most, unit] of [
      [present + this.created.length + made, storeLimits.listEntriesMax, "files outside the trash"],
      [live.bytes + trash.bytes + this.bytes, storeLimits.scopeBytesMax, "bytes with the trash"],
    ] as const) {
      const reason = `the user would have ${planned} ${unit}, at most ${most} allowed`;
      if (planned > most) this.refused.push({ path: "", code: "QUOTA_EXCEEDED", reason });
    }
  }

  #create(file: MemoryFile): void {
    this.created.push(file.path);
    this.#write(file.path, file);
  }

  async #replace(file: MemoryFile, there: Uint8Array): Promise<void> {
    const { scope } = this.#task;
    const { path } = file;
    const trashed = await this.#freePath(path, this.#epochMs, there);
    if (trashed === null) return this.#refuse(path, crowded);
    this.replaced.push(path);
    // The same content goes to the trash a second time only under another name.
    if (!trashed.isThere) this.changes.push({ kind: "trash", scope, path, trashed: trashed.path, bytes: there.length });
    this.#write(path, file);
  }

  /** Adds a file to the trash. If its name is taken, the file that is there keeps it. */
  async #addTrashed(file: MemoryFile, isTaken: boolean): Promise<void> {
    const was = isTaken ? parseTrashPath(file.path) : null;
    if (isTaken && was === null) return this.#refuse(file.path, "another file of this name is in the trash");
    const place =
      was === null ? { path: file.path, isThere: false } : await this.#freePath(was.path, was.epochMs, file.content);
    if (place === null) return this.#refuse(file.path, crowded);
    if (place.isThere) return void this.skipped.push(file.path);
    this.trashed.push(place.path);
    this.#write(place.path, file);
  }

  /**
   * A file's place in the trash: free, or with the same content from an earlier import. `null` if no name that is tried
   * can be used.
   */
  async #freePath(
    path: string,
    epochMs: number,
    content: Uint8Array,
  ): Promise<{ readonly path: string; readonly isThere: boolean } | null> {
    const digest = digestOf(content);
    let tries = 0;
    for (const candidate of trashPaths(path, epochMs)) {
      // A number can make a name longer than allowed.
      if (++tries > transferLimits.trashNamesTriedMax || !isScopePath(candidate)) return null;
      if (this.#places.nestedWith(candidate) !== null) continue;
      const isTaken = this.#places.at(candidate) !== null;
      // Reads in any case: a link ends the import, and a file that was created meanwhile is noticed.
      const there = await this.#digestAt(candidate);
      if (isTaken && there === digest) return { path: candidate, isThere: true };
      if (isTaken) continue;
      this.#places.add(candidate);
      return { path: candidate, isThere: false };
    }
    return null;
  }

  /** Reads each file only once: files with one name are all compared with each other. */
  async #digestAt(path: string): Promise<string | null> {
    const known = this.#digests.get(path);
    if (known !== undefined) return known;
    const there = await this.#reader.bytesOf(this.#task.scope, path);
    const digest = digestOf(there);
    this.#digests.set(path, digest);
    return digest;
  }

  #write(path: string, { content, trust = "unstated" }: MemoryFile): void {
    const { scope } = this.#task;
    this.changes.push({ kind: "write", scope, path, content, trust, bytes: content.length });
    this.bytes += content.length;
  }

  #refuse(path: string, reason: string): void {
    this.refused.push({ path, code: "NAME_CONFLICT", reason });
  }
}

const crowded = `another file has its name in the trash, and none of the ${transferLimits.trashNamesTriedMax} that an import tries is free`;
