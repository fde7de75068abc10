/** The Go host's own tests, in Go: its contexts, and the package `runhistory`. Each is a test here. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { expect, inject, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { hostSources } from "./host-sources.ts";
import { programOf } from "./program-of.ts";

const sources = hostSources("go");

/** The packages by folder. */
const packages = { ".": "memcell-host", runhistory: "memcell-host/runhistory" } as const;

/** A test function, such as `memcell-host/runhistory.TestRawJSON`. */
const goTestNames: readonly string[] = Object.entries(packages).flatMap(([folder, name]) =>
  readdirSync(join(sources, folder))
    .filter((file) => file.endsWith("_test.go"))
    .flatMap((file) => Array.from(readFileSync(join(sources, folder, file), "utf8").matchAll(/^func (Test\w+)\(t /gm)))
    .map(([, found]) => `${name}.${found}`),
);

interface GoTestResult {
  /** `pass`, `fail` or `skip`. */
  readonly action: string;
  readonly output: string;
}

/** Runs a Go command in the host's folder. Rejects with all its output. */
async function runGo(args: readonly string[], signal?: AbortSignal): Promise<string> {
  // The tests start the Node host with the Node that runs this.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  const options = { cwd: sources, env, maxBuffer: 64 * 1024 * 1024, signal };
  const { stdout } = await promisify(execFile)("go", args, options).catch((error: Error & { stdout?: string }) => {
    throw new Error(`${error.message}\n${error.stdout ?? ""}`, { cause: error });
  });
  return stdout;
}

/** The build flags of the host, so that packages are not compiled again. */
const buildFlags = ["-trimpath", "-buildvcs=false", "-mod=readonly"];
/** `-count`: results of earlier runs do not count. */
const testCommand = ["test", ...buildFlags, "-count=1"];

/** Runs all Go tests once. Returns the results by name; a package that does not compile has none. */
async function runGoTests(signal: AbortSignal): Promise<Map<string, GoTestResult>> {
  const lines = await runGo([...testCommand, "-json", "./..."], signal).catch((error: Error) => error.message);
  const results = new Map<string, GoTestResult>();
  const outputs = new Map<string, string>();
  for (const line of lines.split("\n").filter((each) => each.startsWith("{"))) {
    const event = JSON.parse(line) as { Action: string; Package?: string; Test?: string; Output?: string };
    const name = event.Test === undefined ? "" : `${event.Package}.${event.Test}`;
    const output = (outputs.get(name) ?? "") + (event.Output ?? "");
    outputs.set(name, output);
    if (["pass", "fail", "skip"].includes(event.Action)) results.set(name, { action: event.Action, output });
  }
  if (results.size === 0) throw new Error(lines);
  return results;
}

const host = inject("hosts").find(({ language }) => language === "Go");
if (!host) throw new Error("There is no Go host");

/** The first one waits for all of them, and compiles the race detector's runtime. */
const timeout = 10 * 60_000;

let results: Promise<Map<string, GoTestResult>> | null = null;

test.for(goTestNames)("%s", { timeout }, async (name, context) => {
  programOf(host, context);
  results ??= runGoTests(AbortSignal.timeout(timeout));
  const { action, output } = (await results).get(name) ?? { action: "did not run", output: "" };
  expect(action, output).toBe("pass");
});

test("the race detector finds nothing", { timeout }, async (context) => {
  programOf(host, context);
  const compiler = (await runGo(["env", "CC"])).trim();
  const isThere = await promisify(execFile)(compiler, ["--version"]).then(
    () => true,
    () => false,
  );
  if (!isThere) skipWithReason(context, `it needs a C compiler, and there is no ${compiler}`);
  const manyGoroutines = [...testCommand, "-race", "-run", "Goroutine|Shar", "./..."];
  expect(await runGo(manyGoroutines, AbortSignal.timeout(timeout))).toMatch(/^ok\s+memcell-host\s/m);
});

test("the sources are formatted, and go vet finds nothing", { timeout }, async (context) => {
  programOf(host, context);
  const { stdout } = await promisify(execFile)("gofmt", ["-l", sources]);
  expect(stdout).toBe("");
  expect(await runGo(["vet", ...buildFlags, "./..."])).toBe("");
});
