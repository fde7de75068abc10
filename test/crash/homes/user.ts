/** One user's memory. */
import { userFolderName } from "../../stage/store.ts";
import type { Change, ChangeSet, UserId, UserReader } from "../../stage/store.ts";
import { factOf } from "./step.ts";
import type { ChangeOperation, UserOperation } from "./step.ts";
import type { Subject } from "./subject.ts";
import { filesBelow, stagedBelow } from "./tree.ts";

export const alice = "alice" as UserId;
const indexPath = "MEMORY.md";

export function userSubject(user: UserId): Subject {
  const folder = ["users", userFolderName(user)];
  return {
    filesIn: (tree) => filesBelow(tree, [...folder, "memory"]),
    stagedIn: (tree) => stagedBelow(tree, folder),
    placeOf: (key) => [...folder, "memory", ...key.split("/")],
    keyOf: ({ path }) => path,
    openReader: (store) => store.open(user),
    changesFor,
    hold: (store, options, work) =>
      store.holdUser(user, options, (held) => work((changes, seen) => held.commit(changes, seen))),
    callAfterCrash: (depth) => ({ do: "upsert", name: `after-crash-${depth}`, body: "Still works." }),
  };
}

function changesFor(reader: UserReader, asked: ChangeOperation, number: number): ChangeSet {
  const operation = asked as UserOperation;
  const { name } = operation;
  const body = "body" in operation ? operation.body : "";
  const path = `${name}.md`;
  if (operation.do === "restore") return restoring(reader, name);
  // A fact that is not even text cannot be read.
  const isThere =
    operation.do === "recreate"
      ? reader.list("memory", path).some((each) => each.path === path)
      : reader.read("memory", path) !== null;
  const trashed = `trash/${name}.20260101T000000${String(number).padStart(3, "0")}Z.md`;
  const trash: Change = { kind: "trash", scope: "memory", path, trashed };
  const index = reader.read("memory", indexPath) ?? "";
  const line = operation.do === "delete" ? null : `- [${name}](${path}) — ${body.slice(0, 20)}`;
  const newIndex = write(indexPath, withLine(index, name, line));
  if (operation.do === "delete") return isThere ? [trash, newIndex] : [newIndex];
  const fact = write(path, factOf(name, body));
  return operation.do === "recreate" && isThere ? [trash, fact, newIndex] : [fact, newIndex];
}

function restoring(reader: UserReader, name: string): ChangeSet {
  const trashed = reader.list("memory", `trash/${name}.`).at(-1)?.path ?? "";
  const index = withLine(reader.read("memory", indexPath) ?? "", name, `- [${name}](${name}.md) — restored`);
  return [{ kind: "restore", scope: "memory", path: trashed, restored: `${name}.md` }, write(indexPath, index)];
}

const write = (path: string, content: string): Change => ({ kind: "write", scope: "memory", path, content });

/** Keeps the other lines, as the tools do. */
function withLine(index: string, name: string, line: string | null): string {
  const lines = index.split("\n").filter((each) => each !== "");
  const found = lines.findIndex((each) => each.startsWith(`- [${name}](`));
  const at = found === -1 ? lines.length : found;
  const changed = lines.toSpliced(at, 1, ...(line === null ? [] : [line]));
  return changed.map((each) => `${each}\n`).join("");
}
