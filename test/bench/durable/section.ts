/** A durable upsert: memcell, the naive way, and peers, on this machine's disk and on a separate ext4 disk. */
import { join } from "node:path";

import { loopDisk } from "../../support/loop-disk.ts";
import { bounds, figureOf, median, quantile } from "../figures.ts";
import type { Bound } from "../figures.ts";
import { settler } from "../machine.ts";
import type { Section, Table } from "../results.ts";
import { takeTurns } from "../take-turns.ts";
import type { BenchRun, Found } from "../take-turns.ts";
import { openWays } from "./ways.ts";
import type { Way } from "./ways.ts";

const diskBytes = 256 * 2 ** 20;

interface Disk {
  readonly key: string;
  readonly name: string;
  readonly bound: Bound;
}

const own = { key: "disk", name: "this machine's disk", bound: bounds.durableOnOwnDisk };
const journaled = { key: "journaled", name: "a journaled ext4 on a loop device", bound: bounds.durableAgainstNaive };

/** Pairs with equal transport and equal promises. No peer's calls survive a cut of the power. */
const equalTransport = [
  { peer: "memory-tool-both", ours: "memcell-relaxed" },
  { peer: "filesystem-both", ours: "memcell-stdio-relaxed" },
  { peer: "memory-server", ours: "memcell-stdio-relaxed" },
] as const;

export async function measureDurable(run: BenchRun): Promise<Section> {
  const tables = await onDisk(run, own, join(run.folder, "durable"));
  const notes = [
    "40 entries of 1 KB, each replaced in every round; blocks of 10 calls, the disk flushed before each block",
    "peers without an index write a second file like the first, as memcell writes an entry and the index",
    "none of the MCP peers flushes anything; the memory tool flushes files and no folder",
    "memcell serve is spoken to by the same client, in the same revision of the protocol and over the same pipes as the peers",
  ];
  const title = "A durable upsert";
  const disk = await loopDisk("ext4", { bytes: diskBytes });
  if (typeof disk === "string") return { title, notes: [...notes, `no ext4 disk: ${disk}`], tables };
  using mounted = disk;
  tables.push(...(await onDisk(run, journaled, join(mounted.path, "durable"))));
  return { title, notes, tables };
}

async function onDisk(run: BenchRun, disk: Disk, folder: string): Promise<Table[]> {
  const ways = await openWays(folder);
  using settling = settler(folder);
  try {
    const plan = { passes: run.isQuick ? 2 : 4, block: 10, warmUpRounds: run.isQuick ? 1 : 10 };
    const found = await takeTurns(run, ways, { ...plan, settle: settling.settle });
    return [againstNaive(disk, ways, found), tail(disk, found), againstPeers(disk, ways, found)];
  } finally {
    for (const way of ways) await way.close();
  }
}

function againstNaive({ key: disk, name: where, bound }: Disk, ways: readonly Way[], found: Found): Table {
  const against = { key: "naive", rounds: found("naive") };
  const figures = ways.map(({ key, name }) =>
    figureOf({ key, name, rounds: found(key), against, bound: key === "memcell" ? bound : undefined }),
  );
  return { key: `durable-${disk}`, title: `A durable upsert on ${where}, against the naive way`, unit: "ms", figures };
}

/** The slowest hundredth of all calls, against their median. */
function tail({ key, name }: Disk, found: Found): Table {
  const figures = ["memcell", "naive"].map((way) => {
    const all = found(way).flat();
    return figureOf({
      key: way,
      name: way,
      rounds: [[quantile(all, 0.99)]],
      against: { key: "median", rounds: [[median(all)]] },
      bound: way === "memcell" ? bounds.durableTail : undefined,
    });
  });
  return { key: `tail-${key}`, title: `The 99th percentile on ${name}, against the median`, unit: "ms", figures };
}

function againstPeers({ key: disk, name }: Disk, ways: readonly Way[], found: Found): Table {
  const nameOf = (wanted: string): string => ways.find(({ key }) => key === wanted)?.name ?? wanted;
  const figures = equalTransport.map(({ ours, peer }) =>
    figureOf({
      key: peer,
      name: `${nameOf(ours)}, against ${nameOf(peer)}`,
      rounds: found(ours),
      against: { key: peer, rounds: found(peer) },
      bound: bounds.againstPeer,
    }),
  );
  return { key: `peers-${disk}`, title: `Against peers at equal transport, on ${name}`, unit: "ms", figures };
}
