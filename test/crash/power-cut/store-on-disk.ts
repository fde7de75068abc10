/** The store on a disk that loses power: a workload before the cut; recovery and a check of all files after it. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { UserId } from "../../../host/values/user-id.ts";
import { readUserFiles, userFolder } from "../../support/user-files.ts";
import { DiskRoot, FileStore } from "../host-under-test.ts";
import type { LoggedDisk } from "./logged-disk.ts";
import { users } from "./operations.ts";
import type { Operation, UserState } from "./operations.ts";

type Store = InstanceType<typeof FileStore>;

const dataDirOn = (mountPoint: string): string => join(mountPoint, "data");
const hold = (): { writes: true; until: number } => ({ writes: true, until: performance.now() + 30_000 });

/** Every start of the machine has its own id. */
function openStore(mountPoint: string, boot: string, notes: string[] = []): Store {
  const note = (userId: UserId, text: string): void => void notes.push(`${userId}: ${text}`);
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
  let stores = openBoth();
  for (const [at, { userId, changes, reopens }] of operations.entries()) {
    if (reopens) {
      for (const store of stores) await store.close();
      stores = openBoth();
    }
    await (stores[at % 2] ?? stores[0]).hold(userId, hold(), (held) => held.commit(changes, []));
    disk.mark(`${at + 1}`);
  }
  for (const store of stores) await store.close();
  disk.mark(`${operations.length}`);
}

export interface Recovered {
  readonly states: ReadonlyMap<UserId, UserState>;
  readonly strayFiles: readonly string[];
  readonly notes: readonly string[];
}

/** Opens every user with a new store, which finishes unfinished work, then reads all files. */
export async function recoverAll(
  mountPoint: string,
  boot: string,
  onUser: (userId: UserId, state: UserState) => void = () => {},
): Promise<Recovered> {
  const notes: string[] = [];
  const store = openStore(mountPoint, boot, notes);
  const states = new Map<UserId, UserState>();
  for (const userId of users) {
    await store.hold(userId, hold(), async () => {});
    const state = filesOf(mountPoint, userId);
    states.set(userId, state);
    onUser(userId, state);
  }
  await store.close();
  return { states, notes, strayFiles: users.flatMap((userId) => strayFilesOf(mountPoint, userId)) };
}

/** Checks that a recovered user can be used. */
export async function commitOnce(mountPoint: string, boot: string, userId: UserId): Promise<void> {
  const store = openStore(mountPoint, boot);
  const write = { kind: "write", scope: "memory", path: "afterwards.md", content: "afterwards\n" } as const;
  await store.hold(userId, hold(), (held) => held.commit([write], []));
  await store.close();
}

export function filesOf(mountPoint: string, userId: UserId): UserState {
  return existsSync(userFolder(dataDirOn(mountPoint), userId)) ? readUserFiles(dataDirOn(mountPoint), userId) : {};
}

function strayFilesOf(mountPoint: string, userId: UserId): string[] {
  const own = join(userFolder(dataDirOn(mountPoint), userId), ".memcell");
  return existsSync(own) ? readdirSync(own).filter((name) => name.startsWith("staged-")) : [];
}
