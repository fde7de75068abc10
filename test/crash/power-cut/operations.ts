/** The operations of the power-cut suite, in order, and the files of each user and of all stores after each of them. */
import { movedTo } from "../../stage/store.ts";
import type { Change, ChangeSet, UserId } from "../../stage/store.ts";

export interface Operation {
  readonly owner: Owner;
  readonly changes: ChangeSet;
  /** Before the operation the store is closed, which retires all WALs, and opened again. */
  readonly reopens?: boolean;
}

/** The files of an owner, by path in the user's folder, or by store, as in the model. */
export type OwnerState = Readonly<Record<string, string>>;

/** A user, or all shared stores together: one operation can change several of them. */
export type Owner = UserId | typeof stores;
export const stores = "all stores";

export const users = ["alice", "bob", "carol", "Ünïcode.", "dave"].map((id) => id as UserId);
export const owners: readonly Owner[] = [...users, stores];
export const ownerAt = (at: number): Owner => owners[at % owners.length] ?? stores;
const [alice, bob, carol, other, dave] = users as [UserId, UserId, UserId, UserId, UserId];

const scope = "memory";
/** Takes several blocks, so that it can survive in part. */
const large = "A line of a long memory, of which a part may be lost.\n".repeat(1200);

/** First commits of five users and three stores; replaced, deleted, mended and long entries; and a retirement in the middle. */
export function operationsOf(): Operation[] {
  const index = new Map<UserId, Map<string, string>>();
  const step = (userId: UserId, name: string, text: string | null, before: Change[] = []): Operation => {
    const lines = index.get(userId) ?? new Map<string, string>();
    index.set(userId, lines);
    const path = `${name}.md`;
    if (text === null) lines.delete(name);
    else lines.set(name, text.slice(0, 40).trim());
    const written: Change[] = text === null ? [] : [{ kind: "write", scope, path, content: text }];
    const content = Array.from(lines, ([each, line]) => `- [${each}](${each}.md) — ${line}\n`).join("");
    return { owner: userId, changes: [...before, ...written, { kind: "write", scope, path: "MEMORY.md", content }] };
  };
  let trashed = 0;
  const toTrash = (name: string): Change[] => {
    const trash = `trash/${name}.20260101T00000000${++trashed}Z.md`;
    return [{ kind: "trash", scope, path: `${name}.md`, trashed: trash }];
  };
  return [
    step(alice, "a", "first\n"),
    inStores(write("a", "one.md", "of two stores\n"), write("b", "one.md", "of two stores\n")),
    step(alice, "b", "second\n"),
    step(bob, "a", "of bob\n"),
    step(alice, "a", "first, replaced\n"),
    step(alice, "b", null, toTrash("b")),
    step(carol, "long", large),
    inStores(write("c", "moved.md", "of two stores\n"), { kind: "remove", scope: "a", path: "one.md" }),
    step(alice, "c", "third\n"),
    inStores(write("b", "one.md", large), write("a", "one.md", large), write("a-grants", "grants.json", "granted\n")),
    step(other, "a", "of another\n"),
    step(alice, "c", "third, mended\n", toTrash("c")),
    step(carol, "long", `${large}and more\n`),
    { ...step(alice, "b", "second again\n"), reopens: true },
    step(bob, "a", null, toTrash("a")),
    inStores(write("a", "alone.md", "of one store\n")),
    inStores(write("c", "two.md", "1\n"), write("b", "two.md", "1\n"), write("a", "two.md", "1\n")),
    step(dave, "a", "late\n"),
    inStores(
      { kind: "trash", scope: "a", path: "one.md", trashed: "trash/one.20260101T000000000Z.md" },
      write("c", "two.md", "2\n"),
    ),
    step(alice, "a", "first, replaced twice\n"),
    step(carol, "short", "brief\n"),
    step(carol, "long", large.toUpperCase()),
    step(carol, "long", "no longer long\n"),
    step(bob, "a", "of bob, again\n"),
    step(alice, "c", null, toTrash("c")),
    step(dave, "a", null, [{ kind: "remove", scope, path: "a.md" }]),
  ];
}

const inStores = (...changes: Change[]): Operation => ({ owner: stores, changes });
const write = (store: string, path: string, content: string): Change => ({
  kind: "write",
  scope: store,
  path,
  content,
});

/** The files of all owners after none, one, two … of the operations. */
export function statesAfter(operations: readonly Operation[]): ReadonlyMap<Owner, OwnerState>[] {
  const states: ReadonlyMap<Owner, OwnerState>[] = [new Map(owners.map((owner) => [owner, {}]))];
  for (const { owner, changes } of operations) {
    const last = states.at(-1) ?? new Map<Owner, OwnerState>();
    states.push(new Map(last).set(owner, changes.reduce(changed, last.get(owner) ?? {})));
  }
  return states;
}

function changed(files: OwnerState, change: Change): OwnerState {
  const place = `${change.scope}/${change.path}`;
  if (change.kind === "write") return { ...files, [place]: Buffer.from(change.content).toString() };
  const { [place]: moved = "", ...rest } = files;
  const target = movedTo(change);
  return target === null ? rest : { ...rest, [`${change.scope}/${target}`]: moved };
}
