import type { Manifest, ManifestTool } from "../../../shared/manifest.ts";
import { quoted } from "../../../shared/text.ts";
import type { Policy, ToolPolicy } from "./policy.ts";

/** How a plugin exceeds a policy: clauses for a reviewer, in the order of the checks. Empty if it may be loaded. */
export function policyDeviations(manifest: Manifest, sha256: string, policy: Policy): string[] {
  const granted = policy.plugins.get(manifest.name);
  if (!granted) {
    return [
      `the policy ${quoted(policy.name)} does not name the plugin ${quoted(manifest.name)}, so it grants it nothing ` +
        '("memcell audit FILE --propose" prints a policy)',
    ];
  }
  return [
    ...pinDeviations(manifest, sha256, policy),
    ...manifest.tools.flatMap((tool) => toolDeviations(tool, granted.tools.get(tool.name))),
    ...memoryDeviations(manifest, policy),
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

function toolDeviations({ name, rights, scopes, audience }: ManifestTool, granted: ToolPolicy | undefined): string[] {
  const tool = `the tool ${quoted(name)}`;
  if (!granted) return [`the policy does not name ${tool}, so it grants it nothing`];
  return [
    ...beyond(rights, granted.rights, `${tool} asks for`, "no right"),
    ...beyond(scopes, granted.scopes, `${tool} asks for the scope`, "no scope"),
    ...(audience === "model" && granted.audience === "host"
      ? [`${tool} is to be offered to models, the policy keeps it for the host`]
      : []),
  ];
}

function beyond(asked: readonly string[], granted: readonly string[], asking: string, none: string): string[] {
  const more = asked.filter((each) => !granted.includes(each));
  if (more.length === 0) return [];
  return [`${asking} ${listed(more)}, the policy grants it ${granted.length === 0 ? none : listed(granted)}`];
}

function listed(texts: readonly string[]): string {
  return texts.map((text) => quoted(text)).join(", ");
}

/** The same rule as the ABI has for the module's own maximum. */
function memoryDeviations({ memoryPages }: Manifest, { limits }: Policy): string[] {
  if (memoryPages.min < limits.memoryPages) return [];
  return [
    `its memory is ${memoryPages.min} pages at first, which must be fewer than the policy's ${limits.memoryPages} at last`,
  ];
}
