/** Plugins whose tools each lack one part of what they ask for, as few as possible: a plugin lacks a part of many tools. */
import { readFileSync } from "node:fs";

import type { Right } from "../../shared/abi.ts";
import type { Manifest } from "../../shared/manifest.ts";
import { anyStore } from "../../shared/shared-scope.ts";
import { manifestOf, withTool } from "../support/reseal-plugin.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";

/** A part of what a tool asks for. */
export interface Needed {
  readonly plugin: string;
  readonly tool: string;
  readonly kind: "rights" | "scopes";
  readonly part: string;
  /** The right is one command's. */
  readonly command?: string;
  /** The tool, and the command. */
  readonly title: string;
}

/** Parts that one plugin can lack: each of another tool, and no right twice, so that another tool still asks for it. */
type Lacking = readonly Needed[];

/**
 * Each right of each command, and of each tool without commands, and each scope. Without the scope of all stores, the
 * rights of stores are refused at load, so no request shows that it is used.
 */
export const lackings: readonly Lacking[] = shippedNames().flatMap((plugin) => {
  const found: Needed[][] = [];
  for (const need of manifestOf(readFileSync(shippedPlugin(plugin))).tools.flatMap((tool) => needsOf(plugin, tool))) {
    const room = found.find((each) => each.every((other) => isApart(other, need)));
    if (room) room.push(need);
    else found.push([need]);
  }
  return found;
});

function isApart(one: Needed, other: Needed): boolean {
  const isSameRight = one.kind === "rights" && other.kind === "rights" && one.part === other.part;
  return one.tool !== other.tool && !isSameRight;
}

function needsOf(plugin: string, { name: tool, scopes, rights, commands }: Manifest["tools"][number]): Needed[] {
  const need = (kind: Needed["kind"], part: string, command?: string): Needed => {
    const title = [tool, command].filter(Boolean).join(" ");
    return { plugin, tool, kind, part, title, ...(command !== undefined && { command }) };
  };
  const ofCommands = commands?.flatMap((command) => command.rights.map((right) => need("rights", right, command.name)));
  return [
    ...scopes.filter((part) => part !== anyStore).map((part) => need("scopes", part)),
    ...(ofCommands ?? rights.map((right) => need("rights", right))),
  ];
}

export function withoutParts(manifest: Manifest, lacking: Lacking): Manifest {
  const narrowed = lacking.reduce(withoutPart, manifest);
  return lacking.filter(({ kind }) => kind === "rights").reduce(stillAsked, narrowed);
}

function withoutPart(manifest: Manifest, { tool, kind, part, command }: Needed): Manifest {
  const { scopes = [], rights = [], commands } = manifest.tools.find(({ name }) => name === tool) ?? {};
  // A role without its scope or right is refused at load. Here the capability must refuse, so the role is removed.
  const withoutRole = { role: undefined, entryFile: undefined, derivedFiles: undefined };
  const without = <Part extends string>(parts: readonly Part[]): Part[] => parts.filter((each) => each !== part);
  if (kind === "scopes") return withTool(manifest, tool, { scopes: without(scopes), ...withoutRole });
  if (command === undefined) return withTool(manifest, tool, { rights: without(rights), ...withoutRole });
  const narrowed = commands?.map((each) =>
    each.name === command ? Object.assign(structuredClone(each), { rights: without(each.rights) }) : each,
  );
  const left = rights.filter((right) => narrowed?.some((each) => each.rights.includes(right)));
  return withTool(manifest, tool, { commands: narrowed, rights: left });
}

/** A right that no tool asks for is refused at load as well: then another tool asks for it. */
function stillAsked(manifest: Manifest, { tool, part: right }: Needed): Manifest {
  const other = manifest.tools.find(({ name }) => name !== tool);
  if (!other || manifest.tools.some(({ rights }) => rights.some((each) => each === right))) return manifest;
  return withTool(manifest, other.name, { rights: [...other.rights, right as Right] });
}
