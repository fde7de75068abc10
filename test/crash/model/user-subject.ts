/** One user's memory. */
import type { UserId } from "../../stage/store.ts";
import { changesFor } from "./operation.ts";
import type { Operation } from "./operation.ts";
import type { Subject } from "./subject.ts";
import { filesBelow, stagedBelow } from "./tree-files.ts";

const user = "alice" as UserId;
const folder = ["users", user];

export const userSubject: Subject<Operation> = {
  filesIn: (tree) => filesBelow(tree, [...folder, "memory"]),
  stagedIn: (tree) => stagedBelow(tree, folder),
  placeOf: (key) => [...folder, "memory", ...key.split("/")],
  keyOf: ({ path }) => path,
  openReader: (store) => store.openUser(user),
  changesFor,
  hold: (store, options, work) =>
    store.hold(user, options, (held) => work((changes, seen) => held.commit(changes, seen))),
  lookShare: 0,
  lookAtOne: () => Promise.resolve(),
  callAfterCrash: (depth) => ({ do: "upsert", name: `after-crash-${depth}`, body: "Still works." }),
};
