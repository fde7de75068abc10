import type { Change, ChangeSet } from "../change-set.ts";

/** What a call has changed so far. Its own later reads see it; nobody else does until it is committed. */
export class StagedChanges {
  readonly #changes: Change[] = [];
  /** For each changed file its new text, or `null` when it is gone. */
  readonly #contents = new Map<string, string | null>();

  write(scope: string, path: string, content: string): void {
    this.#changes.push({ kind: "write", scope, path, content });
    this.#contents.set(keyOf(scope, path), content);
  }

  trash(scope: string, path: string, trashed: string, content: string): void {
    this.#changes.push({ kind: "trash", scope, path, trashed });
    this.#contents.set(keyOf(scope, path), null);
    this.#contents.set(keyOf(scope, trashed), content);
  }

  /** A file's staged text, `null` when it is staged to be gone, `undefined` when this call has not touched it. */
  contentOf(scope: string, path: string): string | null | undefined {
    return this.#contents.get(keyOf(scope, path));
  }

  /** The files of a scope that this call has touched. */
  touched(scope: string): { path: string; content: string | null }[] {
    const prefix = keyOf(scope, "");
    return Array.from(this.#contents, ([key, content]) => ({ key, content }))
      .filter(({ key }) => key.startsWith(prefix))
      .map(({ key, content }) => ({ path: key.slice(prefix.length), content }));
  }

  toChangeSet(): ChangeSet {
    return [...this.#changes];
  }
}

/** Neither a scope's nor a path's grammar knows a colon. */
const keyOf = (scope: string, path: string): string => `${scope}:${path}`;
