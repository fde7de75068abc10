/**
 * Runs once before the tests of this folder. Installs the oldest and the newest releases that the adapters work with,
 * outside the clone, and makes a user's project with each: memcell as `npm publish` would pack it, and the programs of
 * `programs/`, compiled.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { TestProject } from "vitest/node";

import { installedPackages, newerNode } from "../support/installed-packages.ts";
import { unpackPackage } from "../support/packed-package.ts";

declare module "vitest" {
  interface ProvidedContext {
    peers: PreparedPeers;
  }
}

export interface PreparedPeers {
  /** With Node 20. */
  readonly oldest: PeersProject;
  /** With Node 22. */
  readonly newest: PeersProject;
}

/** A project of a user. If it could not be made, `failure` says why. */
export interface PeersProject {
  readonly node: string;
  readonly folder: string;
  readonly failure: string | null;
}

const clone = fileURLToPath(new URL("../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));

export default async function preparePeers(project: TestProject): Promise<() => void> {
  console.log("preparing the packages that adapters are for");
  const made = mkdtempSync(join(clone, "dist", "peers-"));
  unpackPackage(made, join(made, "memcell"));
  const prepared = {
    oldest: await prepare("oldest", made, () => Promise.resolve(process.execPath)),
    newest: await prepare("newest", made, newerNode),
  };
  project.provide("peers", prepared);
  return () => rmSync(made, { recursive: true, force: true });
}

async function prepare(release: string, made: string, node: () => Promise<string>): Promise<PeersProject> {
  const folder = join(made, release);
  try {
    const installed = await installedPackages(`${release}-peers`, join(here, "peers", release), anyState);
    layOut(folder, join(installed, "node_modules"), join(made, "memcell"));
    for (const programs of release === "newest" ? ["both", "newest"] : ["both"])
      cpSync(join(here, "programs", programs), folder, { recursive: true });
    return { node: await node(), folder, failure: compile(folder) };
  } catch (error) {
    return { node: "", folder, failure: String(error) };
  }
}

const anyState = (): Promise<boolean> => Promise.resolve(true);

/** The packages as links, so that each finds its own dependencies, and memcell as a copy, which finds these packages. */
function layOut(folder: string, installed: string, memcell: string): void {
  const packages = join(folder, "node_modules");
  mkdirSync(packages, { recursive: true });
  cpSync(memcell, join(packages, "memcell"), { recursive: true });
  for (const name of readdirSync(installed))
    if (!name.startsWith(".")) symlinkSync(join(installed, name), join(packages, name));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", type: "module" }));
}

/** Returns what the compiler says, or `null` if it is content. */
function compile(folder: string): string | null {
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiler = join(clone, "node_modules", "typescript", "bin", "tsc");
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
  return status === 0 ? null : stdout;
}

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: "es2023",
  lib: ["es2023", "dom"],
  types: ["node"],
  module: "nodenext",
  // The packages' own declarations are not ours to check.
  skipLibCheck: true,
};
