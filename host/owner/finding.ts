/** One thing that is wrong with a user's files. */
export interface Finding {
  /**
   * The kind of finding, in lower-case letters, digits and dashes. The store defines it, or the plugin that keeps the
   * files. `not-inspected`: the plugin could not inspect the files, or only some of them, or it is not loaded.
   */
  readonly problem: string;
  /**
   * The file, inside the user's folder. In the user's own store it begins with `store/`, which is the folder
   * `stores/<id>/entries` of the data folder (`storeIdOf`).
   */
  readonly path: string;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** What mending does about it, in a sentence; `null` when only a person can help. */
  readonly remedy: string | null;
  /** How long ago the file was last written, where that matters. */
  readonly ageMs?: number;
}

/**
 * Whether something is wrong. `journal-in-use` is only listed: a journal to which a process has written in the last
 * seconds, and which it will retire.
 */
export const isProblem = ({ problem }: Finding): boolean => problem !== "journal-in-use";
