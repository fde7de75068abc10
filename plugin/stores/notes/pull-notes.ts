/** The command `pull`: what has changed in a namespace since a cursor, a page at a time, whoever changed it. */
import type { Answer } from "../../kit/serve-tool.ts";
import { jsonBytes } from "../value.ts";
import type { PullNotes } from "./note-inputs.ts";
import { noteLimits } from "./note-limits.ts";
import type { NoteChange, NoteLine } from "./note-line.ts";
import { checkNamespace } from "./note-place.ts";
import { NoteStore } from "./note-store.ts";

type PulledLine = Pick<NoteLine, "op" | "namespace" | "key" | "at"> &
  Partial<Pick<NoteLine, "content" | "description" | "source">>;

export interface Pulled {
  readonly lines: readonly PulledLine[];
  /** Where the next pull begins; `null`: at the start. */
  readonly cursor: string | null;
  readonly more: boolean;
}

/** A page can repeat changes of the last two seconds: applying a change twice does no harm, missing one does. */
export function pullNotes({ namespace, since }: PullNotes): Answer<Pulled> {
  checkNamespace(namespace);
  const store = new NoteStore();
  const after = cursorIn(since);
  const changes = store.changes(namespace).filter((each) => after === null || isAfter(each, after));
  const page = pageOf(store, namespace, changes.toSorted(byTime));
  const last = page.seen.at(-1);
  const more = page.seen.length < changes.length;
  const cursor = last === undefined ? (since ?? null) : cursorAt(more ? last : settled(last, store.now));
  return { message: `${page.lines.length} changes`, data: { lines: page.lines, cursor, more } };
}

/** As many of the first changes as fit. */
function pageOf(
  store: NoteStore,
  namespace: string,
  changes: readonly NoteChange[],
): { readonly lines: PulledLine[]; readonly seen: readonly NoteChange[] } {
  const lines: PulledLine[] = [];
  let bytes = 0;
  for (const [at, { path }] of changes.entries()) {
    const line = lineAt(store, path, namespace);
    if (line === null) continue;
    const size = jsonBytes(line);
    // A note whose JSON alone is too large for any page is left out.
    if (size > noteLimits.answerBytesMax) continue;
    bytes += size;
    if (bytes > noteLimits.answerBytesMax || lines.length >= noteLimits.pageLinesMax) {
      return { lines, seen: changes.slice(0, at) };
    }
    lines.push(line);
  }
  return { lines, seen: changes };
}

function lineAt(store: NoteStore, path: string, namespace: string): PulledLine | null {
  const change = store.changeAt(path, namespace);
  if (change === null) return null;
  if ("forgotten" in change) return { op: "delete", namespace, key: change.key, at: change.forgotten };
  const { key, content, description, source, updated } = change;
  return { op: "put", namespace, key, content, description, source, at: updated };
}

const byTime = (a: NoteChange, b: NoteChange): number => a.changedUs - b.changedUs || (isAfter(a, b) ? 1 : -1);

const isAfter = (a: NoteChange, b: NoteChange): boolean =>
  a.changedUs > b.changedUs || (a.changedUs === b.changedUs && a.path > b.path);

/** A change so recent that another one with the same time can follow is not the place to begin the next pull after. */
function settled(last: NoteChange, now: string): NoteChange {
  const settledUs = Date.parse(now) * 1_000 - noteLimits.settledUs;
  return last.changedUs <= settledUs ? last : { path: "", changedUs: settledUs };
}

const cursorAt = ({ changedUs, path }: NoteChange): string => `${changedUs}:${path}`;

/** `null` for what is no cursor of ours: then the pull begins at the start. */
function cursorIn(since: string | undefined): NoteChange | null {
  const found = /^(\d{1,16}):(.*)$/s.exec(since ?? "");
  return found && { changedUs: Number(found[1]), path: found[2] ?? "" };
}
