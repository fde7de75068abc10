/** The families that a host can show, derived from their tools' roles. */
import { expect, test } from "vitest";

import { familyFiles } from "../../host/plugins/family-files.ts";
import { LoadedTools } from "../../host/plugins/loaded-tools.ts";
import { NotLoaded } from "../../host/plugins/not-loaded.ts";
import { trustDefaults } from "../../host/plugins/policy/trust-policy.ts";
import { familiesOf } from "../../host/runtime/memory-families.ts";
import type { ManifestTool } from "../../shared/manifest.ts";
import { guestManifest } from "../support/guest-manifest.ts";

/** The families of default manifest tools with some changes. */
function families(changes: Readonly<Record<string, readonly Partial<ManifestTool>[]>>) {
  const all = Object.entries(changes).flatMap(([family, tools], moduleIndex) =>
    tools.flatMap((changed) =>
      guestManifest(family, { Tool: "tool" }).tools.map((tool) => ({
        tool: { ...tool, ...changed },
        family,
        moduleIndex,
        trust: trustDefaults,
        files: familyFiles({ tools: [] }),
      })),
    ),
  );
  return familiesOf(new LoadedTools(all, { unavailable: [], notLoaded: new NotLoaded([], { plugins: new Map() }) }));
}

test("keeps the scopes of an index and of entries apart", () => {
  const [family] = families({
    notes: [
      { role: "index", scopes: ["summary", "notes"] },
      { role: "entries", scopes: ["notes"], entryFile: "{name}.md" },
      { role: "read", scopes: ["notes"] },
      { role: "inspect", scopes: ["else"] },
    ],
  });
  expect(family).toEqual({
    name: "notes",
    hasIndex: true,
    hasEntries: true,
    canRead: true,
    indexScopes: ["summary", "notes"],
    entryScopes: ["notes"],
    readTool: "Tool",
    entryFile: "{name}.md",
  });
});

test("if entries are read in other scopes than listed, no file identifies an entry", () => {
  const [family] = families({
    notes: [
      { role: "entries", scopes: ["notes"], entryFile: "{name}.md" },
      { role: "read", scopes: ["texts"], audience: "host" },
    ],
  });
  expect(family).toEqual({
    name: "notes",
    hasIndex: false,
    hasEntries: true,
    canRead: true,
    indexScopes: [],
    entryScopes: ["notes", "texts"],
  });
});

test("a family with only a read tool counts; one with none of the roles does not", () => {
  expect(families({ reader: [{ role: "read" }], mender: [{ role: "inspect" }], plain: [{}] })).toMatchObject([
    { name: "reader", hasIndex: false, hasEntries: false, canRead: true },
  ]);
});

test("families are frozen, and their scopes are copies of the tools' grants", () => {
  const scopes = ["notes"];
  const all = families({ notes: [{ role: "index", scopes }] });
  expect([all, all[0], all[0]?.indexScopes, all[0]?.entryScopes].every(Object.isFrozen)).toBe(true);
  expect(Object.isFrozen(scopes)).toBe(false);
});
