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
import { composed } from "./note-place.ts";
import { pullNotes } from "./pull-notes.ts";
import { getNote, listNotes, searchNotes } from "./read-notes.ts";

const tool = "CallerNotes";

export const caller_notes_get = serveHostTool(tool, getNoteInput, composed(getNote));

export const caller_notes_list = serveHostTool(tool, listNotesInput, composed(listNotes));

export const caller_notes_search = serveHostTool(tool, searchNotesInput, composed(searchNotes));

export const caller_notes_put = serveHostTool(tool, putNoteInput, composed(putNote));

export const caller_notes_forget = serveHostTool(tool, forgetNoteInput, composed(forgetNote));

export const caller_notes_pull = serveProgram(tool, pullNotesInput, composed(pullNotes));

export const caller_notes_push = serveHostTool(tool, pushNotesInput, composed(pushNotes));
