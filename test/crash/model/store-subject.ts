import type { UserId } from "../../stage/store.ts";
/** Three shared stores, which one call can change together. */
import { divided } from "../store-steps.ts";
import { grantsOf, isGrantsScope, letters, storeChangesFor, storeOf } from "./store-operation.ts";
import type { StoreOperation } from "./store-operation.ts";
import type { Subject } from "./subject.ts";
import { filesBelow, stagedBelow } from "./tree-files.ts";

const principal = "eeeeeeee-0000-4000-8000-000000000000" as UserId;
const all = Array.from(letters);
const folderOf = (letter: string): string[] => ["stores", storeOf(letter)];

export const storeSubject: Subject<StoreOperation> = {
  filesIn: (tree) =>
    new Map(
      all.flatMap((letter) => {
        const entries = filesBelow(tree, [...folderOf(letter), "entries"], `${letter}/`);
        const own = Array.from(filesBelow(tree, [...folderOf(letter), ".memcell"], `${grantsOf(letter)}/`));
        return [...entries, ...own.filter(([key]) => /^[a-c]-grants\/(?:grants\.json|trash\/)/.test(key))];
      }),
    ),
  stagedIn: (tree) => all.flatMap((letter) => stagedBelow(tree, folderOf(letter))),
  placeOf: (key) => {
    const [scope = "", ...path] = key.split("/");
    return [...folderOf(scope.charAt(0)), isGrantsScope(scope) ? ".memcell" : "entries", ...path];
  },
  keyOf: ({ scope, path }) => `${scope}/${path}`,
  openReader: (store) => store.openShared(),
  changesFor: storeChangesFor,
  hold: (store, options, work) =>
    store.shared.hold(all.map(storeOf), options, (held) =>
      work(async (changes, seen) => {
        for (const letter of all) await held.reader(storeOf(letter)).bytesOf("grants", "grants.json");
        await held.commit({ by: principal, ...divided(changes), seen });
      }),
    ),
  lookShare: 0.4,
  lookAtOne: async (store, choice) => {
    const letter = all[Math.floor(choice * all.length)] ?? "a";
    const until = performance.now() + 20_000;
    await store.shared.hold([storeOf(letter)], { writes: choice % 0.1 < 0.05, until }, () => Promise.resolve());
  },
  callAfterCrash: (depth) => ({ do: "put", in: depth % 2 ? "ab" : "bc", name: `after-crash-${depth}`, body: "Works." }),
};
