import { abiVersion } from "../../shared/abi.ts";
import type { Right } from "../../shared/abi.ts";
import { defaultBudget } from "../../shared/manifest.ts";
import type { Manifest } from "../../shared/manifest.ts";

/** The manifest of a hand-written guest: tools with their exports, and the rights of those that have any. */
export function guestManifest(
  name: string,
  exportsByTool: Record<string, string>,
  rightsByTool: Record<string, readonly Right[]> = {},
): Manifest {
  return {
    name,
    version: "0.1.0",
    abi: abiVersion,
    tools: Object.entries(exportsByTool).map(([tool, exportName]) => ({
      name: tool,
      export: exportName,
      audience: "model",
      description: "A guest of the tests.",
      input: {},
      output: {},
      scopes: ["memory"],
      rights: [...(rightsByTool[tool] ?? [])],
    })),
    memoryPages: { min: 1, max: 4 },
    ...defaultBudget,
  };
}
