/** From files that are to be imported, and what is there, to the changes that import them. Reads, and changes nothing. */
import { createHash } from "node:crypto";

import { storeLimits } from "../../shared/limits.ts";
import { foldersOf, isScopePath, isTrashPath, parseTrashPath } from "../../shared/path.ts";
import { transferLimits } from "../archive/transfer-limits.ts";
import type { HeldReader } from "../store/store.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { trashPaths } from "../values/trash-path.ts";
import { refusalsOf } from "./import-files.ts";
import type { RefusedFile } from "./memory-files.ts";

export interface ImportTask {
  readonly scope: string;
  /** All of that scope. */
  readonly files: readonly MemoryFile[];
  /** Those among them that the scope's plugin makes from the others. */
  readonly derived: ReadonlySet<string>;
  /** Whether the scope's plugin is asked about the files, and may make others from them. */
  readonly isInspected: boolean;
  /** Whether a file that is there goes to the trash. */
  readonly replaces: boolean;
  readonly epochMs: number;
}

/** Paths are inside the scope; an empty one is for all files together. */
export interface PlannedImport {
  readonly created: string[];
  readonly replaced: string[];
  readonly skipped: string[];
  readonly trashed: string[];
  readonly refused: RefusedFile[];
  readonly changes: SizedChange[];
  bytes: number;
}

export function emptyPlan(refused: RefusedFile[] = []): PlannedImport {
  return { created: [], replaced: [], skipped: [], trashed: [], refused, changes: [], bytes: 0 };
}

export async function planImport(reader: HeldReader, task: ImportTask): Promise<PlannedImport> {
  const plan = emptyPlan(refusalsOf(task.files));
  if (plan.refused.length > 0) return plan;
  const present = (await reader.survey(task.scope)).files.map(({ path }) => path);
  const planner = new Planner(reader, task, plan, present);
  for (const file of task.files) await planner.add(file);
  await planner.checkQuotas();
  return plan;
}

interface TrashPlace {
  readonly path: string;
  /** With the very content. */
  readonly isThere: boolean;
}

class Planner {
  readonly #reader: HeldReader;
  readonly #task: ImportTask;
  readonly #plan: PlannedImport;
  readonly #present: readonly string[];
  /** Every path that something has or is to have, as a disk that folds case would tell them apart. */
  readonly #folded: Map<string, string>;
  /** The folders that lead to them, told apart in the same way. */
  readonly #folders: Set<string>;
  /** Of what lies in the trash, as far as it was looked at; `null` where nothing lies. */
  readonly #digests = new Map<string, string | null>();

  constructor(reader: HeldReader, task: ImportTask, plan: PlannedImport, present: readonly string[]) {
    this.#reader = reader;
    this.#task = task;
    this.#plan = plan;
    this.#present = present;
    this.#folded = new Map([...task.files, ...present.map((path) => ({ path }))].map(({ path }) => [fold(path), path]));
    this.#folders = new Set(Array.from(this.#folded.keys()).flatMap(foldersOf));
  }

  async add(file: MemoryFile): Promise<void> {
    const { path, content } = file;
    const there = await this.#reader.bytesOf(this.#task.scope, path);
    const twin = this.#folded.get(fold(path));
    if (there !== null && Buffer.compare(there, content) === 0) this.#plan.skipped.push(path);
    else if (this.#isNested(path)) this.#refuse(path, "a file would lie in another one's place for a folder");
    else if (isTrashPath(path)) await this.#addTrashed(file, there !== null || twin !== path);
    else if (twin !== undefined && twin !== path) this.#refuse(path, `"${twin}" is there, only case tells them apart`);
    else if (there === null) this.#create(file);
    else if (this.#task.derived.has(path)) this.#plan.skipped.push(path);
    else if (this.#task.replaces) await this.#replace(file, there);
    else this.#refuse(path, "an entry of this name is there with other content");
  }

  /** An import is bounded as what tools write; so is what is there afterwards. */
  async checkQuotas(): Promise<void> {
    const { scope, files: incoming, derived, isInspected } = this.#task;
    const { created, trashed, replaced, bytes, refused } = this.#plan;
    // A plugin may make a file from the others, where none comes that it would make.
    const made = isInspected && !incoming.some(({ path }) => derived.has(path)) ? 1 : 0;
    const files = this.#present.length + created.length + trashed.length + replaced.length + made;
    for (const [present, most, unit] of [
      [files, storeLimits.listEntriesMax, "files"],
      [(await this.#reader.bytesUsed(scope)) + bytes, storeLimits.scopeBytesMax, "bytes with the trash"],
    ] as const) {
      const reason = `the user would have ${present} ${unit}, at most ${most} allowed`;
      if (present > most) refused.push({ path: "", code: "QUOTA_EXCEEDED", reason });
    }
  }

  #create(file: MemoryFile): void {
    this.#plan.created.push(file.path);
    this.#write(file.path, file);
  }

  async #replace(file: MemoryFile, there: Uint8Array): Promise<void> {
    const { scope, epochMs } = this.#task;
    const { path } = file;
    const trashed = await this.#freePath(path, epochMs, there);
    if (trashed === null) return this.#refuse(path, crowded);
    this.#plan.replaced.push(path);
    // What lies in the trash already goes there a second time only when its name is another.
    if (!trashed.isThere)
      this.#plan.changes.push({ kind: "trash", scope, path, trashed: trashed.path, bytes: there.length });
    this.#write(path, file);
  }

  /** What lies in a trash under a name is told by it: whatever was trashed first keeps it. */
  async #addTrashed(file: MemoryFile, isTaken: boolean): Promise<void> {
    const was = isTaken ? parseTrashPath(file.path) : null;
    if (isTaken && was === null) return this.#refuse(file.path, "another file of this name is in the trash");
    const place =
      was === null ? { path: file.path, isThere: false } : await this.#freePath(was.path, was.epochMs, file.content);
    if (place === null) return this.#refuse(file.path, crowded);
    if (place.isThere) return void this.#plan.skipped.push(file.path);
    this.#plan.trashed.push(place.path);
    this.#write(place.path, file);
  }

  /** Where a file goes in the trash, or is since an earlier import; `null` when no name that is tried can be had. */
  async #freePath(path: string, epochMs: number, content: Uint8Array): Promise<TrashPlace | null> {
    const digest = digestOf(content);
    let tries = 0;
    for (const candidate of trashPaths(path, epochMs)) {
      // With a number, a name may be longer than any that is allowed.
      if (++tries > transferLimits.trashNamesTriedMax || !isScopePath(candidate)) return null;
      if (this.#isNested(candidate)) continue;
      const isTaken = this.#folded.has(fold(candidate));
      // What is found there counts: a link ends the import, and a file that comes into being meanwhile is noticed.
      const there = await this.#digestAt(candidate);
      if (isTaken && there === digest) return { path: candidate, isThere: true };
      if (isTaken) continue;
      this.#folded.set(fold(candidate), candidate);
      for (const folder of foldersOf(fold(candidate))) this.#folders.add(folder);
      return { path: candidate, isThere: false };
    }
    return null;
  }

  /** Whether a folder is in the path's place, or a file in that of one that leads to it. No disk can hold both. */
  #isNested(path: string): boolean {
    const folded = fold(path);
    return this.#folders.has(folded) || foldersOf(folded).some((folder) => this.#folded.has(folder));
  }

  /** Files of one name are compared each with each: none is read more than once. */
  async #digestAt(path: string): Promise<string | null> {
    const known = this.#digests.get(path);
    if (known !== undefined) return known;
    const there = await this.#reader.bytesOf(this.#task.scope, path);
    const digest = there && digestOf(there);
    this.#digests.set(path, digest);
    return digest;
  }

  #write(path: string, { content }: MemoryFile): void {
    const { scope } = this.#task;
    this.#plan.changes.push({ kind: "write", scope, path, content, bytes: content.length });
    this.#plan.bytes += content.length;
  }

  #refuse(path: string, reason: string): void {
    this.#plan.refused.push({ path, code: "NAME_CONFLICT", reason });
  }
}

const crowded = `another file has its name in the trash, and of the ${transferLimits.trashNamesTriedMax} that an import tries none is free`;

const digestOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("base64");

const fold = (path: string): string => path.toLowerCase();
