/** A user's memory and own store, and what the host keeps beside them: the writes that wait, and how far runs are trusted. */
import { createHash } from "node:crypto";

import { ownStoreOf } from "../../stage/store.ts";
import type { HeldUser } from "../../stage/store.ts";
import type { Host, StoreUnderTest } from "../store-under-test.ts";
import { stepOf } from "./step.ts";
import type { GateOperation } from "./step.ts";
import type { Subject } from "./subject.ts";
import { chat, settings, switchedRuntime } from "./switched-runtime.ts";
import type { SwitchedRuntime } from "./switched-runtime.ts";
import { below, filesBelow, memoryFolder, readTree, stagedBelow, writeTree } from "./tree.ts";
import type { Files, Tree } from "./tree.ts";
import { alice, userSubject } from "./user.ts";

const memory = userSubject(alice);
const own = ["users", alice, ".memcell"];
const ownStore = ownStoreOf(alice);
const storeFolder = ["stores", ownStore];
const inStore = "store/";
const inChat = "chat/";
const isNote = (key: string): boolean => key.startsWith(inStore);
const kinds = ["pending", "runs"];
/** It tells who decides second, and what was begun; the history says what was made. */
const decided = ".pending/decided.json";
const recordName = /^[a-z0-9-]+\.json$/;

export const gateSubject: Subject = {
  ...memory,
  filesIn: (tree) => {
    const records = kinds.flatMap((kind) => Array.from(filesBelow(tree, [...own, kind], `.${kind}/`)));
    const notes = Array.from(filesBelow(tree, [...storeFolder, "entries"], inStore));
    const ofChat = Array.from(filesBelow(tree, ["stores", chat, "entries"], inChat));
    return new Map([
      ...memory.filesIn(tree),
      // The search index has the times of files.
      ...[...notes, ...ofChat].filter(([key]) => !key.includes("/_.index/")),
      ...records.filter(([key]) => key !== decided && recordName.test(key.slice(key.indexOf("/") + 1))),
    ]);
  },
  stagedIn: (tree) => {
    const names = kinds.flatMap((kind) => Array.from(below(tree, [...own, kind])?.keys() ?? []));
    const staged = [
      ...memory.stagedIn(tree),
      ...[storeFolder, ["stores", chat]].flatMap((at) => stagedBelow(tree, at)),
    ];
    return [...staged, ...names.filter((name) => !recordName.test(name))];
  },
  isEdited: false,
  placeOf: (key) => (isNote(key) ? [...storeFolder, "entries", key.slice(inStore.length)] : memory.placeOf(key)),
  changesFor: () => {
    throw new TypeError("A runtime makes the changes");
  },
  hold: async (opened, options, work) => {
    await opened.holdStores([ownStore, chat], options, () => Promise.resolve());
    await opened.holdUser(alice, options, async (held) => {
      await checkHistory(held);
      await work((changes, seen) => held.commit(changes, seen));
    });
  },
  perform: async (place, operation) => {
    const runtime = await runtimeOf(place.host);
    await runtime.perform(place, operation).catch((error: unknown) => {
      // Another text has the name there already, and both stay.
      if (operation.act !== "rename" || codeOf(error) !== "NAME_CONFLICT") throw error;
    });
  },
  // What was left half done is done again, or another thing comes.
  callAfterCrash: (_depth, choice) =>
    stepOf(["approve", "read guess", "wait page From a page.", "reject"][Math.floor(choice * 4)] ?? "reject"),
};

/** What such an operation may leave behind while it is under way, and what it ends in: tried on a copy of the disk. */
export async function statesOf(
  host: Host,
  { tree, boot }: { readonly tree: Tree; readonly boot: string },
  operation: GateOperation,
): Promise<ReturnType<typeof statesFrom>> {
  using scratch = memoryFolder();
  writeTree(tree, scratch.path);
  const store = host.openFiles(new host.DiskRoot(scratch.path), { durability: "full", note: () => {}, settings }, boot);
  const applied = await approvalsOf(store);
  await gateSubject.perform?.({ host, store, path: scratch.path }, operation);
  await store.close();
  const [before, after] = [gateSubject.filesIn(tree), gateSubject.filesIn(readTree(scratch.path))];
  const states = statesFrom(before, after, operation);
  // The record of a write that was applied before goes at any time: first or last.
  const left = Array.from(before).filter(([key]) => applied.has(idOf(key)));
  const during = [before, ...states.during, after].flatMap((files) =>
    subsetsOf(left).map((some) => new Map([...Array.from(files).filter(([key]) => !applied.has(idOf(key))), ...some])),
  );
  return { during: left.length === 0 ? states.during : during, after };
}

/** The waiting writes that were applied, by their ids. */
async function approvalsOf(store: StoreUnderTest): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  await store.holdUser(alice, { writes: false, until: performance.now() + 20_000 }, async ({ history }) => {
    for (const { approval } of await history.versions()) if (approval !== undefined) ids.add(approval);
  });
  return ids;
}

/** The code of what was thrown; empty if it has none. */
export const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");

const idOf = (key: string): string => /^\.pending\/(.+)\.json$/.exec(key)?.[1] ?? "";

const subsetsOf = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: 2 ** items.length }, (_, subset) => items.filter((_item, at) => (subset >> at) % 2 === 1));

/**
 * An approval in the store is durable before its record goes: until then the write waits although it is applied. An undo
 * changes the memory before the store. A rename writes into the other store first.
 */
export function statesFrom(
  before: Files,
  after: Files,
  { act }: GateOperation,
): { readonly during: Files[]; readonly after: Files } {
  const gone = Array.from(before).filter(([key]) => key.startsWith(".pending/") && !after.has(key));
  const approved = new Map([...after, ...gone]);
  const notes = Array.from(before).filter(([key]) => isNote(key));
  const half = new Map([...Array.from(after).filter(([key]) => !isNote(key)), ...notes]);
  const both = new Map([...before, ...Array.from(after).filter(([key]) => key.startsWith(inChat))]);
  const isInStore = Array.from(after).some(([key, text]) => isNote(key) && before.get(key) !== text);
  const during = { approve: isInStore && gone.length > 0 ? [approved] : [], undo: [half], rename: [both] };
  return { during: act in during ? during[act as keyof typeof during] : [], after };
}

/** Each file is as its last version has left it, and no write was approved twice. */
async function checkHistory({ history, reader }: HeldUser): Promise<void> {
  if (history.state().isBroken) throw new Error("The history is broken");
  const approvals = (await history.versions()).flatMap(({ approval }) => approval ?? []);
  if (new Set(approvals).size < approvals.length) throw new Error(`Approved twice: ${approvals.join(", ")}`);
  const known = new Map(await history.origins());
  const paths = (await reader.scopes()).length === 0 ? [] : (await reader.list("memory", "")).map(({ path }) => path);
  for (const place of new Set([...paths.map((path) => `memory:${path}`), ...known.keys()])) {
    const [scope = "", path = ""] = place.split(":");
    // Recovery puts further copies into the trash.
    if (path.startsWith("trash/") && !known.has(place)) continue;
    const bytes = await reader.bytesOf(scope, path);
    const found = bytes && createHash("sha256").update(bytes).digest("hex");
    if (found !== (known.get(place)?.sha256 ?? null))
      throw new Error(`The history does not have the content of ${place}`);
  }
}

const runtimes = new Map<Host, Promise<SwitchedRuntime>>();

export function runtimeOf(host: Host): Promise<SwitchedRuntime> {
  const runtime = runtimes.get(host) ?? switchedRuntime(host);
  runtimes.set(host, runtime);
  return runtime;
}

export async function closeRuntimes(): Promise<void> {
  for (const runtime of runtimes.values()) await (await runtime)[Symbol.asyncDispose]();
  runtimes.clear();
}
