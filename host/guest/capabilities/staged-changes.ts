import { movedTo } from "../../values/change-set.ts";
import type { SizedChange } from "../../values/change-set.ts";

type WriteChange = Extract<SizedChange, { kind: "write" }>;

/** The present state of a file that a call has touched. */
export type StagedFile =
  | { readonly kind: "written"; readonly content: WriteChange["content"]; readonly bytes: number }
  | { readonly kind: "gone" }
  /** Moved to or from the trash. On the disk, the file is still in its old place. */
  | { readonly kind: "moved"; readonly from: string; readonly bytes: number };

/** The size of a touched file in bytes. */
export function stagedBytes(file: StagedFile): number {
  return file.kind === "gone" ? 0 : file.bytes;
}

/** The changes of a call so far. The call's own later reads see them; nobody else does until they are committed. */
export class StagedChanges {
  readonly #changes = new Set<SizedChange>();
  /** The last write of each file that has not been moved since. The next write replaces it. */
  readonly #lastWrites = new Map<string, WriteChange>();
  readonly #files = new Map<string, StagedFile>();
  /** Files that the host staged before the call. They count in the scope's size, not as the call's own writes. */
  readonly #staged = new Set<StagedFile>();
  #writtenBytes = 0;

  /** `before`: changes that the call's reads see as done. They are not among the call's own changes. */
  constructor(before: readonly SizedChange[] = []) {
    for (const change of before) this.#begin(change);
  }

  /** `bytes`: the size of the content in UTF-8. */
  write(scope: string, path: string, content: string, bytes: number): void {
    const key = keyOf(scope, path);
    const replaced = this.#lastWrites.get(key);
    this.#writtenBytes = this.writtenBytesWith(scope, path, bytes);
    if (replaced) this.#changes.delete(replaced);
    const change: WriteChange = { kind: "write", scope, path, content, bytes };
    this.#changes.add(change);
    this.#lastWrites.set(key, change);
    this.#files.set(key, { kind: "written", content, bytes });
  }

  /** `file`: the file's state under its new path. */
  trash(scope: string, path: string, trashed: string, file: StagedFile): void {
    this.#changes.add({ kind: "trash", scope, path, trashed, bytes: stagedBytes(file) });
    this.#lastWrites.delete(keyOf(scope, path));
    this.#files.set(keyOf(scope, path), { kind: "gone" });
    this.#files.set(keyOf(scope, trashed), file);
  }

  /** The present state of a file, or `undefined` if this call has not touched it. */
  fileAt(scope: string, path: string): StagedFile | undefined {
    return this.#files.get(keyOf(scope, path));
  }

  /** The files of a scope that this call has touched. */
  touched(scope: string): { path: string; file: StagedFile }[] {
    const prefix = keyOf(scope, "");
    return Array.from(this.#files, ([key, file]) => ({ key, file }))
      .filter(({ key }) => key.startsWith(prefix))
      .map(({ key, file }) => ({ path: key.slice(prefix.length), file }));
  }

  /** The call's total of written bytes if this file is written as well. Includes files that were moved since. */
  writtenBytesWith(scope: string, path: string, bytes: number): number {
    const file = this.#files.get(keyOf(scope, path));
    const isOwn = file?.kind === "written" && !this.#staged.has(file);
    return this.#writtenBytes - (isOwn ? file.bytes : 0) + bytes;
  }

  get changeCount(): number {
    return this.#changes.size;
  }

  toChangeSet(): SizedChange[] {
    return [...this.#changes];
  }

  #begin(change: SizedChange): void {
    const { kind, scope, path, bytes } = change;
    const key = keyOf(scope, path);
    if (kind === "write") {
      const file: StagedFile = { kind: "written", content: change.content, bytes };
      this.#staged.add(file);
      this.#files.set(key, file);
      return;
    }
    const moved = this.#files.get(key) ?? { kind: "moved", from: path, bytes };
    this.#files.set(key, { kind: "gone" });
    const target = movedTo(change);
    if (target !== null) this.#files.set(keyOf(scope, target), moved);
  }
}

/** Unambiguous, because no path can contain a colon. */
const keyOf = (scope: string, path: string): string => `${scope}:${path}`;
