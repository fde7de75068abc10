/** Checks that each tool with a role fulfils it: see `roles.ts`. */
import { isDerivedPlace } from "./derived-files.ts";
import { pluginLimits } from "./limits.ts";
import type { Manifest, ManifestTool } from "./manifest.ts";
import { isScopePath, isTrashPath } from "./path.ts";
import { roleNames, roleSchemas } from "./roles.ts";
import type { Role } from "./roles.ts";
import { firstMisfit } from "./schema-fit.ts";
import { quoted } from "./text.ts";
import * as z from "./zod.ts";

/** Yields clauses about "it", the plugin. */
export function* roleClauses({ tools }: Manifest): Generator<string> {
  for (const role of roleNames) {
    const count = tools.filter((tool) => tool.role === role).length;
    if (count > 1) yield `its manifest gives the role "${role}" to ${count} tools, at most one may have it`;
  }
  for (const tool of tools) {
    if (tool.role !== undefined) yield* toolClauses(tool, tool.role);
    yield* entryFileClauses(tool);
    yield* derivedFilesClauses(tool);
  }
}

function* toolClauses({ name, scopes, rights, input, output }: ManifestTool, role: Role): Generator<string> {
  const its = `its tool "${name}" has the role "${role}"`;
  if (role === "convert") {
    if (scopes.length + rights.length > 0) yield `${its} and a scope or a right, allowed is none`;
  } else if (role !== "index" && scopes.length !== 1) {
    yield `${its} and ${scopes.length} scopes, allowed is exactly one`;
  }
  if ((role === "restore" || role === "add") && !rights.includes("write")) yield `${its} without the right "write"`;
  const asked = firstMisfit(z.toJSONSchema(roleSchemas[role].input, { io: "input" }), input);
  if (asked !== null) yield `${its}, and its input does not take what a host may ask: ${quoted(asked)}`;
  const told = firstMisfit(output, z.toJSONSchema(roleSchemas[role].output, { io: "input" }));
  if (told !== null) yield `${its}, and its output does not promise what a host relies on: ${quoted(told)}`;
}

function* entryFileClauses({ name, role, entryFile }: ManifestTool): Generator<string> {
  if (entryFile === undefined) return;
  const its = `its tool "${name}" has the entryFile ${quoted(entryFile)}`;
  if (role !== "entries") yield `${its} without the role "entries"`;
  const parts = entryFile.split("{name}");
  const path = parts.join("a");
  if (parts.length === 2 && isScopePath(path) && !isTrashPath(path)) return;
  yield `${its}, allowed is a path outside the trash with {name} once where the entry's name stands`;
}

function* derivedFilesClauses({ name, role, derivedFiles }: ManifestTool): Generator<string> {
  if (derivedFiles === undefined) return;
  const its = `its tool "${name}" has`;
  if (role !== "inspect") yield `${its} derivedFiles without the role "inspect"`;
  const { derivedFilesMax } = pluginLimits;
  if (derivedFiles.length > derivedFilesMax) {
    yield `${its} ${derivedFiles.length} derivedFiles, at most ${derivedFilesMax} allowed`;
    return;
  }
  for (const place of new Set(derivedFiles)) {
    const among = `${quoted(place)} among its derivedFiles`;
    if (derivedFiles.indexOf(place) !== derivedFiles.lastIndexOf(place)) yield `${its} ${among} more than once`;
    if (!isDerivedPlace(place))
      yield `${its} ${among}, allowed is a path outside the trash, for a folder with one "/" at its end`;
  }
}
