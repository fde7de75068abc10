/** The commands that change notes: `put`, `forget` and `push`. */
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { noteSources } from "../note-lines.ts";
import type { NoteSource } from "../note-lines.ts";
import { refuseHidden } from "../value.ts";
import type { ForgetNote, PushNotes, PutNote } from "./note-inputs.ts";
import { lineIn } from "./note-line.ts";
import type { NoteLine } from "./note-line.ts";
import { checkNamespace, checkPlace } from "./note-place.ts";
import { NoteStore } from "./note-store.ts";
import type { StoredNote } from "./note-store.ts";

/** Creates a note, or replaces it. */
export function putNote({ namespace, key, content, description = "", source, at }: PutNote): Answer<{
  readonly note: StoredNote;
}> {
  checkPlace({ namespace, key });
  refuseHidden("content", content);
  const store = new NoteStore();
  const before = store.find({ namespace, key })?.updated ?? "";
  const asked = notAfter(at ?? store.now, store.now);
  // What replaces a note is later than it, or other machines would take the former one for the later.
  const updated = asked > before ? asked : store.now;
  const note = store.put({ namespace, key, content, description, source: sourceOf(source), updated });
  return { message: `Noted ${key}`, data: { note }, shows: [] };
}

export function forgetNote({ namespace, key }: ForgetNote): Answer<{ readonly forgotten: number }> {
  checkPlace({ namespace, key });
  const store = new NoteStore();
  const isForgotten = store.forget({ namespace, key }, store.now);
  const message = isForgotten ? `Forgot ${key}` : `No note called ${key}`;
  return { message, data: { forgotten: Number(isForgotten) }, shows: [] };
}

/** What one line was refused for. The other lines count. */
export interface RefusedLine {
  readonly at: number;
  readonly reason: string;
}

export interface Pushed {
  readonly applied: number;
  readonly refused: readonly RefusedLine[];
}

/** Applies the changes of another machine, each on its own: the later change of a note counts. */
export function pushNotes({ namespace, lines }: PushNotes): Answer<Pushed> {
  checkNamespace(namespace);
  const store = new NoteStore();
  const refused: RefusedLine[] = [];
  let applied = 0;
  for (const [at, each] of lines.entries()) {
    const line = lineIn(each, namespace);
    if (typeof line === "string") refused.push({ at, reason: line });
    else {
      const outcome = applyLine(store, line);
      if (typeof outcome === "string") refused.push({ at, reason: outcome });
      else applied += Number(outcome);
    }
  }
  const message = `${applied} changes applied, ${refused.length} refused`;
  // A reason can quote a file.
  return { message, data: { applied, refused }, ...(refused.length === 0 && { shows: [] }) };
}

/** Whether the line changes anything, or why it cannot be applied. */
function applyLine(store: NoteStore, line: NoteLine): boolean | string {
  const updated = notAfter(line.at, store.now);
  const before = store.find(line)?.updated ?? null;
  const gone = store.forgottenAt(line);
  if ((before !== null && before >= updated) || (gone !== null && gone >= updated)) return false;
  if (line.op === "delete") return store.forget(line, updated);
  try {
    store.put({ ...line, source: sourceOf(line.source), updated });
    return true;
  } catch (error) {
    // One note that is too large, or one too many, must not hold back all later ones.
    if (error instanceof ToolError && refusals.has(error.code)) return error.message;
    throw error;
  }
}

const refusals = new Set(["VALUE_TOO_LARGE", "KEY_LIMIT_REACHED", "ENTRY_UNREADABLE", "INPUT_INVALID"]);

/** A clock that is ahead would make a note that nothing replaces. */
const notAfter = (at: string, now: string): string => (at > now ? now : at);

/** What came from another machine counts as written by the agent. */
const sourceOf = (given: string | undefined): NoteSource => noteSources.find((each) => each === given) ?? "tool";
