import { noteIdFor } from "./note-id.ts";
import type { NotePlace } from "./note-id.ts";

/** A note as the plugin returns it. */
export interface StoredNote extends NotePlace {
  readonly created: string;
  readonly updated: string;
}

/** The same as its clients name it. */
export function shownNote({ created, updated, ...note }: StoredNote, agent: string): object {
  return { id: noteIdFor(agent, note), ...note, created_at: created, updated_at: updated };
}

export function shownNotes(data: unknown, agent: string): object {
  return { entries: (data as { notes: readonly StoredNote[] }).notes.map((note) => shownNote(note, agent)) };
}
