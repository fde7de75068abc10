import type { Manifest } from "../../../shared/manifest.ts";
import { narrowPlugin } from "./narrow-plugin.ts";
import type { Policy } from "./policy.ts";

/**
 * Why a policy refuses a plugin: clauses for a reviewer, in the order of the checks. Empty if it may be loaded. Only a
 * strict policy refuses a plugin that asks for more than it grants; any other takes that away.
 */
export function policyDeviations(manifest: Manifest, sha256: string, policy: Policy): string[] {
  const { tools, narrowings } = narrowPlugin(manifest, policy);
  return [
    ...pinDeviations(manifest, sha256, policy),
    ...(policy.isStrict ? narrowings.flatMap(({ reasons }) => reasons) : []),
    ...(policy.isStrict || tools.length > 0 ? memoryDeviations(manifest, policy) : []),
  ];
}

/** The same for a file that is not the one that the policy pins under the plugin's name. */
export function pinDeviations({ name }: Manifest, sha256: string, policy: Policy): string[] {
  const pins = policy.plugins.get(name)?.sha256 ?? null;
  if (pins === null || pins.includes(sha256)) return [];
  if (pins.length === 0) {
    return [
      `the policy's lock file does not pin it: in a clone "npm run build" does, elsewhere add its SHA-256, ${sha256}`,
    ];
  }
  return [`its SHA-256 is ${sha256}, the policy pins ${pins.join(" or ")}`];
}

/** The same rule as the ABI has for the module's own maximum. Of a plugin without tools, no code runs. */
function memoryDeviations({ memoryPages }: Manifest, { limits }: Policy): string[] {
  if (memoryPages.min < limits.memoryPages) return [];
  return [
    `its memory is ${memoryPages.min} pages at first, which must be fewer than the policy's ${limits.memoryPages} at last`,
  ];
}
