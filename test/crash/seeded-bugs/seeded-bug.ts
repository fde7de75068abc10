/**
 * Bugs that a crash suite must find. Each replaces a text of the compiled host, which must occur exactly once: a bug
 * that no longer applies fails the run, so that its loss does not pass unnoticed.
 */
export interface SeededBug {
  readonly name: string;
  /** Relative to the folder of the compiled host. */
  readonly file: string;
  readonly find: string;
  readonly replacement: string;
  /** Why no suite can find it, if none can. */
  readonly isHarmless?: string;
}
