/** One thing that is wrong with a user's files. */
export interface Finding {
  /**
   * What kind of finding it is, in lower-case letters, digits and dashes: a word of the store's, of the plugin's that keeps
   * the files, or `not-inspected` where the plugin could not look at them, or at all of them.
   */
  readonly problem: string;
  /** The file, inside the user's folder. */
  readonly path: string;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** What mending does about it, in a sentence; `null` when only a person can help. */
  readonly remedy: string | null;
}
