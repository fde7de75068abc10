/** What a user's memory must hold: the oracle, which knows change sets and people's edits and nothing of WALs. */
import type { ChangeSet } from "../../../host/values/change-set.ts";

/** Paths in the scope, and what is there. */
export type Files = ReadonlyMap<string, string>;

/** A file that a person has changed since a tool did. */
interface Edit {
  /** As the person left it; `null` when removed. */
  readonly text: string | null;
  /** As a tool left it before. */
  readonly under: string | null;
}

export interface Expected {
  /** How the test's messages call it. */
  readonly name: string;
  readonly files: Files;
  readonly edits: ReadonlyMap<string, Edit>;
}

export const nothingExpected: Expected = { name: "nothing", files: new Map(), edits: new Map() };

export function afterChanges({ files, edits }: Expected, changes: ChangeSet, name: string): Expected {
  const [now, left] = [new Map(files), new Map(edits)];
  for (const change of changes) {
    left.delete(change.path);
    if (change.kind === "write") now.set(change.path, Buffer.from(change.content).toString());
    if (change.kind === "trash") now.set(change.trashed, now.get(change.path) ?? "");
    if (change.kind !== "write") now.delete(change.path);
  }
  return { name, files: now, edits: left };
}

export function afterEdit({ name, files, edits }: Expected, path: string, text: string | null): Expected {
  const earlier = edits.get(path);
  const under = earlier ? earlier.under : (files.get(path) ?? null);
  const now = new Map(files);
  if (text === null) now.delete(path);
  else now.set(path, text);
  return { name: `${name}, ${path} edited`, files: now, edits: new Map(edits).set(path, { text, under }) };
}

/** How long an edit must stay where it is: until the machine stops, or no matter what. */
export type EditRule = "in place" | "in place or in the trash";

/** What is not as expected; nothing when all is. Copies that recovery has put into the trash are welcome. */
export function differences(expected: Expected, actual: Files, rule: EditRule): string[] {
  const inTrash = new Set(Array.from(actual).flatMap(([path, text]) => (path.startsWith("trash/") ? [text] : [])));
  const paths = new Set([...expected.files.keys(), ...actual.keys(), ...expected.edits.keys()]);
  return Array.from(paths).flatMap((path) => {
    const found = actual.get(path) ?? null;
    const wanted = expected.files.get(path) ?? null;
    if (found === wanted || (wanted === null && path.startsWith("trash/"))) return [];
    const edit = expected.edits.get(path);
    // What a person has removed may come back: nothing is lost by it, and it looks like a file that never came to be.
    const mayBeUndone = edit?.text === null || (rule !== "in place" && inTrash.has(edit?.text ?? ""));
    if (edit && mayBeUndone && found === edit.under) return [];
    return [`${path}: ${shortly(wanted)} expected, ${shortly(found)} found`];
  });
}

const shortly = (text: string | null): string => (text === null ? "nothing" : JSON.stringify(text.slice(0, 70)));
