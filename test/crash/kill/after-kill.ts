/** Checks a user's folder after a kill. Returns a list of faults. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import type { Area } from "../areas.ts";
import { indexFaults, takeStep } from "../memory-steps.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";
import { describeFiles, filesOf, stagedFiles, withoutCopies } from "../user-state.ts";
import type { Files } from "../user-state.ts";

/** The data, and the start of the machine. */
export interface Place {
  readonly dataDir: string;
  readonly boot: string;
  readonly area: Area;
}

/** Recovers like the next process, which must not have to wait. */
export async function faultsAfterKill({ dataDir, boot, area }: Place, allowed: readonly Files[]): Promise<string[]> {
  await look({ dataDir, boot, area });
  const found = filesOf(dataDir);
  const isAllowed = allowed.some(
    (wanted) => describeFiles(withoutCopies(found, wanted, allowed)) === describeFiles(wanted),
  );
  const faults = isAllowed ? [] : [`found ${describeFiles(found)}, allowed ${allowed.map(describeFiles).join(" or ")}`];
  faults.push(...indexFaults(found), ...stagedFiles(dataDir).map((name) => `${name} was left behind`));
  const once = fingerprint(dataDir);
  await look({ dataDir, boot, area });
  if (fingerprint(dataDir) !== once) faults.push("a second recovery changed something");
  return [...faults, ...(await faultsOfNextCalls({ dataDir, boot, area }, found))];
}

/** Checks that the folder can still be used, and that a new write survives a stop of the machine. */
async function faultsOfNextCalls({ dataDir, boot, area }: Place, before: Files): Promise<string[]> {
  const store = open(dataDir, boot);
  await takeStep(store, area.next, 0);
  const wanted = { ...before, ...filesOf(dataDir) };
  // A retirement can be running here too, but a further one would leave nothing to recover.
  await takeStep(store, area.look);
  await look({ dataDir, boot: "a later start of the machine", area });
  const found = filesOf(dataDir);
  const [path, text] = area.nextFile;
  const isAsWanted = describeFiles(found) === describeFiles(wanted) && found[path] === text;
  return isAsWanted
    ? indexFaults(found)
    : [`after the next call: found ${describeFiles(found)}, wanted ${describeFiles(wanted)}`];
}

/** It keeps no session: each call is as one of another process. */
const open = (dataDir: string, boot: string): InstanceType<typeof FileStore> =>
  new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {}, kept: nothingKept }, boot);

const nothingKept = { idleMs: 0, ageMs: 0, sessionsMax: 0 };

/** Does not wait for the lock: the kernel released it when the process died. */
async function look({ dataDir, boot, area }: Place): Promise<void> {
  const store = open(dataDir, boot);
  await takeStep(store, area.look, 0);
  // Waits until a long WAL is retired.
  await store.close();
}

/** The names, bytes and times of everything below the data folder. */
function fingerprint(dataDir: string): string {
  if (!existsSync(dataDir)) return "";
  const names = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).toSorted();
  return names
    .map((name) => {
      const path = join(dataDir, name);
      const facts = statSync(path);
      return facts.isFile() ? `${name} ${facts.mtimeMs} ${readFileSync(path, "base64")}` : name;
    })
    .join("\n");
}
