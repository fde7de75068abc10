/** Steps in which a user has a folder and an own store, and is erased. */
import { ownStoreOf, scopeOfStore } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import type { FileStore } from "./store-under-test.ts";

type Store = InstanceType<typeof FileStore>;

export type EraseStep =
  /** A call that writes to the own store. */
  | { readonly kind: "erase: note"; readonly text: string }
  /** Erases the user and removes what there was. */
  | { readonly kind: "erase: all" }
  /** What calls find, before and after a start has finished what is left. Fails if they find only a part. */
  | { readonly kind: "erase: look" };

export const isEraseStep = (step: { readonly kind: string }): step is EraseStep => step.kind.startsWith("erase: ");

const userId = "alice" as UserId;
export const ownStore = ownStoreOf(userId);

export async function takeEraseStep(store: Store, step: EraseStep, until: number): Promise<void> {
  if (step.kind === "erase: note") return await writeNote(store, step.text, until);
  if (step.kind === "erase: all") {
    await store.holdToErase(userId, { to: "remove", until }, (held) => held.erase(1));
    // It counts, whatever fails now.
    return await finish(store).catch(() => {});
  }
  const hasNote = await findsNote(store, until);
  const hasMemory = await store.hold(userId, { writes: true, until }, async ({ reader }) => {
    return (await reader.bytesOf("memory", "a.md")) !== null;
  });
  if (hasMemory !== hasNote) throw new Error(`Half of the user is there: memory ${hasMemory}, store ${hasNote}`);
  await finish(store);
}

async function writeNote(store: Store, content: string, until: number): Promise<void> {
  const changes = [{ kind: "write", scope: scopeOfStore(ownStore), path: "note.md", content } as const];
  await store.shared.hold([ownStore], { writes: true, until }, (held) =>
    held.commit({ by: userId, changes, seen: held.seen }),
  );
}

/** Takes no lock, if nothing is to be finished. */
async function findsNote(store: Store, until: number): Promise<boolean> {
  return await store.shared.hold([ownStore], { writes: false, until }, async (held) => {
    return (await held.reader(ownStore).bytesOf("entries", "note.md")) !== null;
  });
}

async function finish({ erased }: Store): Promise<void> {
  for (const each of await erased.list()) {
    if ((await erased.removeFiles(each)).length === 0) await erased.forget(each);
  }
}
