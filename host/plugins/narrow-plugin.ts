/** What a policy leaves of a plugin, and what it takes away. */
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import type { Role } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { Policy, ToolPolicy } from "./policy/policy.ts";
import { withCommands } from "./tools.ts";

export interface NarrowedPlugin {
  /** The tools that are left, each as far as the policy grants it. A tool that is left has all rights that it asks for. */
  readonly tools: readonly ManifestTool[];
  readonly narrowings: readonly Narrowing[];
}

/** One thing that a policy takes away: a plugin, a tool, some of a tool's commands, or models as a tool's callers. */
export interface Narrowing {
  readonly family: string;
  /** The tools that nobody can call because of it. */
  readonly unavailable: readonly string[];
  /** What the plugin asks for and the policy does not grant: clauses, with which a strict policy refuses the plugin. */
  readonly reasons: readonly string[];
  /** What follows, as a clause. */
  readonly consequence: string;
}

/** A narrowing in words, for operators and reviewers. */
export const narrowingText = ({ reasons, consequence }: Narrowing): string => `${reasons.join("; ")}: ${consequence}`;

/**
 * Never gives a tool fewer rights than it asks for: a tool that lacks one fails half-way. Such a tool, or such a command
 * of a tool with commands, is left out as a whole. What is unclear is left out.
 */
export function narrowPlugin(manifest: Manifest, policy: Policy): NarrowedPlugin {
  const { name: family, tools } = manifest;
  const granted = policy.plugins.get(family);
  if (granted === undefined) return { tools: [], narrowings: [unnamedPlugin(manifest, policy)] };
  const narrowed = tools.map((tool) => narrowTool(tool, granted.tools.get(tool.name)));
  return {
    tools: narrowed.flatMap(({ left }) => left ?? []),
    narrowings: narrowed.flatMap(({ left, reasons, consequence }, at) =>
      reasons.length === 0
        ? []
        : [{ family, unavailable: left === null ? [tools[at]?.name ?? ""] : [], reasons, consequence }],
    ),
  };
}

function unnamedPlugin({ name, tools }: Manifest, policy: Policy): Narrowing {
  const reason =
    `the policy ${quoted(policy.name)} does not name the plugin ${quoted(name)}, so it grants it nothing ` +
    '("memcell audit FILE --propose" prints a policy)';
  return {
    family: name,
    unavailable: tools.map((tool) => tool.name),
    reasons: [reason],
    consequence: "none of its tools is available",
  };
}

interface NarrowedTool extends Pick<Narrowing, "reasons" | "consequence"> {
  /** `null`: the tool is not available. */
  readonly left: ManifestTool | null;
}

function narrowTool(tool: ManifestTool, granted: ToolPolicy | undefined): NarrowedTool {
  const named = `the tool ${quoted(tool.name)}`;
  const gone = unavailable(tool);
  if (!granted) {
    return { left: null, reasons: [`the policy does not name ${named}, so it grants it nothing`], consequence: gone };
  }
  const ofRights = beyond(tool.rights, granted.rights, `${named} asks for`, "no right");
  const ofScopes = beyond(tool.scopes, granted.scopes, `${named} asks for the scope`, "no scope");
  const ofAudience =
    tool.audience === "model" && granted.audience === "host"
      ? [`${named} is to be offered to models, the policy keeps it for the host`]
      : [];
  const reasons = [...ofRights, ...ofScopes, ...ofAudience];
  const granting = (tool.commands ?? []).filter(({ rights }) => isWithin(rights, granted.rights));
  if (ofScopes.length > 0 || (ofRights.length > 0 && granting.length === 0)) {
    return { left: null, reasons, consequence: gone };
  }
  const lost = (tool.commands ?? []).filter((command) => !granting.includes(command)).map(({ name }) => name);
  const consequences = [
    ...(lost.length > 0
      ? [
          lost.length === 1
            ? `its command ${listed(lost)} is not available`
            : `its commands ${listed(lost)} are not available`,
        ]
      : []),
    ...(ofAudience.length > 0 ? ["only programs can call it"] : []),
  ];
  const left = { ...withCommands(tool, granting), ...(ofAudience.length > 0 && { audience: granted.audience }) };
  return { left, reasons, consequence: consequences.join(", and ") };
}

function beyond(asked: readonly string[], granted: readonly string[], asking: string, none: string): string[] {
  const more = asked.filter((each) => !granted.includes(each));
  if (more.length === 0) return [];
  return [`${asking} ${listed(more)}, the policy grants it ${granted.length === 0 ? none : listed(granted)}`];
}

const isWithin = (asked: readonly string[], granted: readonly string[]): boolean =>
  asked.every((each) => granted.includes(each));

const listed = (texts: readonly string[]): string => texts.map((text) => quoted(text)).join(", ");

/** What a host does without a tool of each role. */
const withoutRole: Readonly<Record<Role, string>> = {
  index: "prompts have no index of this plugin",
  entries: "its entries are not listed",
  read: "its entries are no resources",
  inspect: "doctor and import do not look into its files",
  restore: "its deleted files come back byte for byte, without the plugin",
  get: "programs cannot get the values that they have set",
  set: "programs cannot set values",
  clear: "what another user has created cannot be cleared",
  search: "the owner cannot search its entries",
  add: "the owner cannot add an entry of plain text",
  convert: "it makes no entries of what other programs keep",
};

function unavailable({ role }: ManifestTool): string {
  return role === undefined ? "it is not available" : `it is not available, so ${withoutRole[role]}`;
}

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
