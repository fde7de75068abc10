import type { SizedChange } from "../../values/change-set.ts";

type WriteChange = Extract<SizedChange, { kind: "write" }>;

/** How a file that a call has touched stands now. */
export type StagedFile =
  | { readonly kind: "written"; readonly content: WriteChange["content"]; readonly bytes: number }
  | { readonly kind: "gone" }
  /** In the trash, with the text of a file that is still where it was on disk. */
  | { readonly kind: "moved"; readonly from: string; readonly bytes: number };

/** The bytes a touched file takes. */
export function stagedBytes(file: StagedFile): number {
  return file.kind === "gone" ? 0 : file.bytes;
}

/** What a call has changed so far. Its own later reads see it; nobody else does until it is committed. */
export class StagedChanges {
  readonly #changes = new Set<SizedChange>();
  /** For each file its last write, while nothing has moved it since: a further write takes its place. */
  readonly #lastWrites = new Map<string, WriteChange>();
  readonly #files = new Map<string, StagedFile>();
  /** Files that the host has staged before the call began. They count in the scope, and not as the call's own. */
  readonly #staged = new Set<StagedFile>();
  #writtenBytes = 0;

  /** `before` is what the call is to find done already. It is not among the call's own changes. */
  constructor(before: readonly SizedChange[] = []) {
    for (const change of before) this.#begin(change);
  }

  /** `bytes` is what the content takes in UTF-8. */
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

  /** `file` is how the file will stand under its new path. */
  trash(scope: string, path: string, trashed: string, file: StagedFile): void {
    this.#changes.add({ kind: "trash", scope, path, trashed, bytes: stagedBytes(file) });
    this.#lastWrites.delete(keyOf(scope, path));
    this.#files.set(keyOf(scope, path), { kind: "gone" });
    this.#files.set(keyOf(scope, trashed), file);
  }

  /** How a file stands, or `undefined` when this call has not touched it. */
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

  /** The bytes that are to be written once a file is written too; those that were moved since are among them. */
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
    if (kind === "trash") this.#files.set(keyOf(scope, change.trashed), moved);
  }
}

/** Neither a scope's nor a path's grammar knows a colon. */
const keyOf = (scope: string, path: string): string => `${scope}:${path}`;
