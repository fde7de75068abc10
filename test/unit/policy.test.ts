/** What a policy means, however it is written, and what it leaves of a plugin: whole tools, whole commands, no right more. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { createRuntime, memoryStore } from "memcell";
import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import type { Right } from "../../shared/abi.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { originClasses } from "../../shared/origin.ts";
import { memcell } from "../stage/command.ts";
import { writeEmptyPlugin } from "../stage/empty-plugin.ts";
import { runs } from "../stage/random-runs.ts";
import { readRecords } from "../stage/runtime.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { withTrust } from "../support/trusting-policy.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

type Plugins = PolicyFile["plugins"];
type GrantedTools = Plugins[string]["tools"];

const [one = "", other = ""] = ["1", "2"].map((digit) => digit.repeat(64));
const read: GrantedTools[string] = { rights: ["read"], scopes: ["memory"] };
const policyOf = (plugins: Plugins, more: Partial<PolicyFile> = {}): PolicyFile => ({ version: 1, plugins, ...more });

interface Report {
  readonly deviations: readonly { readonly text: string }[];
  readonly narrowings: readonly string[];
  readonly artifact: { readonly sha256: string };
  readonly policy: { readonly sha256: string };
  readonly limits: Readonly<Record<string, number>>;
  readonly tools: readonly { readonly name: string; readonly callers: string }[];
}

/** What `memcell audit` says of a plugin with this manifest. */
async function audited(manifest: Manifest, policy: PolicyFile | string): Promise<Report> {
  const text = typeof policy === "string" ? policy : JSON.stringify(policy);
  const files = [writeEmptyPlugin(folder.path, manifest), join(folder.path, "policy.json")] as const;
  writeFileSync(files[1], text);
  const { stdout } = await memcell(["audit", files[0], "--policy", files[1], "--json"]);
  return (JSON.parse(stdout) as { reports: [Report] }).reports[0];
}

const plain = (changes: Partial<ManifestTool> = {}): ManifestTool => ({
  ...(guestManifest("a", { Tool: "run" }, ["read", "write"]).tools[0] as ManifestTool),
  ...changes,
});
const reader = guestManifest("a", { T: "run" }, ["read"]);
const textsOf = ({ deviations }: Report): string[] => deviations.map(({ text }) => text);

test("limits that a policy leaves out are the host's own, and those it names are lowered", async () => {
  const { limits } = await audited(reader, policyOf({}));
  const lowered = policyOf({}, { limits: { fuelPolls: 7, hostCalls: undefined } });
  expect((await audited(reader, lowered)).limits).toEqual({ ...limits, fuelPolls: 7 });
});

const pinned = {
  a: { sha256: [one, other], tools: { T: { rights: ["write", "read"], scopes: ["x", "y"] }, U: read } },
};

test("a policy is the same as a file and as an object, in any order and spelling", async () => {
  const given = policyOf({ ...(pinned as Plugins), b: { tools: {} } });
  const [U, T] = [read, { scopes: ["y", "x", "x"], rights: ["read", "write", "read"] }];
  const turned = { plugins: { b: { tools: {} }, a: { tools: { U, T }, sha256: [other, one] } }, version: 1 };
  const { sha256 } = (await audited(reader, given)).policy;
  for (const limits of [undefined, { deadlineMs: 10_000 }]) {
    const text = JSON.stringify({ ...turned, limits, strict: false }, null, 4);
    expect((await audited(reader, text)).policy.sha256).toBe(sha256);
  }
  const file = join(folder.path, "log", "audit.jsonl");
  await (await createRuntime({ store: memoryStore(), plugins: [], policy: given, auditLog: { file } })).close();
  expect(readRecords(file)[0]).toMatchObject({ kind: "opened", policy: sha256 });
});

const ofT = (tool: Partial<typeof read>, more: Partial<PolicyFile> = {}): PolicyFile =>
  policyOf({ a: { tools: { T: { ...read, ...tool } } } }, more);

test("policies that differ in any part have different hashes", async () => {
  const policies = [
    ofT({}),
    ofT({ rights: ["read", "list"] }),
    ofT({ scopes: [] }),
    policyOf({ a: { tools: { T: read, U: read } } }),
    policyOf({ a: { tools: { T: read } }, b: { tools: {} } }),
    policyOf({ a: { sha256: [one], tools: { T: read } } }),
    ofT({}, { limits: { hostCalls: 9 } }),
    policyOf({ a: { trust: { active: "tool_external" }, tools: { T: read } } }),
    ofT({}, { history: { daysMax: 91 } }),
    ofT({}, { strict: true }),
  ];
  const hashes = new Set<string>();
  for (const policy of policies) hashes.add((await audited(reader, policy)).policy.sha256);
  expect(hashes.size).toBe(policies.length);
});

test("a change of the object behind the call has no effect", async () => {
  const plugins = [writeEmptyPlugin(folder.path, reader)];
  const rights: Right[] = [];
  const opening = createRuntime({ store: memoryStore(), plugins, policy: ofT({ rights }) });
  rights.push("read");
  await using runtime = await opening;
  expect(runtime.tools()).toEqual([]);
});

const memory = shippedPlugin("user-memory");
const entry = { action: "upsert", name: "tea", type: "user", description: "d", body: "b" };

test.for<readonly [trust: Plugins[string]["trust"], verdicts: string]>([
  [undefined, "aaaaapp"],
  [{ active: "direct_user", pending: "unstated" }, "aappprr"],
  [{ active: "owner_edit", pending: "owner_edit" }, "arrrrrr"],
])("under the trust %j, a write is active, pending or refused by its class: %s", async ([trust, verdicts]) => {
  const policy = trust ? withTrust(policyFor([memory]), trust) : policyFor([memory]);
  await using runtime = await createRuntime({ store: memoryStore(), plugins: [memory], policy, threadsMax: 1 });
  const results: string[] = [];
  for (const of of originClasses) {
    const result = await runtime.call("UpdateUserMemory", entry, { userId: of, origin: { class: of } });
    results.push(result.ok ? "a" : result.error.code.replace("WRITE_", "").charAt(0).toLowerCase());
  }
  expect(results.join("")).toBe(verdicts);
});

const narrowMemory = { memoryPages: { min: 8, max: 16 } };
const memoryFault = "Its memory is 8 pages at first, which must be fewer than the policy's 8 at last.";

test("a strict policy lists every deviation, in the order file, tools, memory", async () => {
  const exports = { First: "first", Second: "second", Third: "third" };
  const manifest = { ...guestManifest("a", exports, ["read", "write", "clock"]), ...narrowMemory };
  const tools: GrantedTools = { First: { ...read, audience: "host" }, Third: { rights: [], scopes: ["other"] } };
  const policy = policyOf({ a: { sha256: [other], tools } }, { limits: { memoryPages: 8 }, strict: true });
  const report = await audited(manifest, policy);
  expect(textsOf(report)).toEqual([
    expect.stringContaining(`Its SHA-256 is ${report.artifact.sha256}, the policy pins ${other}`),
    'The tool "First" asks for "write", "clock", the policy grants it "read".',
    'The tool "First" is to be offered to models, the policy keeps it for the host.',
    'The policy does not name the tool "Second", so it grants it nothing.',
    'The tool "Third" asks for "read", "write", "clock", the policy grants it no right.',
    'The tool "Third" asks for the scope "memory", the policy grants it "other".',
    memoryFault,
  ]);
});

test("a proposal is the smallest policy without deviations", async () => {
  const manifest = guestManifest("a", { First: "first", Second: "second" }, { First: ["clock", "read", "clock"] });
  const file = writeEmptyPlugin(folder.path, manifest);
  const { stdout } = await memcell(["audit", file, "--propose"]);
  const { artifact, deviations, narrowings } = await audited(manifest, stdout);
  expect(JSON.parse(stdout)).toEqual(
    policyOf({
      a: {
        sha256: [artifact.sha256],
        tools: { First: { ...read, rights: ["read", "clock"] }, Second: { rights: [], scopes: ["memory"] } },
      },
    }),
  );
  expect([deviations, narrowings]).toEqual([[], []]);
});

const withTools = (...tools: ManifestTool[]): Manifest => ({ ...guestManifest("a", {}), abi: 2, tools });

const someRights = fc.subarray<Right>(["read", "list", "write", "trash", "clock"]);
const someScopes = fc.subarray(["memory", "notes"]);
const audience = fc.constantFrom("model" as const, "host" as const);
const asked = fc.record({ rights: someRights, scopes: someScopes, audience });
const randomTool = fc.tuple(asked, fc.option(asked, { nil: undefined }));

const isTold = (texts: readonly string[], name: string): boolean => texts.some((text) => text.includes(name));

/** Each tool of a manifest is a case. */
test("whatever is granted, a tool is left exactly if it gets all that it asks for, and a strict policy agrees", async () => {
  const seen = { whole: 0, hidden: 0, gone: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(randomTool, { minLength: 6, maxLength: 6 }), async (random) => {
      const named = random.map(([ask, grant], at) => [`Tool${at}`, ask, grant] as const);
      const manifest = withTools(...named.map(([name, ask]) => plain({ name, ...ask })));
      const grants = named.flatMap(([name, , grant]) => (grant === undefined ? [] : [[name, grant] as const]));
      const plugins = { a: { tools: Object.fromEntries(grants) } };
      const { tools, narrowings } = await audited(manifest, policyOf(plugins));
      const strict = textsOf(await audited(manifest, policyOf(plugins, { strict: true })));
      const judged = named.map(([name, ask, grant]) => {
        const isWhole = (of: "rights" | "scopes"): boolean =>
          ask[of].every((each) => grant?.[of].includes(each as never));
        const isLeft = grant !== undefined && isWhole("rights") && isWhole("scopes");
        return { name, ask, isLeft, isHidden: isLeft && ask.audience === "model" && grant.audience === "host" };
      });
      for (const { name, ask, isLeft, isHidden } of judged) {
        const callers = ask.audience === "model" && !isHidden ? "models" : "programs";
        expect(tools.find((tool) => tool.name === name)?.callers).toBe(isLeft ? callers : "nobody");
        expect(isTold(strict, name)).toBe(!isLeft || isHidden);
        // Of a plugin that is not there at all, nothing is taken away.
        expect(isTold(narrowings, name)).toBe(judged.some((each) => each.isLeft) && isTold(strict, name));
        seen[isHidden ? "hidden" : isLeft ? "whole" : "gone"]++;
      }
    }),
    runs(10),
  );
  expect(Math.min(seen.hidden + seen.whole, seen.gone)).toBeGreaterThan(2);
});
