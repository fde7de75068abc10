/**
 * The store under power cuts, block by block: whatever the disk has kept, the next start finds every acknowledged
 * change, and all or nothing of an unfinished one.
 *
 * `TEST_LONG=1` tries ten times as many states, `TEST_SEEDED=1` a third.
 */
import { beforeAll, describe, expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { afterCrash } from "./after-crash.ts";
import type { BlockLog } from "./block-log.ts";
import type { FileSystemKind } from "./file-systems.ts";
import { loggedDisk } from "./logged-disk.ts";
import { operationsOf, ownerAt, owners, statesAfter } from "./operations.ts";
import type { Owner, OwnerState } from "./operations.ts";
import { act, fareOf } from "./person.ts";
import type { Act } from "./person.ts";
import { acknowledgedAt, sampledCuts } from "./sampled-cuts.ts";
import { commitOnce, dataDirOn, perform, recoverAll } from "./store-on-disk.ts";
import type { Recovered } from "./store-on-disk.ts";

const scale = process.env["TEST_LONG"] ? 10 : process.env["TEST_SEEDED"] ? 1 / 3 : 1;
const statesOf: Readonly<Record<FileSystemKind, number>> = { ext4: 220, "ext4-writeback": 60, xfs: 60, btrfs: 60 };
const kinds = Object.keys(statesOf) as FileSystemKind[];
const recoveriesCount = 4;
const statesPerRecovery = 15;

const operations = operationsOf();
const states = statesAfter(operations);

/** Allows further files in `trash/`: recovery puts a torn file's content there, because it looks like an edit. */
function isState(found: OwnerState, expected: OwnerState): boolean {
  const extra = Object.keys(found).filter((path) => !(path in expected));
  const isWhole = Object.entries(expected).every(([path, text]) => found[path] === text);
  return isWhole && extra.every((path) => /^[^/]+\/trash\//.test(path));
}

/** The faults of a recovered disk, apart from the files that a person has changed; empty if there are none. */
function faultsOf({ states: found, strayFiles }: Recovered, acknowledged: number, acted: Act | null = null): string[] {
  const apart = (owner: Owner, files: OwnerState): OwnerState =>
    owner !== acted?.owner
      ? files
      : Object.fromEntries(Object.entries(files).filter(([path]) => !acted.paths.includes(path)));
  const holds = [states[acknowledged], states[acknowledged + 1]].some((expected) =>
    owners.every((owner) =>
      isState(apart(owner, found.get(owner) ?? {}), apart(owner, expected?.get(owner) ?? { missing: "" })),
    ),
  );
  const lost = holds ? [] : [`after ${acknowledged} acknowledged: ${shown(found, acknowledged)}`];
  return [...lost, ...strayFiles.map((name) => `${name} was left`)];
}

function shown(found: Recovered["states"], acknowledged: number): string {
  const differing = owners.filter((owner) =>
    [acknowledged, acknowledged + 1].every((at) => !isState(found.get(owner) ?? {}, states[at]?.get(owner) ?? {})),
  );
  const files = differing.map((owner) => [owner, found.get(owner), states[acknowledged]?.get(owner)]);
  return JSON.stringify(files, (_key, value) => (typeof value === "string" ? value.slice(0, 60) : value));
}

async function logOfOperations(kind: FileSystemKind): Promise<BlockLog | string> {
  const disk = await loggedDisk(kind);
  if (typeof disk === "string") return disk;
  using held = disk;
  await perform(operations, held);
  return held.log;
}

describe("the store after a power cut", { timeout: 1_200_000 }, () => {
  // The first disk of a kind can have to install packages.
  beforeAll(async () => {
    for (const kind of kinds) {
      const disk = await loggedDisk(kind);
      if (typeof disk !== "string") disk[Symbol.dispose]();
    }
  }, 600_000);

  test.for(kinds)("on %s every acknowledged change is there, and no change in part", async (kind, context) => {
    const log = await logOfOperations(kind);
    if (typeof log === "string") skipWithReason(context, log);
    using crash = afterCrash(log);
    const [faults, cuts] = [
      [] as unknown[],
      [...sampledCuts(log, { count: statesOf[kind] * scale, seed: 1, mayTear: kind.startsWith("ext4") })],
    ];
    let asideCount = 0;
    const fares: Record<string, number> = {};
    await crash.mountEach(cuts, async (folder, cut) => {
      // After every other cut, a person is faster than the host.
      const acted = (cut.seed ?? 0) % 2 === 0 ? act(dataDirOn(folder), cut.seed ?? 0, states) : null;
      const recovered = await recoverAll(folder, "second start");
      asideCount += recovered.notes.filter((note) => note.includes("moved")).length;
      const found = faultsOf(recovered, acknowledgedAt(log, cut.position), acted);
      if (acted !== null) {
        const fare = fareOf(acted, recovered.states.get(acted.owner) ?? {});
        fares[`${acted.does}: ${fare}`] = (fares[`${acted.does}: ${fare}`] ?? 0) + 1;
        if (fare === "lost") found.push(`the person's ${acted.does} of ${acted.paths[0]} is lost`);
      }
      if (found.length > 0) faults.push({ cut, acted, found, notes: recovered.notes });
      await commitOnce(folder, "third start", ownerAt(cut.position));
    });
    console.log(
      `${kind}: ${faults.length} faults in ${cuts.length} states, log of ${log.records.length} records, ${asideCount} files put aside`,
      fares,
    );
    expect(faults).toEqual([]);
  });

  test("a power cut during recovery loses nothing either", async (context) => {
    const log = await logOfOperations("ext4");
    if (typeof log === "string") skipWithReason(context, log);
    using crash = afterCrash(log);
    const faults: unknown[] = [];
    let statesCount = 0;
    for (const cut of sampledCuts(log, { count: recoveriesCount * Math.max(1, scale), seed: 2, mayTear: true })) {
      const recovering = await recoveryLog(crash.image(cut));
      if (typeof recovering === "string") skipWithReason(context, recovering);
      using crashAgain = afterCrash(recovering.log);
      const cutsAgain = sampledCuts(recovering.log, { count: statesPerRecovery, seed: 3, mayTear: false });
      await crashAgain.mountEach(cutsAgain, async (folder, again) => {
        statesCount++;
        const recovered = await recoverAll(folder, "third start");
        const found = faultsOf(recovered, acknowledgedAt(log, cut.position));
        // Files that a recovery has shown must not change.
        for (const seen of recovering.log.marksBefore(again.position)) {
          const state = recovered.states.get(ownerAt(Number(seen))) ?? {};
          if (!isState(state, recovering.shown[Number(seen)] ?? {})) found.push(`${seen} is not as it was shown`);
        }
        if (found.length > 0) faults.push({ cut, again, found });
      });
    }
    console.log(`ext4: ${faults.length} faults in ${statesCount} states after a recovery that was cut`);
    expect(faults).toEqual([]);
  });
});

/** Recovers one owner after the other on a logged disk, and sets a mark after reading each owner's files. */
async function recoveryLog(
  content: ReturnType<ReturnType<typeof afterCrash>["image"]>,
): Promise<{ log: BlockLog; shown: OwnerState[] } | string> {
  const disk = await loggedDisk("ext4", { content });
  if (typeof disk === "string") return disk;
  using held = disk;
  const seen: OwnerState[] = [];
  await recoverAll(held.mountPoint, "second start", (_owner, state) => {
    held.mark(`${seen.length}`);
    seen.push(state);
  });
  return { log: held.log, shown: seen };
}
