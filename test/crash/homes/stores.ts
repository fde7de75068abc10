/** Three shared stores, which one call can change, one after the other. In keys, a store is a letter, and its grants a scope of their own. */
import { scopeOfStore } from "../../stage/store.ts";
import type {
  Change,
  ChangeSet,
  HomeCommit,
  NewGrants,
  StoreGrant,
  StoreId,
  UserId,
  UserReader,
} from "../../stage/store.ts";
import type { ChangeOperation, StoreOperation } from "./step.ts";
import type { Subject } from "./subject.ts";
import { filesBelow, stagedBelow } from "./tree.ts";
import type { Files } from "./tree.ts";

const principal = "eeeeeeee-0000-4000-8000-000000000000" as UserId;
const letters = Array.from("abc");
const indexPath = "index.md";

export const storeOf = (letter: string): StoreId =>
  `0000000${letters.indexOf(letter)}-0000-4000-8000-000000000000` as StoreId;

const folderOf = (letter: string): string[] => ["stores", storeOf(letter)];
const grantsOf = (letter: string): string => `${letter}-grants`;
const letterOf = (scope: string): string => scope.charAt(0);
const isGrantsScope = (scope: string): boolean => scope.endsWith("-grants");

export const storeSubject: Subject = {
  filesIn: (tree) =>
    new Map(
      letters.flatMap((letter) => {
        const entries = filesBelow(tree, [...folderOf(letter), "entries"], `${letter}/`);
        const own = Array.from(filesBelow(tree, [...folderOf(letter), ".memcell"], `${grantsOf(letter)}/`));
        return [...entries, ...own.filter(([key]) => /^[a-c]-grants\/(?:grants\.json|trash\/)/.test(key))];
      }),
    ),
  stagedIn: (tree) => letters.flatMap((letter) => stagedBelow(tree, folderOf(letter))),
  placeOf: (key) => {
    const [scope = "", ...path] = key.split("/");
    return [...folderOf(scope.charAt(0)), isGrantsScope(scope) ? ".memcell" : "entries", ...path];
  },
  keyOf: ({ scope, path }) => `${scope}/${path}`,
  openReader: (store) => store.open(null),
  changesFor: storeChangesFor,
  hold: (store, options, work) =>
    store.holdStores(letters.map(storeOf), options, (held) =>
      work(async (changes, seen) => {
        const letter = letterOf(changes[0]?.scope ?? "a");
        await held.grants(storeOf(letter));
        await held.commit(storeOf(letter), { by: principal, ...divided(changes), seen });
      }),
    ),
  partsOf: (changes) => {
    const named = new Set(changes.map(({ scope }) => letterOf(scope)));
    return Array.from(named, (letter) => changes.filter(({ scope }) => letterOf(scope) === letter));
  },
  homes: letters,
  lookAtOne: (store, letter, options) => store.holdStores([storeOf(letter)], options, () => Promise.resolve()),
  callAfterCrash: (depth) => ({
    do: "put",
    in: ["abc", "ab", "bc"][depth] ?? "bc",
    name: `after-crash-${depth}`,
    body: "Works.",
  }),
};

/** What the hints say matters to no test of crashes. */
const granted: StoreGrant = { grantee: storeOf("c"), level: "read", grantedMs: 1, expiresMs: null };

/** The changes of a store in a model with the real scope, and the grants apart. */
function divided(changes: ChangeSet): Pick<HomeCommit, "changes" | "grants"> {
  const entries = changes.filter(({ scope }) => !isGrantsScope(scope));
  const grants = changes.flatMap((change): NewGrants[] =>
    isGrantsScope(change.scope) && change.kind === "write"
      ? [{ content: String(change.content), granted: [granted], nowMs: 0 }]
      : [],
  );
  const named = entries.map((change) =>
    Object.assign({}, change, { scope: scopeOfStore(storeOf(letterOf(change.scope))) }),
  );
  return { changes: named, grants: grants[0] };
}

/** What an operation can leave behind when it ends in the middle: what some of the stores are changed to, and the rest not. */
export function storesBetween(before: Files, after: Files, asked: StoreOperation): Files[] {
  const { do: verb } = asked;
  const order = verb === "put" ? asked.in : verb === "move" ? asked.to + asked.from : asked.of + asked.in;
  return Array.from(new Set(order).keys()).map((_letter, at, all) => {
    const done = new Set(all.slice(0, at + 1));
    const isDone = ([key]: readonly [string, string]): boolean => done.has(key.charAt(0));
    return new Map([...Array.from(after).filter(isDone), ...Array.from(before).filter((each) => !isDone(each))]);
  });
}

function storeChangesFor(reader: UserReader, asked: ChangeOperation, number: number): ChangeSet {
  const operation = asked as StoreOperation;
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
  return [write(to, path, text), indexed(to, `moved ${name} ${number}`), gone];
}

const write = (scope: string, path: string, content: string): Change => ({ kind: "write", scope, path, content });
