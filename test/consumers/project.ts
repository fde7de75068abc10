/** A project of a user: the package from its tarball, with what it needs from the registry, and what else is pinned. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { clone, finished } from "./finished.ts";
import type { Finished } from "./finished.ts";

export interface Project extends AsyncDisposable {
  readonly folder: string;
  /** The packed package. */
  readonly tarball: string;
  /** What npm said of it, and how long it took. */
  readonly installed: Finished & { readonly ms: number };
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Runs a program of `node_modules/.bin`, or the present Node. */
  run(program: string, ...args: readonly string[]): Promise<Finished>;
}

/** `pinned` is a folder with `node_modules`, whose files the project shares. */
export async function makeProject(pinned: string | null): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), "memcell-test-"));
  // By name: npm removes what package.json does not name.
  const pins = pinned === null ? "{}" : await readFile(join(pinned, "package.json"), "utf8");
  const { dependencies } = JSON.parse(pins) as { dependencies?: object };
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  if (pinned !== null) {
    await succeed("cp", ["-al", join(pinned, "node_modules"), folder], folder);
    // npm writes into these two.
    await rm(join(folder, "node_modules", ".package-lock.json"));
    await succeed("cp", [join(pinned, "package-lock.json"), folder], folder);
  }
  const pack = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
  const tarball = join(folder, (await succeed("npm", pack, clone)).said.trim());
  const began = performance.now();
  const install = ["install", tarball, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const installed = { ...(await succeed("npm", install, folder)), ms: performance.now() - began };
  return {
    folder,
    tarball,
    installed,
    write: async (files) => {
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    },
    run: (program, ...args) => {
      const path = program === "node" ? process.execPath : join(folder, "node_modules", ".bin", program);
      return finished(path, args, { cwd: folder, env: { NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" } });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function succeed(program: string, args: readonly string[], cwd: string): Promise<Finished> {
  const done = await finished(program, args, { cwd });
  if (done.status !== 0) throw new Error(`${program} ${args.join(" ")}: ${done.said}`);
  return done;
}
