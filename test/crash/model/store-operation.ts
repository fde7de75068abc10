/** Changes of several shared stores at once. In the model, a store is a letter, and its grants are a scope of their own. */
import { scopeOfStore } from "../../stage/store.ts";
import type { Change, ChangeSet, StoreId, UserReader } from "../../stage/store.ts";

export type StoreOperation =
  /** Writes an entry and a line of the index in each of these stores, such as "ab". */
  | { readonly do: "put"; readonly in: string; readonly name: string; readonly body: string }
  /** Moves an entry from one store to another; the old one goes to the trash, or is removed. */
  | { readonly do: "move"; readonly from: string; readonly to: string; readonly name: string; readonly keeps: boolean }
  /** Changes the grants of a store, and an entry of each of the stores. */
  | { readonly do: "grant"; readonly of: string; readonly in: string; readonly text: string };

export const letters = "abc";

export const storeOf = (letter: string): StoreId =>
  `0000000${letters.indexOf(letter)}-0000-4000-8000-000000000000` as StoreId;

export const grantsOf = (letter: string): string => `${letter}-grants`;

export const isGrantsScope = (scope: string): boolean => scope.endsWith("-grants");

const indexPath = "index.md";

export function storeChangesFor(reader: UserReader, operation: StoreOperation, number: number): ChangeSet {
  const read = (letter: string, path: string): string | null => reader.read(scopeOfStore(storeOf(letter)), path);
  const indexed = (letter: string, line: string): Change =>
    write(letter, indexPath, `${read(letter, indexPath) ?? ""}${line}\n`);
  if (operation.do === "put") {
    return Array.from(operation.in).flatMap((letter) => [
      write(letter, `${operation.name}.md`, `${operation.body}\n`),
      indexed(letter, `put ${operation.name} ${number}`),
    ]);
  }
  if (operation.do === "grant") {
    const grants = write(grantsOf(operation.of), "grants.json", operation.text);
    return [grants, ...Array.from(operation.in, (letter) => indexed(letter, `granted ${number}`))];
  }
  const { from, to, name, keeps } = operation;
  const path = `${name}.md`;
  const text = read(from, path);
  if (text === null) return [indexed(to, `nothing to move ${number}`)];
  const stamp = String(number).padStart(3, "0");
  const trashed = `trash/${name}.20260101T000000${stamp}Z.md`;
  const gone: Change = keeps ? { kind: "trash", scope: from, path, trashed } : { kind: "remove", scope: from, path };
  return [gone, write(to, path, text), indexed(to, `moved ${name} ${number}`)];
}

const write = (scope: string, path: string, content: string): Change => ({ kind: "write", scope, path, content });
