import { abiVersion } from "../../shared/abi.ts";
import type { Right } from "../../shared/abi.ts";
import { defaultBudget } from "../../shared/manifest.ts";
import type { Manifest } from "../../shared/manifest.ts";

/** The manifest of a hand-written guest with one tool. */
export function guestManifest(name: string, tool: string, exportName: string, rights: readonly Right[] = []): Manifest {
  return {
    name,
    version: "0.1.0",
    abi: abiVersion,
    tools: [
      {
        name: tool,
        export: exportName,
        audience: "model",
        description: "A guest of the tests.",
        input: {},
        output: {},
        scopes: ["memory"],
        rights: [...rights],
      },
    ],
    memoryPages: { min: 1, max: 4 },
    ...defaultBudget,
  };
}
