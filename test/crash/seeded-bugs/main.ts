/**
 * Runs the crash suites against every seeded bug until one finds it: `npm run test:seeded`. Arguments name the bugs to
 * run; `--suite <part of its path>`, repeatable, picks suites. The README's table is written only without arguments.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, env, execPath, pid } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { twoAtATime } from "../../support/two-at-a-time.ts";
import { seededBugs } from "./bugs.ts";
import type { SeededBug } from "./bugs.ts";
import { seedHost } from "./seed-host.ts";

const project = fileURLToPath(new URL("../../../..", import.meta.url));
const dist = join(project, "dist");
const readme = join(project, "test/crash/README.md");
/**
 * The prefixes of the suites' files in both tiers, without suites that test only the rig or count what no bug changes.
 * The quick ones, and those that find most, come first.
 */
const suitePaths = [
  "test/crash/joint-edits",
  "test/crash/kept-sessions",
  "test/crash/model/model.test",
  "test/crash/model/model.slow",
  "test/crash/left-over/left-over",
  "test/crash/same-instant",
  "test/crash/power-cut/power-cut",
  "test/crash/kill/kill-sweep",
  "test/crash/fault/fault-sweep",
  "test/crash/kill/kill-under-load",
  "test/hammer/processes",
];
/** Separates concurrent runs. */
const purpose = `seeded-${pid}`;
const suiteMaxMs = 15 * 60_000;

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  options: { suite: { type: "string", multiple: true } },
  allowPositionals: true,
});
const suites = suitePaths.filter((each) => (values.suite ?? [""]).some((part) => each.includes(part)));
// No suite finds one that is harmless, so it would be run by all of them.
const bugs = seededBugs.filter(({ name, isHarmless }) =>
  positionals.length === 0 ? isHarmless === undefined : positionals.includes(name),
);

// Checks first that all bugs still apply, because the run takes half an hour.
for (const bug of seededBugs) rmSync(join(seedHost(dist, purpose, bug), ".."), { recursive: true });

const foundBy = new Map<SeededBug, string | null>(bugs.map((bug) => [bug, null]));
/** By suite: whether it passes without a bug. Otherwise it would seem to find every bug. */
const sound = new Map<string, Promise<boolean>>();

await twoAtATime(bugs, async (bug) => {
  const host = seedHost(dist, purpose, bug);
  foundBy.set(bug, await firstToFind(bug, host));
  rmSync(join(host, ".."), { recursive: true });
});
rmSync(join(dist, purpose), { recursive: true, force: true });

const table = markdown();
console.log(table);
if (argv.length === 2) writeDown(table);
for (const [bug, suite] of foundBy) {
  if (suite === null) console.error(`No suite finds: ${bug.name}`);
}
const isAllSound = (await Promise.all(sound.values())).every(Boolean);
process.exitCode = isAllSound && !Array.from(foundBy.values()).includes(null) ? 0 : 1;

async function firstToFind(bug: SeededBug, host: string): Promise<string | null> {
  for (const suite of suites) {
    // oxlint-disable-next-line no-await-in-loop -- the first one that finds it ends the search
    const isFound = (await fails(suite, host)) && (await isSound(suite));
    console.error(`${bug.name} · ${suite}: ${isFound ? "found" : "not found"}`);
    if (isFound) return suite;
  }
  return null;
}

async function isSound(suite: string): Promise<boolean> {
  const known = sound.get(suite) ?? fails(suite, null).then((hasFailed) => !hasFailed);
  sound.set(suite, known);
  if (!(await known)) console.error(`${suite} fails without any bug, so it finds none`);
  return known;
}

/** A suite that hangs has found the bug as well. */
async function fails(suite: string, host: string | null): Promise<boolean> {
  const config = "test/vitest.config.ts";
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", config, "--maxWorkers", "1", "--bail", "1", suite];
  const { TEST_HOST: _none, ...rest } = env;
  const child = spawn(execPath, args, {
    cwd: project,
    env: { ...rest, TEST_BUILT: "1", TEST_SEEDED: "1", TEST_SEED: "3", ...(host !== null && { TEST_HOST: host }) },
    stdio: "ignore",
    timeout: suiteMaxMs,
    killSignal: "SIGKILL",
  });
  const [status] = (await once(child, "close")) as [number | null];
  return status !== 0;
}

function markdown(): string {
  const rows = Array.from(foundBy, ([{ name }, suite]) => `| ${name} | ${suite?.split("/").at(-1) ?? "none"} |`);
  return ["| bug | found by |", "|---|---|", ...rows].join("\n");
}

function writeDown(rows: string): void {
  const [start, end] = ["<!-- seeded bugs -->\n", "<!-- end of seeded bugs -->"];
  const document = readFileSync(readme, "utf8");
  const [before, after] = [document.indexOf(start), document.indexOf(end)];
  if (before === -1 || after === -1) throw new Error("The README of the crash suites has no place for the table");
  writeFileSync(readme, `${document.slice(0, before + start.length)}\n${rows}\n\n${document.slice(after)}`);
}
