/** 1. A durable upsert: memcell, the naive way, and peers, on this machine's disk and on a separate ext4 disk. */
import { join } from "node:path";

import { loopDisk } from "../../support/loop-disk.ts";
import type { BenchRun } from "../bench-run.ts";
import { figureOf } from "../figure.ts";
import type { Section, Table } from "../results.ts";
import { settler } from "../settler.ts";
import { median } from "../statistics.ts";
import { takeTurns, timesOf } from "../take-turns.ts";
import type { Times } from "../take-turns.ts";
import { judged, targets } from "../targets.ts";
import { equalTransport, openWays, overStdio } from "./contestants.ts";
import type { Way } from "./way.ts";

const diskBytes = 256 * 2 ** 20;

export async function measureDurable(run: BenchRun): Promise<Section> {
  const tables = await onDisk(run, "disk", "this machine's disk", join(run.folder, "durable"));
  const notes = [
    "40 entries of 1 KB, each replaced in every round; blocks of 10 calls, the disk flushed before each block",
    "the peers write one file where memcell writes two; the rows that write both do what memcell does",
    "none of the MCP peers flushes anything; the memory tool flushes files and no folder",
    "memcell serve is spoken to by the same client, in the same revision of the protocol and over the same pipes as the peers",
  ];
  const disk = await loopDisk("ext4", { bytes: diskBytes });
  if (typeof disk === "string") return { number: 1, title, notes: [...notes, `no ext4 disk: ${disk}`], tables };
  using mounted = disk;
  const onLoop = await onDisk(run, "ext4", "an ext4 disk on a loop device", join(mounted.path, "durable"));
  return { number: 1, title, notes, tables: [...tables, ...onLoop] };
}

const title = "A durable upsert";

async function onDisk(run: BenchRun, key: string, disk: string, folder: string): Promise<Table[]> {
  const ways = await openWays(folder);
  using settling = settler(folder);
  try {
    const times = await takeTurns(ways, {
      rounds: run.rounds,
      passes: run.isQuick ? 2 : 4,
      block: 10,
      settle: settling.settle,
      beforeRound: () => run.noise.sampleRound(),
    });
    return [
      againstNaive(key, disk, { ways, times }),
      againstPeers(key, disk, { ways, times }),
      withoutTransport(key, disk, { ways, times }),
    ];
  } finally {
    for (const way of ways) await way.close();
  }
}

interface Found {
  readonly ways: readonly Way[];
  readonly times: Times;
}

function againstNaive(key: string, disk: string, { ways, times }: Found): Table {
  const naive = { key: "naive", rounds: timesOf(times, "naive") };
  const figures = ways.map((way) =>
    figureOf({
      key: way.key,
      name: way.name,
      facts: way.facts,
      rounds: timesOf(times, way.key),
      against: naive,
      ...(way.key === "memcell" && { judge: (found) => [judged(targets.durableAgainstNaive, found)] }),
    }),
  );
  return { key: `durable-${key}`, title: `A durable upsert on ${disk}, against the naive way`, unit: "ms", figures };
}

function againstPeers(key: string, disk: string, { ways, times }: Found): Table {
  const nameOf = (wanted: string): string => ways.find((way) => way.key === wanted)?.name ?? wanted;
  const figures = equalTransport.map(({ key: pair, ours, peer }) =>
    figureOf({
      key: pair,
      name: `${nameOf(ours)}, against ${peer.endsWith("-both") ? `${nameOf(peer.slice(0, -5))}, both files` : nameOf(peer)}`,
      facts: { transport: ways.find((way) => way.key === ours)?.facts.transport ?? "" },
      rounds: timesOf(times, ours),
      against: { key: peer, rounds: timesOf(times, peer) },
      judge: (found) => [judged(targets.againstPeer, found)],
    }),
  );
  return { key: `peers-${key}`, title: `Against peers at equal transport, on ${disk}`, unit: "ms", figures };
}

/** Times of calls over stdio minus those of an empty call, next to memcell in this process. */
function withoutTransport(key: string, disk: string, { ways, times }: Found): Table {
  const empty = timesOf(times, "empty-call").map(median);
  const inProcess = timesOf(times, "memcell");
  const figures = overStdio.map((each) => {
    const less = timesOf(times, each).map((round, at) => [median(round) - (empty[at] ?? Number.NaN)]);
    const name = ways.find((way) => way.key === each)?.name ?? each;
    const against = { key: "memcell", rounds: inProcess.map((round) => [median(round)]) };
    return figureOf({
      key: each,
      name: `${name}, less an empty call`,
      facts: { transport: "taken off" },
      rounds: less,
      against,
    });
  });
  return {
    key: `bare-${key}`,
    title: `Without the transport, against memcell in process, on ${disk}`,
    unit: "ms",
    figures,
  };
}
