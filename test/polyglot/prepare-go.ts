import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { buildFolder, makeWhole } from "./build-folder.ts";
import type { HostKind, HostProgram } from "./host-kind.ts";
import { hostSources } from "./host-sources.ts";

const run = promisify(execFile);

const sources = hostSources("go");
const sourceFiles = ["go.mod", "go.sum", "host.go", "main.go"];

/** As in go.mod. */
const oldestMinor = 25;

export const go: HostKind = {
  language: "Go",

  async missing() {
    if (process.platform !== "linux") return "it takes its lock as Linux has it";
    const version = await run("go", ["env", "GOVERSION"]).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    );
    if (version === null) return '"go env GOVERSION" fails';
    const minor = Number(/^go1\.(\d+)/.exec(version)?.[1]);
    return minor >= oldestMinor ? null : `${version} is older than go1.${oldestMinor}`;
  },

  async prepare(signal) {
    const folder = buildFolder("go", await Promise.all(sourceFiles.map((name) => readFile(join(sources, name)))));
    await makeWhole(folder, (made) => build(made, signal));
    return programIn(folder);
  },
};

function programIn(folder: string): HostProgram {
  return { command: join(folder, "memcell-host"), args: [] };
}

async function build(made: string, signal: AbortSignal): Promise<void> {
  // Without a version control stamp, which needs git and a clone that git trusts. go.mod and go.sum stay unchanged.
  const options = ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o", programIn(made).command, "."];
  await run("go", options, { cwd: sources, signal });
}
