/** The store on a disk that loses power: a workload before the cut; recovery and a check of all files after it. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { ChangeSet, UserId } from "../../stage/store.ts";
import { readUserFiles, userFolder } from "../../support/user-files.ts";
import { DiskRoot, FileStore } from "../host-under-test.ts";
import { letters, storeOf } from "../model/store-operation.ts";
import { storeSubject } from "../model/store-subject.ts";
import { readTree } from "../model/tree.ts";
import { divided } from "../store-steps.ts";
import type { LoggedDisk } from "./logged-disk.ts";
import { owners, stores as allStores } from "./operations.ts";
import type { Operation, Owner, OwnerState } from "./operations.ts";

type Store = InstanceType<typeof FileStore>;

export const dataDirOn = (mountPoint: string): string => join(mountPoint, "data");
const hold = (): { writes: true; until: number } => ({ writes: true, until: performance.now() + 30_000 });

/** Every start of the machine has its own id. */
function openStore(mountPoint: string, boot: string, notes: string[] = []): Store {
  const note = (owner: string, text: string): void => void notes.push(`${owner}: ${text}`);
  return new FileStore(new DiskRoot(dataDirOn(mountPoint)), { durability: "full", note }, boot);
}

/**
 * Runs all operations. After each acknowledgement it sets a mark with their number. Two stores take turns, like two
 * processes.
 */
export async function perform(operations: readonly Operation[], disk: LoggedDisk): Promise<void> {
  const openBoth = (): [Store, Store] => [
    openStore(disk.mountPoint, "first start"),
    openStore(disk.mountPoint, "first start"),
  ];
  // Whatever comes before is the file system's own.
  disk.mark("0");
  let stores = openBoth();
  for (const [at, { owner, changes, reopens }] of operations.entries()) {
    if (reopens) {
      for (const store of stores) await store.close();
      stores = openBoth();
    }
    await commit(stores[at % 2] ?? stores[0], owner, changes);
    disk.mark(`${at + 1}`);
  }
  for (const store of stores) await store.close();
  disk.mark(`${operations.length}`);
}

async function commit(store: Store, owner: Owner, changes: ChangeSet): Promise<void> {
  if (owner !== allStores) return await store.hold(owner, hold(), (held) => held.commit(changes, []));
  await store.shared.hold(Array.from(letters, storeOf), hold(), (held) =>
    held.commit({ by: "someone" as UserId, ...divided(changes), seen: [] }),
  );
}

export interface Recovered {
  readonly states: ReadonlyMap<Owner, OwnerState>;
  readonly strayFiles: readonly string[];
  readonly notes: readonly string[];
}

/** Opens every user and all stores with a new store, which finishes unfinished work, then reads all files. */
export async function recoverAll(
  mountPoint: string,
  boot: string,
  onOwner: (owner: Owner, state: OwnerState) => void = () => {},
): Promise<Recovered> {
  const notes: string[] = [];
  const store = openStore(mountPoint, boot, notes);
  const states = new Map<Owner, OwnerState>();
  for (const owner of owners) {
    if (owner === allStores) await store.shared.hold(Array.from(letters, storeOf), hold(), async () => {});
    else await store.hold(owner, hold(), async () => {});
    const state = filesOf(mountPoint, owner);
    states.set(owner, state);
    onOwner(owner, state);
  }
  await store.close();
  return { states, notes, strayFiles: owners.flatMap((owner) => strayFilesOf(mountPoint, owner)) };
}

/** Checks that what was recovered can be used. */
export async function commitOnce(mountPoint: string, boot: string, owner: Owner): Promise<void> {
  const store = openStore(mountPoint, boot);
  const scopes = owner === allStores ? Array.from(letters) : ["memory"];
  const content = "afterwards\n";
  const writes = scopes.map((scope) => ({ kind: "write", scope, path: "afterwards.md", content }) as const);
  await commit(store, owner, writes);
  await store.close();
}

function filesOf(mountPoint: string, owner: Owner): OwnerState {
  const data = dataDirOn(mountPoint);
  if (owner !== allStores) return existsSync(userFolder(data, owner)) ? readUserFiles(data, owner) : {};
  return Object.fromEntries(existsSync(data) ? storeSubject.filesIn(readTree(data)) : []);
}

function strayFilesOf(mountPoint: string, owner: Owner): string[] {
  const data = dataDirOn(mountPoint);
  const ofStores = (): string[] => Array.from(letters, (letter) => join(data, "stores", storeOf(letter)));
  const homes = owner === allStores ? ofStores() : [userFolder(data, owner)];
  return homes.flatMap((home) => {
    const own = join(home, ".memcell");
    return existsSync(own) ? readdirSync(own).filter((name) => name.startsWith("staged-")) : [];
  });
}
