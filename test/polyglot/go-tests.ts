/** The tests of the Go host, which are written in Go beside it. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { hostSources } from "./host-sources.ts";

const sources = hostSources("go");

/** The packages by folder. */
const packages = { ".": "memcell-host", runhistory: "memcell-host/runhistory" } as const;

/** A test function, such as `memcell-host/runhistory.TestRawJSON`. */
export const goTestNames: readonly string[] = Object.entries(packages).flatMap(([folder, name]) =>
  readdirSync(join(sources, folder))
    .filter((file) => file.endsWith("_test.go"))
    .flatMap((file) => Array.from(readFileSync(join(sources, folder, file), "utf8").matchAll(/^func (Test\w+)\(t /gm)))
    .map(([, test]) => `${name}.${test}`),
);

export interface GoTestResult {
  /** `pass`, `fail` or `skip`. */
  readonly action: string;
  readonly output: string;
}

/** Runs a Go command in the host's folder. Rejects with all its output. */
export async function runGo(args: readonly string[], signal?: AbortSignal): Promise<string> {
  // The tests start the Node host with the Node that runs this.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  const options = { cwd: sources, env, maxBuffer: 64 * 1024 * 1024, signal };
  const { stdout } = await promisify(execFile)("go", args, options).catch((error: Error & { stdout?: string }) => {
    throw new Error(`${error.message}\n${error.stdout ?? ""}`, { cause: error });
  });
  return stdout;
}

/** With the build flags of the host, so that packages are not compiled again. `-count`: results of earlier runs do not count. */
const testCommand = ["test", "-trimpath", "-buildvcs=false", "-mod=readonly", "-count=1"];

/** Runs all Go tests once. Returns the results by name; a package that does not compile has none. */
export async function runGoTests(signal: AbortSignal): Promise<Map<string, GoTestResult>> {
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

/** Runs the tests of many goroutines with Go's race detector. Rejects with its output. */
export function runWithRaceDetector(signal: AbortSignal): Promise<string> {
  return runGo([...testCommand, "-race", "-run", "Goroutine|Shar", "./..."], signal);
}
