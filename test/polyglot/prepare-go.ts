import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { HostKind, HostProgram } from "./host-kind.ts";

const run = promisify(execFile);

const sources = fileURLToPath(new URL("go/", import.meta.url));
const sourceFiles = ["go.mod", "go.sum", "host.go", "main.go"];

/** As go.mod has it. */
const oldestMinor = 25;

export const go: HostKind = {
  language: "Go",
  sdk: "extism/go-sdk 1.7.1, wazero 1.12.0",

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
    const digest = createHash("sha256");
    for (const content of await Promise.all(sourceFiles.map((name) => readFile(join(sources, name))))) {
      digest.update(content);
    }
    const folder = join(tmpdir(), `memcell-polyglot-go-${digest.digest("hex").slice(0, 16)}`);
    if (!(await isOwn(folder))) await build(folder, signal);
    return programIn(folder);
  },
};

function programIn(folder: string): HostProgram {
  return { command: join(folder, "memcell-host"), args: [] };
}

/** Another user of the machine may have made a folder of this name: code in it is not run. */
async function isOwn(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  return found !== null && found.isDirectory() && found.uid === process.getuid?.();
}

async function build(folder: string, signal: AbortSignal): Promise<void> {
  const made = await mkdtemp(`${folder}-`);
  try {
    // Without the stamp of the version control, which needs git and a clone that git trusts; with go.mod and go.sum as they are.
    const options = ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o", programIn(made).command, "."];
    await run("go", options, { cwd: sources, signal });
    // Whole or not at all. When another run was faster, its program is as good.
    await rename(made, folder).catch(async (error: unknown) => {
      if (!(await isOwn(folder))) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
