/** A note as its clients name it. It has the same id in every tier of them. */
import { createHash } from "node:crypto";

import { uuidOf } from "../../values/store-id.ts";

/** Where a note lies in an agent's memory. */
export interface NotePlace {
  readonly namespace: string;
  readonly key: string;
}

/** A note as the plugin returns it. */
export interface StoredNote extends NotePlace {
  readonly created: string;
  readonly updated: string;
}

export function shownNote({ created, updated, ...note }: StoredNote, agent: string): object {
  return { id: noteIdFor(agent, note), ...note, created_at: created, updated_at: updated };
}

export function shownNotes(data: unknown, agent: string): object {
  return { entries: (data as { notes: readonly StoredNote[] }).notes.map((note) => shownNote(note, agent)) };
}

/** The namespace of UUIDs made from URLs, RFC 9562 section 6.6. */
const urlNamespace = Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex");

/** A UUID of version 5. `agent` is the id that the client uses for itself. */
export function noteIdFor(agent: string, { namespace, key }: NotePlace): string {
  const name = `${agent}\n${namespace}\n${key}`;
  return uuidOf(createHash("sha1").update(urlNamespace).update(name, "utf8").digest(), "5");
}
