/** 1. A durable upsert: memcell, the naive way, and peers, on this machine's disk and on a separate ext4 disk. */
import { join } from "node:path";

import { loopDisk } from "../../support/loop-disk.ts";
import type { BenchRun } from "../bench-run.ts";
import { figureOf } from "../figure.ts";
import type { Section, Table } from "../results.ts";
import { settler } from "../settler.ts";
import { median, summarise } from "../statistics.ts";
import { takeTurns, timesOf } from "../take-turns.ts";
import type { Times } from "../take-turns.ts";
import { judged, targets } from "../targets.ts";
import type { Bound } from "../targets.ts";
import { equalTransport, openWays, overStdio } from "./contestants.ts";
import type { Way } from "./way.ts";

const diskBytes = 256 * 2 ** 20;

interface Disk {
  readonly key: string;
  readonly name: string;
  readonly bound: Bound;
}

const journaled = { key: "journaled", name: "a journaled ext4 on a loop device", bound: targets.durableAgainstNaive };
const own = { key: "disk", name: "this machine's disk", bound: targets.durableOnOwnDisk };

export async function measureDurable(run: BenchRun): Promise<Section> {
  const tables = await onDisk(run, own, join(run.folder, "durable"));
  const notes = [
    "40 entries of 1 KB, each replaced in every round; blocks of 10 calls, the disk flushed before each block",
    "the peers write one file where memcell writes two; the rows that write both do what memcell does",
    "none of the MCP peers flushes anything; the memory tool flushes files and no folder",
    "memcell serve is spoken to by the same client, in the same revision of the protocol and over the same pipes as the peers",
  ];
  const title = "A durable upsert";
  const disk = await loopDisk("ext4", { bytes: diskBytes });
  if (typeof disk === "string") return { number: 1, title, notes: [...notes, `no ext4 disk: ${disk}`], tables };
  using mounted = disk;
  tables.push(...(await onDisk(run, journaled, join(mounted.path, "durable"))));
  return { number: 1, title, notes, tables };
}

async function onDisk(run: BenchRun, disk: Disk, folder: string): Promise<Table[]> {
  const ways = await openWays(folder);
  using settling = settler(folder);
  try {
    const times = await takeTurns(ways, {
      rounds: run.rounds,
      passes: run.isQuick ? 2 : 4,
      block: 10,
      warmUpRounds: run.isQuick ? 1 : 10,
      settle: settling.settle,
      beforeRound: () => run.noise.sampleRound(),
    });
    const found = { ways, times };
    return [againstNaive(disk, found), tail(disk, found), againstPeers(disk, found), withoutTransport(disk, found)];
  } finally {
    for (const way of ways) await way.close();
  }
}

interface Found {
  readonly ways: readonly Way[];
  readonly times: Times;
}

function againstNaive({ key, name, bound }: Disk, { ways, times }: Found): Table {
  const naive = { key: "naive", rounds: timesOf(times, "naive") };
  const figures = ways.map((way) =>
    figureOf({
      key: way.key,
      name: way.name,
      facts: way.facts,
      rounds: timesOf(times, way.key),
      against: naive,
      ...(way.key === "memcell" && { judge: (found) => [judged(bound, found)] }),
    }),
  );
  return { key: `durable-${key}`, title: `A durable upsert on ${name}, against the naive way`, unit: "ms", figures };
}

/** The slowest hundredth of all calls, against their median. */
function tail({ key, name }: Disk, { times }: Found): Table {
  const figures = ["memcell", "naive"].map((way) => {
    const { median: middle, p99 } = summarise(timesOf(times, way));
    return figureOf({
      key: way,
      name: way,
      rounds: [[p99]],
      against: { key: "median", rounds: [[middle]] },
      ...(way === "memcell" && { judge: (found) => [judged(targets.durableTail, found)] }),
    });
  });
  return { key: `tail-${key}`, title: `The 99th percentile on ${name}, against the median`, unit: "ms", figures };
}

function againstPeers({ key: disk, name }: Disk, { ways, times }: Found): Table {
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
  return { key: `peers-${disk}`, title: `Against peers at equal transport, on ${name}`, unit: "ms", figures };
}

/** Times of calls over stdio minus those of an empty call, next to memcell in this process. */
function withoutTransport({ key, name: disk }: Disk, { ways, times }: Found): Table {
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
