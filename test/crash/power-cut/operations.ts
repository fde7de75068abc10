/** The operations of the power-cut suite, in order, and each user's files after each of them. */
import { movedTo } from "../../../host/values/change-set.ts";
import type { Change, ChangeSet } from "../../../host/values/change-set.ts";
import type { UserId } from "../../../host/values/user-id.ts";

export interface Operation {
  readonly userId: UserId;
  readonly changes: ChangeSet;
  /** Before the operation the store is closed, which retires all WALs, and opened again. */
  readonly reopens?: boolean;
}

/** A user's files, by path in the user's folder. */
export type UserState = Readonly<Record<string, string>>;

export const users = ["alice", "bob", "carol", "Ünïcode.", "dave"].map((id) => id as UserId);
export const userAt = (at: number): UserId => users[at] as UserId;
const [alice, bob, carol, other, dave] = [0, 1, 2, 3, 4].map(userAt) as [UserId, UserId, UserId, UserId, UserId];

const scope = "memory";
/** Takes several blocks, so that it can survive in part. */
const large = "A line of a long memory, of which a part may be lost.\n".repeat(1200);

/** First commits of five users; replaced, deleted, mended and long entries; and a retirement in the middle. */
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
    return { userId, changes: [...before, ...written, { kind: "write", scope, path: "MEMORY.md", content }] };
  };
  let trashed = 0;
  const toTrash = (name: string): Change[] => {
    const trash = `trash/${name}.20260101T00000000${++trashed}Z.md`;
    return [{ kind: "trash", scope, path: `${name}.md`, trashed: trash }];
  };
  return [
    step(alice, "a", "first\n"),
    step(alice, "b", "second\n"),
    step(bob, "a", "of bob\n"),
    step(alice, "a", "first, replaced\n"),
    step(alice, "b", null, toTrash("b")),
    step(carol, "long", large),
    step(alice, "c", "third\n"),
    step(other, "a", "of another\n"),
    step(alice, "c", "third, mended\n", toTrash("c")),
    step(carol, "long", `${large}and more\n`),
    { ...step(alice, "b", "second again\n"), reopens: true },
    step(bob, "a", null, toTrash("a")),
    step(dave, "a", "late\n"),
    step(alice, "a", "first, replaced twice\n"),
    step(carol, "short", "brief\n"),
    step(carol, "long", large.toUpperCase()),
    step(carol, "long", "no longer long\n"),
    step(bob, "a", "of bob, again\n"),
    step(alice, "c", null, toTrash("c")),
    step(dave, "a", null, [{ kind: "remove", scope, path: "a.md" }]),
  ];
}

/** Every user's files after none, one, two … of the operations. */
export function statesAfter(operations: readonly Operation[]): ReadonlyMap<UserId, UserState>[] {
  const states: ReadonlyMap<UserId, UserState>[] = [new Map(users.map((userId) => [userId, {}]))];
  for (const { userId, changes } of operations) {
    const last = states.at(-1) ?? new Map<UserId, UserState>();
    states.push(new Map(last).set(userId, changes.reduce(changed, last.get(userId) ?? {})));
  }
  return states;
}

function changed(files: UserState, change: Change): UserState {
  const place = `${change.scope}/${change.path}`;
  if (change.kind === "write") return { ...files, [place]: Buffer.from(change.content).toString() };
  const { [place]: moved = "", ...rest } = files;
  const target = movedTo(change);
  return target === null ? rest : { ...rest, [`${change.scope}/${target}`]: moved };
}
