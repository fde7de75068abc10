/** The exports of the tool `CallerNotes`. Wiring only. */
import { serveHostTool, serveProgram } from "../../kit/serve-tool.ts";
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

export const caller_notes_get = serveHostTool(tool, getNoteInput, getNote);

export const caller_notes_list = serveHostTool(tool, listNotesInput, listNotes);

export const caller_notes_search = serveHostTool(tool, searchNotesInput, searchNotes);

export const caller_notes_put = serveHostTool(tool, putNoteInput, putNote);

export const caller_notes_forget = serveHostTool(tool, forgetNoteInput, forgetNote);

export const caller_notes_pull = serveProgram(tool, pullNotesInput, pullNotes);

export const caller_notes_push = serveHostTool(tool, pushNotesInput, pushNotes);
