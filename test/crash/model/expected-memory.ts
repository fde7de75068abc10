/** The expected content of a user's memory: an oracle that knows change sets and people's edits, but no journal. */
import { movedTo } from "../../stage/store.ts";
import type { ChangeSet } from "../../stage/store.ts";
import type { Files } from "../homes/tree.ts";

/** A file that a person has changed after a tool. */
interface Edit {
  /** The person's text; `null` if the person removed the file. */
  readonly text: string | null;
  /** The tool's text before the edit. */
  readonly under: string | null;
}

export interface Expected {
  /** The name in the test's messages. */
  readonly name: string;
  readonly files: Files;
  readonly edits: ReadonlyMap<string, Edit>;
}

export const nothingExpected: Expected = { name: "nothing", files: new Map(), edits: new Map() };

export function afterChanges(
  { files, edits }: Expected,
  changes: ChangeSet,
  { name, keyOf }: { readonly name: string; readonly keyOf: (place: { scope: string; path: string }) => string },
): Expected {
  const [now, left] = [new Map(files), new Map(edits)];
  for (const change of changes) {
    const key = keyOf(change);
    left.delete(key);
    if (change.kind === "write") now.set(key, Buffer.from(change.content).toString());
    const target = movedTo(change);
    if (target !== null) now.set(keyOf({ scope: change.scope, path: target }), now.get(key) ?? "");
    if (change.kind !== "write") now.delete(key);
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

/**
 * Where a person's change must be. `as made`: in its place, and what was removed stays removed. `in place`: the process
 * may have been killed, so a removed file may come back: to recovery it looks like a lost write. `in place or in the
 * trash`: the machine may have stopped.
 */
export type EditRule = "as made" | "in place" | "in place or in the trash";

/** The differences from the expected files; empty if there are none. Recovery may put further copies into the trash. */
export function differences(expected: Expected, actual: Files, rule: EditRule): string[] {
  const inTrash = new Set(Array.from(actual).flatMap(([path, text]) => (isTrashed(path) ? [text] : [])));
  const paths = new Set([...expected.files.keys(), ...actual.keys(), ...expected.edits.keys()]);
  return Array.from(paths).flatMap((path) => {
    const found = actual.get(path) ?? null;
    const wanted = expected.files.get(path) ?? null;
    if (found === wanted || (wanted === null && isTrashed(path))) return [];
    // Recovery names what it puts there by the time.
    if (wanted !== null && isTrashed(path) && inTrash.has(wanted)) return [];
    const edit = expected.edits.get(path);
    const mayBeUndone =
      edit?.text === null ? rule !== "as made" : rule === "in place or in the trash" && inTrash.has(edit?.text ?? "");
    if (edit && mayBeUndone && found === edit.under) return [];
    return [`${path}: ${shortly(wanted)} expected, ${shortly(found)} found`];
  });
}

/** The differences from the nearest of some states without edits; empty if one of them fits. */
export function unlike(allowed: readonly Files[], actual: Files, rule: EditRule = "as made"): string[] {
  const wrong = allowed.map((files) => differences({ name: "", files, edits: new Map() }, actual, rule));
  return wrong.some((each) => each.length === 0) ? [] : wrong.flat();
}

const isTrashed = (key: string): boolean => /(?:^|\/)trash\//.test(key);

const shortly = (text: string | null): string => (text === null ? "nothing" : JSON.stringify(text.slice(0, 70)));
