import type { StoreFinding } from "../store/store.ts";

/** One thing that is wrong with a user's files. */
export interface Finding {
  /**
   * What kind of thing: a word of the plugin that inspects its files (`entry-without-line`, say), a word of the store
   * (`wal-unfinished`, `wal-damaged`, `temporary-file`, `owner-missing`, `not-a-plain-file`), or `not-inspected`.
   */
  readonly problem: string;
  /** The file, inside the user's folder. */
  readonly path: string;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** What mending does about it, in a sentence; `null` when only a person can help. */
  readonly remedy: string | null;
}

/** What the store has found, as whoever asked is told. */
export const findingOf = ({ code, path, message, remedy }: StoreFinding): Finding => ({
  problem: code,
  path,
  message,
  remedy,
});
