/** The commands that read notes: `get`, `list` and `search`. */
import { shownBody } from "../../kit/hidden-text.ts";
import { oneLine } from "../../kit/one-line.ts";
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { compare } from "../entry-store.ts";
import { jsonBytes } from "../value.ts";
import type { GetNote, ListNotes, SearchNotes } from "./note-inputs.ts";
import { noteLimits } from "./note-limits.ts";
import { checkNamespace, checkPlace } from "./note-place.ts";
import { NoteStore } from "./note-store.ts";
import type { StoredNote } from "./note-store.ts";

export function getNote({ namespace, key }: GetNote): Answer<{ readonly note: StoredNote | null }> {
  checkPlace({ namespace, key });
  const found = new NoteStore().find({ namespace, key });
  const note = found && seenNote(found);
  if (note !== null && jsonBytes(note) > noteLimits.answerBytesMax) {
    throw new ToolError("ENTRY_UNREADABLE", `Cannot read the note "${key}": as JSON it is too large for an answer`);
  }
  return { message: note === null ? `No note called ${key}` : `Note ${key}`, data: { note } };
}

/** The notes that changed last come first. */
export function listNotes(input: ListNotes): Answer<{ readonly notes: readonly StoredNote[] }> {
  const { namespaces, prefix = "", excludeSources = [], limit = noteLimits.listedDefault } = input;
  for (const namespace of namespaces ?? []) checkNamespace(namespace);
  const notes = new NoteStore()
    .all(namespaces)
    .filter(({ key, source }) => key.startsWith(prefix) && !excludeSources.includes(source))
    .toSorted(newestFirst)
    .slice(0, limit);
  return answerOf(notes);
}

/** Any query is data: words, without operators. */
export function searchNotes(input: SearchNotes): Answer<{ readonly notes: readonly StoredNote[] }> {
  const { namespaces, query, limit = noteLimits.foundDefault } = input;
  for (const namespace of namespaces ?? []) checkNamespace(namespace);
  return answerOf(new NoteStore().search(query, namespaces, limit));
}

function answerOf(notes: readonly StoredNote[]): Answer<{ readonly notes: readonly StoredNote[] }> {
  const shown = shownNotes(notes.map(seenNote));
  return { message: `${shown.length} notes`, data: { notes: shown } };
}

/** As many of the notes as fit with the beginning of their content; the first ones whole, as far as there is room. */
function shownNotes(notes: readonly StoredNote[]): StoredNote[] {
  let room: number = noteLimits.answerBytesMax;
  const beginnings: StoredNote[] = [];
  for (const note of notes) {
    const beginning = { ...note, content: beginningOf(note) };
    room -= jsonBytes(beginning);
    if (room < 0) return beginnings;
    beginnings.push(beginning);
  }
  return beginnings.map((beginning, at) => {
    const whole = notes[at] ?? beginning;
    const more = jsonBytes(whole) - jsonBytes(beginning);
    if (more > room) return beginning;
    room -= more;
    return whole;
  });
}

const beginningOf = ({ content }: StoredNote): string => {
  const line = oneLine(content, noteLimits.beginningCharsMax, "");
  return line === content ? line : `${line}…`;
};

/** Before it is measured: an escape is longer than what it stands for. */
const seenNote = (note: StoredNote): StoredNote => ({ ...note, content: shownBody(note.content) });

const newestFirst = (a: StoredNote, b: StoredNote): number =>
  compare(b.updated, a.updated) || compare(a.key, b.key) || compare(a.namespace, b.namespace);
