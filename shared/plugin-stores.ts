/** Checks what ABI version 2 adds to a manifest: shared stores, and tools with commands. */
import { rightsOfAbi1 } from "./abi.ts";
import type { Right } from "./abi.ts";
import type { Manifest, ManifestTool } from "./manifest.ts";
import { anyStore, ownStoreName } from "./shared-scope.ts";
import { quoted } from "./text.ts";

/** Yields clauses about "it", the plugin. */
export function* storeClauses({ abi, tools }: Manifest): Generator<string> {
  for (const tool of tools) {
    if (abi === 1 && needsAbi2(tool)) yield `its tool "${tool.name}" uses ABI version 2, its manifest has version 1`;
    yield* scopeClauses(tool);
    yield* commandClauses(tool);
  }
}

/** The version that a plugin with these tools has. */
export const neededAbi = (tools: readonly Pick<ManifestTool, "scopes" | "rights" | "commands">[]): 1 | 2 =>
  tools.some(needsAbi2) ? 2 : 1;

function needsAbi2({ scopes, rights, commands }: Pick<ManifestTool, "scopes" | "rights" | "commands">): boolean {
  return commands !== undefined || scopes.includes(anyStore) || rights.some((right) => !rightsOfAbi1.includes(right));
}

function* scopeClauses({ name, scopes, rights }: ManifestTool): Generator<string> {
  if (scopes.includes(ownStoreName))
    yield `its tool "${name}" has the scope "${ownStoreName}", which stands for a store`;
  if (scopes.includes(anyStore)) {
    if (scopes.length > 1)
      yield `its tool "${name}" has the scope "${anyStore}" and another, allowed is that one alone`;
    return;
  }
  const ofStores = rights.find((right) => !rightsOfAbi1.includes(right));
  if (ofStores !== undefined) yield `its tool "${name}" has the right "${ofStores}" without the scope "${anyStore}"`;
}

function* commandClauses(tool: ManifestTool): Generator<string> {
  const { name, commands, role } = tool;
  const its = `its tool "${name}"`;
  if ((tool.export === undefined) === (commands === undefined)) {
    yield `${its} has ${commands ? "an export and commands" : "no export"}, allowed is either an export or commands`;
  }
  if (commands === undefined) return;
  if (role !== undefined) yield `${its} has commands and the role "${role}", allowed is one of them`;
  const names = commands.map((each) => each.name);
  const repeated = names.find((each, at) => names.indexOf(each) !== at);
  if (repeated !== undefined) yield `${its} has the command "${repeated}" more than once`;
  const { properties, choices } = propertiesOf(tool.input);
  if (!isSame(choices, names)) {
    yield `${its} has the commands ${listed(names)}, its input's "command" allows ${listed(choices)}`;
  }
  for (const { name: command, fields } of commands) {
    const unknown = fields.find((field) => field === "command" || !properties.includes(field));
    if (unknown !== undefined)
      yield `${its} has the command "${command}" with ${quoted(unknown)}, which its input does not have`;
  }
  const together = new Set<Right>(commands.flatMap(({ rights }) => rights));
  if (!isSame([...together], tool.rights)) {
    yield `${its} has the rights ${listed(tool.rights)}, its commands together have ${listed([...together])}`;
  }
}

/** The properties of an input, and what its `command` allows. */
function propertiesOf({ properties }: Readonly<Record<string, unknown>>): { properties: string[]; choices: string[] } {
  const of = isRecord(properties) ? properties : {};
  const command = Object.hasOwn(of, "command") ? of["command"] : null;
  const allowed = isRecord(command) ? command["enum"] : null;
  const choices = Array.isArray(allowed) ? allowed.filter((each) => typeof each === "string") : [];
  return { properties: Object.keys(of), choices };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.toSorted().join("\n") === [...new Set(others)].toSorted().join("\n");

const listed = (texts: readonly string[]): string => texts.map((text) => quoted(text)).join(", ") || "none";
