import type { Right } from "../../shared/abi.ts";
import { defaultBudget } from "../../shared/manifest.ts";
import type { Manifest } from "../../shared/manifest.ts";

type ForAll = readonly Right[];

/** The manifest of a hand-written guest: tools with their exports, and rights for all of them or for each. */
export function guestManifest(
  name: string,
  exportsByTool: Record<string, string>,
  rights: ForAll | Record<string, ForAll> = [],
): Manifest {
  return {
    name,
    version: "0.1.0",
    abi: 1,
    tools: Object.entries(exportsByTool).map(([tool, exportName]) => ({
      name: tool,
      export: exportName,
      audience: "model",
      description: "A guest of the tests.",
      input: {},
      output: {},
      scopes: ["memory"],
      rights: [...(isForAll(rights) ? rights : (rights[tool] ?? []))],
    })),
    memoryPages: { min: 1, max: 4 },
    ...defaultBudget,
  };
}

function isForAll(rights: ForAll | Record<string, ForAll>): rights is ForAll {
  return Array.isArray(rights);
}
