/** A user with a memory and an own store, who can be erased. Operations on names that begin with "note" change the store. */
import { ownStoreOf, scopeOfStore } from "../../stage/store.ts";
import type { StoreUnderTest } from "../store-under-test.ts";
import type { Subject } from "./subject.ts";
import { below, filesBelow, stagedBelow } from "./tree.ts";
import type { Tree } from "./tree.ts";
import { alice, userSubject } from "./user.ts";

const memory = userSubject(alice);
const own = ownStoreOf(alice);
const store = ["stores", own];
const inStore = "store/";

export const erasedSubject: Subject = {
  ...memory,
  filesIn: (tree) => {
    const ofUser = memory.filesIn(tree);
    return isDecided(tree) ? ofUser : new Map([...ofUser, ...filesBelow(tree, [...store, "entries"], inStore)]);
  },
  stagedIn: (tree) => {
    const places = [...(below(tree, ["users"])?.keys() ?? []), ...(below(tree, ["stores"])?.keys() ?? [])];
    const marks = Array.from(below(tree, [...store, ".memcell"])?.keys() ?? []);
    const left = [...places, ...marks].filter((name) => /^\.?eras/.test(name));
    return [...memory.stagedIn(tree), ...stagedBelow(tree, store), ...left];
  },
  placeOf: (key) =>
    key.startsWith(inStore) ? [...store, "entries", ...key.slice(inStore.length).split("/")] : memory.placeOf(key),
  keyOf: ({ scope, path }) => (scope === scopeOfStore(own) ? inStore + path : path),
  changesFor: (reader, operation, number) => {
    if (operation.do !== "upsert" || !operation.name.startsWith("note"))
      return memory.changesFor(reader, operation, number);
    return [{ kind: "write", scope: scopeOfStore(own), path: `${operation.name}.md`, content: operation.body }];
  },
  hold: async (opened, options, work) => {
    await finishErased(opened);
    await opened.holdUser(alice, options, (held) =>
      opened.holdStores([own], { writes: true, until: options.until }, (stores) =>
        work(async (changes, seen) => {
          if (changes.some(({ scope }) => scope !== "memory"))
            await stores.commit(own, { by: alice, changes, seen: [] });
          else await held.commit(changes, seen);
        }),
      ),
    );
  },
  erase: async (opened, until) => {
    await opened.holdToErase(alice, { to: "remove", until }, (held) => held.erase(1));
    // It counts, whatever fails now.
    await finishErased(opened).catch(() => {});
  },
  check: async (opened, options) => {
    const has = { memory: false, store: false };
    // Takes no lock, if nothing is to be finished.
    await opened.holdStores([own], { ...options, writes: false }, async (held) => {
      has.store = (await held.reader(own).bytesOf("entries", "note.md")) !== null;
    });
    await opened.holdUser(alice, options, async ({ reader }) => {
      has.memory = (await reader.bytesOf("memory", "one.md")) !== null;
    });
    if (has.memory !== has.store) throw new Error(`Half of the user is there: ${JSON.stringify(has)}`);
  },
  callAfterCrash: (depth) => ({ do: "upsert", name: depth % 2 ? "note" : "after-crash", body: "Still works." }),
};

/** The store counts as erased, though it is still in its place: a person who writes there now loses it. */
function isDecided(tree: Tree): boolean {
  const isFollowed = Array.from(below(tree, ["users"])?.keys() ?? []).some((name) => name.startsWith(".erasing."));
  return isFollowed && below(tree, [...store, ".memcell"])?.has("erasing") === true;
}

async function finishErased({ erased }: StoreUnderTest): Promise<void> {
  for (const each of await erased.list()) {
    if ((await erased.removeFiles(each)).length === 0) await erased.forget(each, true);
  }
}
