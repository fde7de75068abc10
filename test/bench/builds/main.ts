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
import { parseArgs } from "node:util";

import { temporaryFolder } from "../../support/temporary-folder.ts";
import { shuffled } from "../take-turns.ts";
import { startBuild, startNaive } from "./contestants.ts";
import type { Running } from "./contestants.ts";
import { printBytes } from "./print-bytes.ts";
import { printKind } from "./print-kind.ts";
import { kinds } from "./work.ts";
import type { Done, Kind } from "./work.ts";

const windowMs = 500;

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

using data = temporaryFolder(values.on);
const running: Running[] = [await startNaive(data.path)];
for (const [name, folder = ""] of builds) running.push(await startBuild(name, folder, data.path));

const found = new Map<string, Done[]>();
for (let round = -1; round < rounds; round++) {
  for (const kind of kinds) {
    for (const each of shuffled(running, Math.random)) await turn(each, kind, round);
  }
}
for (const kind of kinds) printKind(kind, running, found);
for (const each of running) await each.end();
printBytes(
  builds.map(([name, build = ""]) => [name, build] as const),
  data.path,
);

/** The first round is for the engines, which compile what has run often. */
async function turn({ name, can, work }: Running, kind: Kind, round: number): Promise<void> {
  if (!can(kind)) return;
  const done = await work(kind, windowMs * (round < 0 ? 4 : 1));
  if (round >= 0) found.set(`${kind} ${name}`, [...(found.get(`${kind} ${name}`) ?? []), done]);
}
