/**
 * Runs once before the tests of this folder. Installs the clients and suites that `clients/package.json` pins, outside
 * the clone. They need a newer Node than memcell, which is installed as a package too.
 */
import { execFile } from "node:child_process";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { TestProject } from "vitest/node";

import { buildFolder, isOwnFolder, makeWhole } from "../polyglot/build-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    mcpClients: PreparedClients;
  }
}

/** The scripts that a test starts with `node`. If they could not be installed, all are empty and `failure` says why. */
export interface PreparedClients {
  readonly node: string;
  /** The released conformance suite. */
  readonly conformance: string;
  /** The next release, which supports the 2026-07-28 revision. */
  readonly conformanceNext: string;
  readonly inspector: string;
  readonly failure: string | null;
}

const run = promisify(execFile);
const sources = fileURLToPath(new URL("clients/", import.meta.url));
const files = ["package.json", "package-lock.json", ".npmrc"];
const installTimeoutMs = 10 * 60_000;

export default async function prepareClients(project: TestProject): Promise<void> {
  console.log("preparing the MCP clients");
  project.provide("mcpClients", await prepare());
}

async function prepare(): Promise<PreparedClients> {
  try {
    const parts = await Promise.all(files.map((name) => readFile(join(sources, name))));
    const folder = buildFolder("mcp-clients", parts);
    await makeWhole(folder, install, isUsable);
    return { ...scriptsIn(folder), failure: null };
  } catch (error) {
    return { node: "", conformance: "", conformanceNext: "", inspector: "", failure: String(error) };
  }
}

async function install(made: string): Promise<void> {
  for (const name of files) await copyFile(join(sources, name), join(made, name));
  // The installing Node is the older one, and a user's npm settings can be strict about that.
  const args = ["ci", "--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", args, { cwd: made, timeout: installTimeoutMs });
}

/** False if a cleanup of the temporary folder has removed some files. */
async function isUsable(folder: string): Promise<boolean> {
  if (!(await isOwnFolder(folder))) return false;
  const { node, ...scripts } = scriptsIn(folder);
  return Promise.all(Object.values(scripts).map((script) => run(node, [script, "--version"]))).then(
    () => true,
    () => false,
  );
}

function scriptsIn(folder: string): Pick<PreparedClients, "node" | "conformance" | "conformanceNext" | "inspector"> {
  const at = (path: string): string => join(folder, "node_modules", path);
  return {
    node: at(`node-${process.platform}-${process.arch}/bin/node`),
    conformance: at("@modelcontextprotocol/conformance/dist/index.js"),
    conformanceNext: at("conformance-next/dist/index.js"),
    inspector: at("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
  };
}

/** Returns the clients. Fails the tests of a file with the reason if the clients are not installed. */
export function installedClients(prepared: PreparedClients): PreparedClients {
  if (prepared.failure === null) return prepared;
  throw new Error(`The MCP clients cannot be installed: ${prepared.failure}`);
}
