/** The vectors that every host runs: those for plugins of ABI version 1. */
import { readFileSync } from "node:fs";

import { vectorPlugin } from "../conformance/vector-plugins.ts";
import { readVectors } from "../conformance/vector.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const all = readVectors();
const abis = new Map(all.map(({ vector: { plugin = "user-memory" } }) => [plugin, abiOf(plugin)]));

export const portableVectors: typeof all = all.filter(({ vector }) => abis.get(vector.plugin ?? "user-memory") === 1);

function abiOf(plugin: string): number {
  using folder = temporaryFolder();
  return manifestOf(readFileSync(vectorPlugin(plugin, folder.path))).abi;
}
