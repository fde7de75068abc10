/** A change that the other machines of an agent can get: a note, or the mark of a forgotten one. */
export interface NoteChange {
  readonly path: string;
  /** When its file was last changed, in microseconds. */
  readonly changedUs: number;
}
