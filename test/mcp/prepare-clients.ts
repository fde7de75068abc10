/**
 * Runs once before the tests of this folder. Installs the clients and suites that `clients/package.json` pins, outside
 * the clone. They need a newer Node than memcell, which is installed as a package too.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { TestProject } from "vitest/node";

import { answers, installedPackages, newerNode } from "../support/installed-packages.ts";

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

export default async function prepareClients(project: TestProject): Promise<void> {
  console.log("preparing the MCP clients");
  project.provide("mcpClients", await prepare());
}

async function prepare(): Promise<PreparedClients> {
  try {
    const node = await newerNode();
    const usable = async (made: string) => {
      const found = Object.values(scriptsIn(made)).map((script) => answers(node, script, "--version"));
      return !(await Promise.all(found)).includes(false);
    };
    const sources = fileURLToPath(new URL("clients/", import.meta.url));
    return { node, ...scriptsIn(await installedPackages("mcp-clients", sources, usable)), failure: null };
  } catch (error) {
    return { node: "", conformance: "", conformanceNext: "", inspector: "", failure: String(error) };
  }
}

function scriptsIn(folder: string): Pick<PreparedClients, "conformance" | "conformanceNext" | "inspector"> {
  const at = (path: string): string => join(folder, "node_modules", path);
  return {
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
