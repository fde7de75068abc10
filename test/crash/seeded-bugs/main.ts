/**
 * Runs the crash suites against every seeded bug and reports which suite finds which: `npm run test:seeded`. Arguments
 * name the bugs to run; then the README's table is not written. `--suite <part of its path>`, repeatable, picks suites.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, env, execPath, pid } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { seededBugs } from "./bugs.ts";
import { seedHost } from "./seed-host.ts";
import type { SeededBug } from "./seeded-bug.ts";

const project = fileURLToPath(new URL("../../../..", import.meta.url));
const readme = join(project, "test/crash/README.md");
/**
 * The prefixes of the suites' files in both tiers, without suites that test only the rig or count what no bug changes.
 */
const suitePaths = [
  "test/crash/model/model",
  "test/crash/kill/kill-sweep",
  "test/crash/kill/kill-under-load",
  "test/crash/fault/fault-sweep",
  "test/crash/power-cut/power-cut",
  "test/crash/joint-edits",
  "test/crash/kept-sessions",
  "test/crash/same-instant",
  "test/crash/left-over/left-over",
  "test/hammer/processes",
];
/** Separates concurrent runs. */
const purpose = `seeded-${pid}`;
const suiteMaxMs = 15 * 60_000;

type Outcome = "caught" | "survived" | "not applicable";

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  options: { suite: { type: "string", multiple: true } },
  allowPositionals: true,
});
const suites = suitePaths.filter((each) => (values.suite ?? [""]).some((part) => each.includes(part)));
const bugs = seededBugs.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const table = new Map<SeededBug, Outcome[]>();

// Checks first that all bugs still apply, because the run takes an hour.
for (const bug of bugs) rmSync(join(seedHost(join(project, "dist"), purpose, bug), ".."), { recursive: true });

// A suite that fails without a bug would seem to find every bug.
const sound = suites.filter((suite) => {
  const isSound = run(suite, null) !== "caught";
  if (!isSound) console.error(`${suite} fails without any bug and is left out`);
  return isSound;
});
for (const bug of bugs) {
  const host = seedHost(join(project, "dist"), purpose, bug);
  table.set(
    bug,
    sound.map((suite) => report(bug, suite, run(suite, host))),
  );
  rmSync(join(host, ".."), { recursive: true, force: true });
}

rmSync(join(project, "dist", purpose), { recursive: true, force: true });

const text = markdown();
console.log(text);
if (positionals.length === 0) writeDown(text);
const missed = [...table].filter(([bug, outcomes]) => !bug.isHarmless && !outcomes.includes("caught"));
for (const [bug] of missed) console.error(`No suite finds: ${bug.name}`);
process.exitCode = missed.length > 0 || sound.length < suites.length ? 1 : 0;

function run(suite: string, host: string | null): Outcome {
  const config = host === null ? "test/vitest.config.ts" : "test/crash/seeded-bugs/vitest.config.ts";
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", config, "--bail", "1", suite];
  const { TEST_HOST: _none, ...rest } = env;
  const done = spawnSync(execPath, args, {
    cwd: project,
    encoding: "utf8",
    env: { ...rest, TEST_SEEDED: "1", ...(host && { TEST_HOST: host }) },
    maxBuffer: Infinity,
    timeout: suiteMaxMs,
    killSignal: "SIGKILL",
  });
  // A suite that hangs has found the bug as well.
  if (done.status !== 0) return "caught";
  return /\d+ passed/.test(done.stdout) ? "survived" : "not applicable";
}

function report(bug: SeededBug, suite: string, outcome: Outcome): Outcome {
  console.error(`${bug.name} · ${suite}: ${outcome}`);
  return outcome;
}

function markdown(): string {
  const names = sound.map((suite) => suite.split("/").slice(-2).join("/"));
  const rows = Array.from(table, ([{ name, isHarmless }, outcomes]) => {
    const cells = outcomes.map((outcome) => (outcome === "survived" ? "·" : outcome));
    return `| ${[name + (isHarmless === undefined ? "" : " (harmless)"), ...cells].join(" | ")} |`;
  });
  return [`| bug | ${names.join(" | ")} |`, `|---|${names.map(() => "---|").join("")}`, ...rows].join("\n");
}

function writeDown(rows: string): void {
  const [start, end] = ["<!-- seeded bugs -->\n", "<!-- end of seeded bugs -->"];
  const document = existsSync(readme) ? readFileSync(readme, "utf8") : "";
  const [before, after] = [document.indexOf(start), document.indexOf(end)];
  if (before === -1 || after === -1) throw new Error("The README of the crash suites has no place for the table");
  writeFileSync(readme, `${document.slice(0, before + start.length)}\n${rows}\n\n${document.slice(after)}`);
}
