/** A user with a memory and an own store, who can be erased. Operations on names that begin with "note" change the store. */
import { ownStoreOf, scopeOfStore } from "../../stage/store.ts";
import type { ChangeSet, UserId } from "../../stage/store.ts";
import { changesFor } from "./operation.ts";
import type { Operation } from "./operation.ts";
import type { Subject, StoreUnderTest } from "./subject.ts";
import { below, filesBelow, stagedBelow } from "./tree-files.ts";
import type { Tree } from "./tree.ts";

const user = "alice" as UserId;
const own = ownStoreOf(user);
const home = ["users", user];
const store = ["stores", own];
const inStore = "store/";

export const eraseSubject: Subject<Operation> = {
  filesIn: (tree) => {
    const ofUser = filesBelow(tree, [...home, "memory"]);
    return isDecided(tree) ? ofUser : new Map([...ofUser, ...filesBelow(tree, [...store, "entries"], inStore)]);
  },
  stagedIn: (tree) => {
    const places = [...(below(tree, ["users"])?.keys() ?? []), ...(below(tree, ["stores"])?.keys() ?? [])];
    const marks = Array.from(below(tree, [...store, ".memcell"])?.keys() ?? []);
    const left = [...places, ...marks].filter((name) => /^\.?eras/.test(name));
    return [...stagedBelow(tree, home), ...stagedBelow(tree, store), ...left];
  },
  placeOf: (key) =>
    key.startsWith(inStore)
      ? [...store, "entries", ...key.slice(inStore.length).split("/")]
      : [...home, "memory", ...key.split("/")],
  keyOf: ({ scope, path }) => (scope === scopeOfStore(own) ? inStore + path : path),
  openReader: (opened) => opened.openUser(user),
  changesFor: (reader, operation, number): ChangeSet => {
    const { name } = operation;
    if (!name.startsWith("note") || operation.do !== "upsert") return changesFor(reader, operation, number);
    return [{ kind: "write", scope: scopeOfStore(own), path: `${name}.md`, content: operation.body }];
  },
  hold: async (opened, options, work) => {
    await finishErased(opened);
    await opened.hold(user, options, (held) =>
      opened.shared.hold([own], { writes: true, until: options.until }, (stores) =>
        work(async (changes, seen) => {
          if (changes.some(({ scope }) => scope !== "memory")) await stores.commit({ by: user, changes, seen: [] });
          else await held.commit(changes, seen);
        }),
      ),
    );
  },
  erase: async (opened, until) => {
    await opened.holdToErase(user, { to: "remove", until }, (held) => held.erase(1));
  },
  lookShare: 0,
  lookAtOne: () => Promise.resolve(),
  callAfterCrash: (depth) => ({ do: "upsert", name: depth % 2 ? "note" : "after-crash", body: "Still works." }),
};

/** The store counts as erased, though it is still in its place: a person who writes there now loses it. */
function isDecided(tree: Tree): boolean {
  const isFollowed = Array.from(below(tree, ["users"])?.keys() ?? []).some((name) => name.startsWith(".erasing."));
  return isFollowed && below(tree, [...store, ".memcell"])?.has("erasing") === true;
}

async function finishErased({ erased }: StoreUnderTest): Promise<void> {
  for (const each of await erased.list()) {
    if ((await erased.removeFiles(each)).length === 0) await erased.forget(each);
  }
}
