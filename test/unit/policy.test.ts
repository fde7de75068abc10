/** A policy's meaning, however it is written, and how a plugin can exceed it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { narrowPlugin } from "../../host/plugins/policy/narrow-plugin.ts";
import { policyDeviations } from "../../host/plugins/policy/policy-deviations.ts";
import { policyLimitsMax } from "../../host/plugins/policy/policy-limits.ts";
import type { TrustPolicy } from "../../host/plugins/policy/policy.ts";
import { proposePolicy } from "../../host/plugins/policy/propose-policy.ts";
import { judgeWrite, trustDefaults } from "../../host/plugins/policy/trust-policy.ts";
import type { Right } from "../../shared/abi.ts";
import { originClasses } from "../../shared/origin.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const [one = "", other = ""] = ["1", "2"].map((digit) => digit.repeat(64));
const read: PolicyFile["plugins"][string]["tools"][string] = { rights: ["read"], scopes: ["memory"] };
const policyOf = (plugins: PolicyFile["plugins"], more: Partial<PolicyFile> = {}): PolicyFile => ({
  version: 1,
  plugins,
  ...more,
});

test("limits that a policy leaves out are the host's own, and those it names are lowered", async () => {
  expect((await loadPolicy(policyOf({}))).limits).toEqual(policyLimitsMax);
  const limits = { fuelPolls: 7, hostCalls: undefined };
  expect((await loadPolicy(policyOf({}, { limits }))).limits).toEqual({ ...policyLimitsMax, fuelPolls: 7 });
});

test("history limits that a policy leaves out are the defaults", async () => {
  expect((await loadPolicy(policyOf({}))).history).toEqual({ daysMax: 90, bytesMax: 33_554_432 });
  const history = { daysMax: 3_650, bytesMax: undefined };
  expect((await loadPolicy(policyOf({}, { history }))).history).toEqual({ daysMax: 3_650, bytesMax: 33_554_432 });
});

const trustOf = async (trust: PolicyFile["plugins"][string]["trust"]): Promise<unknown> =>
  (await loadPolicy(policyOf({ a: { trust, tools: {} } }))).plugins.get("a")?.trust;

test("a trust that a policy leaves out is the default's, and no write waits above where it is active", async () => {
  expect(await trustOf(undefined)).toEqual(trustDefaults);
  expect(await trustOf({ active: "direct_user", prompt: undefined })).toEqual({
    ...trustDefaults,
    active: "direct_user",
  });
  await expect(trustOf({ pending: "direct_user" })).rejects.toMatchObject({ code: "PLUGIN_REFUSED" });
  await expect(trustOf({ active: "trusted" as "unstated" })).rejects.toThrow("allowed: one of owner_edit, direct_user");
});

const judged = (policy: TrustPolicy): string[] => originClasses.map((trust) => judgeWrite(trust, policy));

test("a write is active, pending or refused by its trust", () => {
  const [a, p, r] = ["active", "pending", "refused"];
  expect(judged(trustDefaults)).toEqual([a, a, a, a, a, p, p]);
  expect(judged({ active: "direct_user", pending: "unstated", prompt: "unstated" })).toEqual([a, a, p, p, p, r, r]);
  expect(judged({ active: "owner_edit", pending: "owner_edit", prompt: "unstated" })).toEqual([a, r, r, r, r, r, r]);
});

test("a policy is the same as a file and as an object, in any order and spelling", async () => {
  const plugins = {
    a: { sha256: [one, other], tools: { T: { rights: ["write", "read"], scopes: ["x", "memory"] }, U: read } },
    b: { tools: {} },
  } as const;
  const turned = {
    b: { tools: {} },
    a: {
      tools: { U: read, T: { scopes: ["memory", "x", "x"], rights: ["read", "write", "read"] } },
      sha256: [other, one],
    },
  } as const;
  const given = await loadPolicy(policyOf(plugins));
  const file = join(folder.path, "turned.json");
  writeFileSync(file, JSON.stringify(policyOf(turned, { limits: { deadlineMs: 10_000 } }), null, 4));
  expect(await loadPolicy(file)).toEqual({ ...given, name: "turned.json" });
  expect(given.name).toBe("inline");
});

test.for<{ name: string; policy: PolicyFile }>([
  { name: "a right", policy: policyOf({ a: { tools: { T: { ...read, rights: ["read", "list"] } } } }) },
  { name: "a scope", policy: policyOf({ a: { tools: { T: { ...read, scopes: [] } } } }) },
  { name: "a tool", policy: policyOf({ a: { tools: { T: read, U: read } } }) },
  { name: "a plugin", policy: policyOf({ a: { tools: { T: read } }, b: { tools: {} } }) },
  { name: "a pin", policy: policyOf({ a: { sha256: [one], tools: { T: read } } }) },
  { name: "a limit", policy: policyOf({ a: { tools: { T: read } } }, { limits: { hostCalls: 9 } }) },
  { name: "a trust", policy: policyOf({ a: { trust: { active: "tool_external" }, tools: { T: read } } }) },
  { name: "a history", policy: policyOf({ a: { tools: { T: read } } }, { history: { daysMax: 91 } }) },
  { name: "being strict", policy: policyOf({ a: { tools: { T: read } } }, { strict: true }) },
])("policies that differ by $name have different hashes", async ({ policy }) => {
  const { sha256 } = await loadPolicy(policyOf({ a: { tools: { T: read } } }));
  expect((await loadPolicy(policy)).sha256).not.toBe(sha256);
});

test("a policy that is not strict means the same whether it says so or not", async () => {
  const silent = await loadPolicy(policyOf({ a: { tools: { T: read } } }));
  expect(await loadPolicy(policyOf({ a: { tools: { T: read } } }, { strict: false }))).toEqual(silent);
  expect(silent.isStrict).toBe(false);
});

test("a later change of the object has no effect", async () => {
  const tools: Record<string, { rights: Right[]; scopes: string[] }> = { T: { rights: [], scopes: [] } };
  const policy = await loadPolicy(policyOf({ a: { tools } }));
  tools["T"]?.rights.push("write");
  expect(policy.plugins.get("a")?.tools.get("T")).toEqual({ rights: [], scopes: [], audience: "model" });
});

test("grants the names of a prototype's properties only where the policy names them", async () => {
  const manifest = guestManifest("constructor", { constructor: "run", toString: "other" }, ["read"]);
  const deviations = async (plugins: PolicyFile["plugins"]): Promise<string[]> =>
    policyDeviations(manifest, one, await loadPolicy(policyOf(plugins, { strict: true })));
  expect(await deviations({})).toEqual([expect.stringContaining('does not name the plugin "constructor"')]);
  expect(await deviations({ constructor: { tools: {} } })).toEqual([
    'the policy does not name the tool "constructor", so it grants it nothing',
    'the policy does not name the tool "toString", so it grants it nothing',
  ]);
  expect(await deviations({ constructor: { tools: { constructor: read, toString: read } } })).toEqual([]);
});

test("a strict policy lists every deviation, in the order file, tools, memory", async () => {
  const manifest = {
    ...guestManifest("a", { First: "first", Second: "second", Third: "third" }, ["read", "write", "clock"]),
    memoryPages: { min: 8, max: 16 },
  };
  const tools = { First: { ...read, audience: "host" as const }, Third: { rights: [], scopes: ["other"] } };
  const file = policyOf({ a: { sha256: [other], tools } }, { limits: { memoryPages: 8 }, strict: true });
  const policy = await loadPolicy(file);
  expect(policyDeviations(manifest, one, policy)).toEqual([
    `its SHA-256 is ${one}, the policy pins ${other}`,
    'the tool "First" asks for "write", "clock", the policy grants it "read"',
    'the tool "First" is to be offered to models, the policy keeps it for the host',
    'the policy does not name the tool "Second", so it grants it nothing',
    'the tool "Third" asks for "read", "write", "clock", the policy grants it no right',
    'the tool "Third" asks for the scope "memory", the policy grants it "other"',
    "its memory is 8 pages at first, which must be fewer than the policy's 8 at last",
  ]);
});

test("without being strict, only the file, and the memory of one with a tool left, are deviations", async () => {
  const manifest = { ...guestManifest("a", { First: "first", Second: "second" }), memoryPages: { min: 8, max: 16 } };
  const deviations = async (tools: PolicyFile["plugins"][string]["tools"]): Promise<string[]> => {
    const file = policyOf({ a: { sha256: [other], tools } }, { limits: { memoryPages: 8 } });
    return policyDeviations(manifest, one, await loadPolicy(file));
  };
  const pinned = `its SHA-256 is ${one}, the policy pins ${other}`;
  const memory = "its memory is 8 pages at first, which must be fewer than the policy's 8 at last";
  expect(await deviations({ First: { rights: [], scopes: ["memory"] } })).toEqual([pinned, memory]);
  expect(await deviations({})).toEqual([pinned]);
});

test("a proposal is the smallest policy without deviations", async () => {
  const manifest = guestManifest("a", { First: "first", Second: "second" }, { First: ["clock", "read", "clock"] });
  const proposal = proposePolicy(manifest, one);
  expect(proposal).toEqual({
    version: 1,
    plugins: {
      a: {
        sha256: [one],
        tools: {
          First: { rights: ["read", "clock"], scopes: ["memory"] },
          Second: { rights: [], scopes: ["memory"] },
        },
      },
    },
  });
  expect(policyDeviations(manifest, one, await loadPolicy(proposal))).toEqual([]);
  expect(narrowPlugin(manifest, await loadPolicy(proposal))).toEqual({ tools: manifest.tools, narrowings: [] });
  expect(policyDeviations(manifest, other, await loadPolicy(proposal))).toHaveLength(1);
});
