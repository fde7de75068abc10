/** The exports of the tool `CallerNotes`. Wiring only. */
import { serveTool } from "../../serve-tool.ts";
import { forgetNote, pushNotes, putNote } from "./change-notes.ts";
import {
  forgetNoteInput,
  getNoteInput,
  listNotesInput,
  pullNotesInput,
  pushNotesInput,
  putNoteInput,
  searchNotesInput,
} from "./note-inputs.ts";
import { pullNotes } from "./pull-notes.ts";
import { getNote, listNotes, searchNotes } from "./read-notes.ts";

const tool = "CallerNotes";

export function caller_notes_get(): number {
  return serveTool(tool, getNoteInput, getNote);
}

export function caller_notes_list(): number {
  return serveTool(tool, listNotesInput, listNotes);
}

export function caller_notes_search(): number {
  return serveTool(tool, searchNotesInput, searchNotes);
}

export function caller_notes_put(): number {
  return serveTool(tool, putNoteInput, putNote);
}

export function caller_notes_forget(): number {
  return serveTool(tool, forgetNoteInput, forgetNote);
}

export function caller_notes_pull(): number {
  return serveTool(tool, pullNotesInput, pullNotes);
}

export function caller_notes_push(): number {
  return serveTool(tool, pushNotesInput, pushNotes);
}
