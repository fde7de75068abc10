/**
 * `npm run bench:builds`: compares builds of memcell, such as one before and one after a change, on one disk.
 *
 * usage: node dist/test/bench/builds/main.js --build NAME=FOLDER [--build NAME=FOLDER]... [--on FOLDER] [--rounds N]
 *
 *   --build   a clone with `node_modules`, after `npm run build`; the first one is what the others are compared with
 *   --on      where the data is; default: a folder on this machine's disk
 *   --rounds  default: 10
 *
 * Each build and the naive way has a process of its own. They take turns: in each round all do one kind of work in a new
 * random order, then the next kind. Processor time is read from `/proc`, so this runs on Linux only.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { temporaryFolder } from "../../support/temporary-folder.ts";
import { printTable, shown } from "../print-results.ts";
import { median, quantile } from "../statistics.ts";
import { shuffled } from "../take-turns.ts";
import { isRead, kinds } from "./work.ts";
import type { Asked, Done, Kind } from "./work.ts";

const windowMs = 500;
const program = fileURLToPath(new URL("process.js", import.meta.url));
const execArgv = ["--disable-warning=ExperimentalWarning"];

const { values } = parseArgs({
  options: {
    build: { type: "string", multiple: true, default: [] },
    on: { type: "string" },
    rounds: { type: "string", default: "10" },
  },
});
const builds = values.build.map((each) => each.split("=") as [name: string, folder?: string]);
if (builds.length === 0 || builds.some(([, folder]) => !folder)) throw new RangeError("--build is not NAME=FOLDER");
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError("--rounds is not a whole number from 1");

interface Running {
  readonly name: string;
  readonly work: (asked: Asked) => Promise<Done>;
  readonly end: () => Promise<void>;
}

using data = temporaryFolder(values.on);
const running: Running[] = [];
for (const [name, folder = name] of [["naive"] as [string, string?], ...builds])
  running.push(await start(name, folder));

const found = new Map<string, Done[]>();
for (let round = -1; round < rounds; round++) {
  for (const kind of kinds) {
    for (const each of shuffled(running, Math.random)) await turn(each, kind, round);
  }
}
for (const kind of kinds) printKind(kind);
for (const each of running) await each.end();
const bytes = builds.map(([name, build = ""]) => [name, ...bytesOf(build, join(data.path, `${name}-filled`))]);
printTable("1,000 upserts on the disk, in KB", ["", "entries and index", "history", "other files of the host"], bytes);

async function start(name: string, build: string): Promise<Running> {
  const child = fork(program, [build, join(data.path, name)], { execArgv });
  const died = once(child, "exit").then(() => Promise.reject(new Error(`The process of ${name} has ended`)));
  died.catch(() => {});
  await Promise.race([once(child, "message"), died]);
  return {
    name,
    work: async (asked) => {
      child.send(asked);
      const [done] = await Promise.race([once(child, "message"), died]);
      return done as Done;
    },
    end: async () => {
      const ended = once(child, "exit");
      child.send("end");
      await ended;
    },
  };
}

/** The first round is for the engines, which compile what has run often. The naive way reads nothing back. */
async function turn({ name, work }: Running, kind: Kind, round: number): Promise<void> {
  if (name === "naive" && isRead(kind)) return;
  const done = await work({ kind, windowMs: windowMs * (round < 0 ? 4 : 1) });
  if (round >= 0) found.set(`${kind} ${name}`, [...(found.get(`${kind} ${name}`) ?? []), done]);
}

/** Medians of the rounds, and ratios to the naive way and to the first build. */
function printKind(kind: Kind): void {
  const of = (name: string, value: (done: Done) => number): number =>
    median((found.get(`${kind} ${name}`) ?? []).map(value));
  const rateOf = (name = ""): number => of(name, ({ times, elapsedMs }) => (times.length / elapsedMs) * 1000);
  const rows = running.map(({ name }) => [
    name,
    shown(of(name, ({ times }) => median(times))),
    shown(of(name, ({ times }) => quantile(times, 0.99))),
    rateOf(name).toFixed(0),
    `${shown(rateOf(name) / rateOf("naive"))} ×`,
    `${shown(rateOf(name) / rateOf(builds[0]?.[0]))} ×`,
    of(name, ({ times, mainMs }) => mainMs / times.length).toFixed(3),
    of(name, ({ times, othersMs }) => othersMs / times.length).toFixed(3),
  ]);
  const heads = ["", "median, ms", "p99", "a second", "naive", "first", "main thread, ms a call", "other threads"];
  printTable(kind, heads, rows);
}

/** What 1,000 upserts of one user leave on the disk, in KB. */
function bytesOf(build: string, dataDir: string): string[] {
  execFileSync(process.execPath, [...execArgv, program, build, dataDir, "fill"]);
  const kilobytes = { entries: 0, history: 0, others: 0 };
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    kilobytes[kindOf(relative(dataDir, path))] += lstatSync(path).size / 1000;
  }
  return Object.values(kilobytes).map((each) => each.toFixed(0));
}

function kindOf(path: string): "entries" | "history" | "others" {
  if (path.includes("/.memcell/history/")) return "history";
  return path.endsWith(".md") ? "entries" : "others";
}
