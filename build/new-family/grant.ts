/**
 * The lines of the host's policy that let a new family load. A reviewer reads them first: the plugin can do nothing
 * that they do not grant.
 */
import type { Family } from "../../shared/manifest.ts";

export const policyFile = "host/plugins/policy/default-policy.json";

/** Returns the policy's text with the grant after its other plugins. Throws when the policy has another form. */
export function withGrant(policy: string, family: Pick<Family, "name" | "tools">): string {
  const end = "\n    }\n  }\n}\n";
  const granted = `${policy.slice(0, -end.length)}\n    },\n${grantLines(family).join("\n")}\n  }\n}\n`;
  if (policy.endsWith(end) && hasGrown(policy, granted, family.name)) return granted;
  throw new Error(
    `Cannot add a grant to ${policyFile}: its last lines are not the end of its plugins. These belong there:\n` +
      grantLines(family).join("\n"),
  );
}

/** The grant of exactly what the tools request, like the proposal of `memcell audit --propose`. */
export function grantLines({ name, tools }: Pick<Family, "name" | "tools">): string[] {
  const grants = tools.map((tool) => {
    const values = [`"rights": ${list(tool.rights)}`, `"scopes": ${list(tool.scopes)}`];
    if (tool.audience === "host") values.push('"audience": "host"');
    const key = `        ${JSON.stringify(tool.name)}: `;
    const line = `${key}{ ${values.join(", ")} }`;
    return line.length < lineCharsMax
      ? line
      : `${key}{\n${values.map((value) => `          ${value}`).join(",\n")}\n        }`;
  });
  return [`    ${JSON.stringify(name)}: {`, `      "tools": {`, grants.join(",\n"), "      }", "    }"];
}

/** The formatter's line width, for a line and its comma. Longer lines are broken in the same way here. */
const lineCharsMax = 120;

const list = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;

/** Whether the grant is the only change. */
function hasGrown(before: string, after: string, name: string): boolean {
  try {
    const [old, grown] = [before, after].map((text) => JSON.parse(text) as { plugins: Record<string, unknown> });
    if (!old || !grown || name in old.plugins) return false;
    const { [name]: grant, ...others } = grown.plugins;
    return grant !== undefined && JSON.stringify({ ...grown, plugins: others }) === JSON.stringify(old);
  } catch {
    return false;
  }
}
