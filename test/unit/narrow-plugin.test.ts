/** What a policy leaves of a plugin: whole tools and whole commands, and never one with fewer rights than it asks for. */
import fc from "fast-check";
import type { PolicyFile } from "memcell";
import { expect, test } from "vitest";

import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { narrowingText, narrowPlugin } from "../../host/plugins/policy/narrow-plugin.ts";
import { policyDeviations } from "../../host/plugins/policy/policy-deviations.ts";
import { rights as allRights } from "../../shared/abi.ts";
import type { Right } from "../../shared/abi.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { guestManifest } from "../support/guest-manifest.ts";

type GrantedTools = PolicyFile["plugins"][string]["tools"];

const hash = "0".repeat(64);
const all: Right[] = ["read", "write", "grant_list", "grant_set"];

/** A tool with one command for each right. */
const commanded: ManifestTool = {
  ...(guestManifest("a", { Tool: "run" }).tools[0] as ManifestTool),
  export: undefined,
  commands: all.map((right) => ({ name: right, export: `run_${right}`, rights: [right], fields: [`of_${right}`] })),
  input: {
    type: "object",
    properties: { command: { enum: all }, ...Object.fromEntries(all.map((right) => [`of_${right}`, {}])) },
  },
  scopes: ["store:*"],
  rights: all,
};

const withTools = (...tools: ManifestTool[]): Manifest => ({ ...guestManifest("a", {}), abi: 2, tools });

const plain = (changes: Partial<ManifestTool> = {}): ManifestTool => ({
  ...(guestManifest("a", { Tool: "run" }, ["read", "write"]).tools[0] as ManifestTool),
  ...changes,
});

const policyOf = (tools: GrantedTools, more: Partial<PolicyFile> = {}) =>
  loadPolicy({ version: 1, plugins: { a: { tools } }, ...more });

interface Row {
  readonly name: string;
  readonly tool: ManifestTool;
  readonly granted: GrantedTools;
  /** What differs in the tool that is left; `null` if it is not available. */
  readonly left: Partial<ManifestTool> | null;
  readonly text: string;
}

const granted = { rights: ["read", "write"], scopes: ["memory"] } as const;

const rows: Row[] = [
  {
    name: "a tool that is not named",
    tool: plain(),
    granted: {},
    left: null,
    text: 'the policy does not name the tool "Tool", so it grants it nothing: it is not available',
  },
  {
    name: "a tool without one of its rights",
    tool: plain(),
    granted: { Tool: { ...granted, rights: ["read"] } },
    left: null,
    text: 'the tool "Tool" asks for "write", the policy grants it "read": it is not available',
  },
  {
    name: "a tool without one of its scopes",
    tool: plain({ scopes: ["memory", "notes"] }),
    granted: { Tool: granted },
    left: null,
    text: 'the tool "Tool" asks for the scope "notes", the policy grants it "memory": it is not available',
  },
  {
    name: "a tool that is kept for the host",
    tool: plain(),
    granted: { Tool: { ...granted, audience: "host" } },
    left: { audience: "host" },
    text: 'the tool "Tool" is to be offered to models, the policy keeps it for the host: only programs can call it',
  },
  {
    name: "a tool without a right that is kept for the host",
    tool: plain(),
    granted: { Tool: { rights: [], scopes: [], audience: "host" } },
    left: null,
    text:
      'the tool "Tool" asks for "read", "write", the policy grants it no right; ' +
      'the tool "Tool" asks for the scope "memory", the policy grants it no scope; ' +
      'the tool "Tool" is to be offered to models, the policy keeps it for the host: it is not available',
  },
  {
    name: "a tool with a role",
    tool: plain({ role: "index", audience: "host" }),
    granted: {},
    left: null,
    text:
      'the policy does not name the tool "Tool", so it grants it nothing: ' +
      "it is not available, so prompts have no index of this plugin",
  },
  {
    name: "some commands of a tool",
    tool: commanded,
    granted: { Tool: { rights: ["read", "grant_list"], scopes: ["store:*"] } },
    left: {
      commands: commanded.commands?.filter(({ name }) => name === "read" || name === "grant_list"),
      rights: ["read", "grant_list"],
      input: {
        type: "object",
        properties: { command: { enum: ["read", "grant_list"] }, of_read: {}, of_grant_list: {} },
      },
    },
    text:
      'the tool "Tool" asks for "write", "grant_set", the policy grants it "grant_list", "read": ' +
      'its commands "write", "grant_set" are not available',
  },
  {
    name: "a command of a tool that is kept for the host",
    tool: commanded,
    granted: { Tool: { rights: ["read", "write", "grant_list"], scopes: ["store:*"], audience: "host" } },
    left: {
      audience: "host",
      commands: commanded.commands?.filter(({ name }) => name !== "grant_set"),
      rights: ["read", "write", "grant_list"],
      input: {
        type: "object",
        properties: {
          command: { enum: ["read", "write", "grant_list"] },
          of_read: {},
          of_write: {},
          of_grant_list: {},
        },
      },
    },
    text:
      'the tool "Tool" asks for "grant_set", the policy grants it "grant_list", "read", "write"; ' +
      'the tool "Tool" is to be offered to models, the policy keeps it for the host: ' +
      'its command "grant_set" is not available, and only programs can call it',
  },
  {
    name: "all commands of a tool",
    tool: commanded,
    granted: { Tool: { rights: ["clock"], scopes: ["store:*"] } },
    left: null,
    text:
      'the tool "Tool" asks for "read", "write", "grant_list", "grant_set", the policy grants it "clock": ' +
      "it is not available",
  },
  {
    name: "the scope of a tool with commands",
    tool: commanded,
    granted: { Tool: { rights: all, scopes: ["memory"] } },
    left: null,
    text: 'the tool "Tool" asks for the scope "store:*", the policy grants it "memory": it is not available',
  },
];

test.for(rows)("takes away $name, and says so in one line", async ({ tool, granted: tools, left, text }) => {
  const manifest = withTools(tool, plain({ name: "Other" }));
  const narrowed = narrowPlugin(manifest, await policyOf({ ...tools, Other: granted }));
  expect(narrowed.tools).toEqual([...(left === null ? [] : [{ ...tool, ...left }]), manifest.tools[1]]);
  expect(narrowed.narrowings.map(narrowingText)).toEqual([text]);
  expect(narrowed.narrowings.flatMap(({ unavailable }) => unavailable)).toEqual(left === null ? ["Tool"] : []);
});

test("takes away all tools of a plugin that the policy does not name, in one line", async () => {
  const manifest = withTools(plain(), plain({ name: "Other" }));
  const { tools, narrowings } = narrowPlugin(manifest, await loadPolicy({ version: 1, plugins: {} }));
  expect(tools).toEqual([]);
  expect(narrowings.map(narrowingText)).toEqual([
    'the policy "inline" does not name the plugin "a", so it grants it nothing ' +
      '("memcell audit FILE --propose" prints a policy): none of its tools is available',
  ]);
  expect(narrowings[0]?.unavailable).toEqual(["Tool", "Other"]);
});

const someRights = fc.subarray([...allRights]);
const someScopes = fc.subarray(["memory", "notes", "store:*"]);
const randomTool = fc.record({
  rights: someRights,
  scopes: someScopes,
  audience: fc.constantFrom("model" as const, "host" as const),
  commands: fc.option(fc.array(someRights, { minLength: 1, maxLength: 4 }), { nil: undefined }),
});
const randomGrant = fc.option(
  fc.record({ rights: someRights, scopes: someScopes, audience: fc.constantFrom("model" as const, "host" as const) }),
  { nil: undefined },
);

function toolFrom({ commands, ...tool }: typeof randomTool extends fc.Arbitrary<infer Tool> ? Tool : never) {
  if (commands === undefined) return plain(tool);
  const named = commands.map((rights, at) => ({ name: `c${"abcd"[at]}`, export: `c${at}`, rights, fields: [] }));
  const input = { type: "object", properties: { command: { enum: named.map(({ name }) => name) } } };
  return plain({ ...tool, export: undefined, commands: named, input, rights: [...new Set(commands.flat())] });
}

test("whatever is granted, a tool or command that is left has all that it asks for, and no more than is granted", async () => {
  const seen = { whole: 0, narrowed: 0, gone: 0 };
  await fc.assert(
    fc.asyncProperty(randomTool, randomGrant, async (random, grant) => {
      const tool = toolFrom(random);
      const policy = await policyOf(grant === undefined ? {} : { Tool: grant });
      const { tools, narrowings } = narrowPlugin(withTools(tool), policy);
      const [left] = tools;
      if (left !== undefined) {
        const { rights = [], scopes = [], audience } = grant ?? {};
        for (const each of left.commands ?? [left]) {
          expect(rights).toEqual(expect.arrayContaining([...each.rights]));
          const asked = tool.commands?.find(({ name }) => "name" in each && name === each.name) ?? tool;
          expect(each.rights).toEqual(asked.rights);
        }
        expect(rights).toEqual(expect.arrayContaining(left.rights));
        expect(scopes).toEqual(expect.arrayContaining(left.scopes));
        expect(left.scopes).toEqual(tool.scopes);
        if (audience === "host" || tool.audience === "host") expect(left.audience).toBe("host");
        expect(left.commands).not.toEqual([]);
      }
      // A strict policy refuses exactly the plugins from which it would take something away.
      const isWhole = left !== undefined && narrowings.length === 0;
      expect(policyDeviations(withTools(tool), hash, { ...policy, isStrict: true }).length === 0).toBe(isWhole);
      if (isWhole) expect(left).toEqual(tool);
      seen[isWhole ? "whole" : left === undefined ? "gone" : "narrowed"]++;
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(seen.whole, seen.narrowed, seen.gone)).toBeGreaterThan(20);
});
