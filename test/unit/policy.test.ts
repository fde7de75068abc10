/** What a policy means, however it is written, and what it leaves of a plugin: whole tools, whole commands, no right more. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { createRuntime, memoryStore } from "memcell";
import type { LogEntry, PolicyFile } from "memcell";
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

test.for<readonly [name: string, policy: PolicyFile]>([
  ["a right", ofT({ rights: ["read", "list"] })],
  ["a scope", ofT({ scopes: [] })],
  ["a tool", policyOf({ a: { tools: { T: read, U: read } } })],
  ["a plugin", policyOf({ a: { tools: { T: read } }, b: { tools: {} } })],
  ["a pin", policyOf({ a: { sha256: [one], tools: { T: read } } })],
  ["a limit", ofT({}, { limits: { hostCalls: 9 } })],
  ["a trust", policyOf({ a: { trust: { active: "tool_external" }, tools: { T: read } } })],
  ["a history", ofT({}, { history: { daysMax: 91 } })],
  ["being strict", ofT({}, { strict: true })],
])("policies that differ by %s have different hashes", async ([, policy]) => {
  const { sha256 } = (await audited(reader, ofT({}))).policy;
  expect((await audited(reader, policy)).policy.sha256).not.toBe(sha256);
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

const unnamed = 'The policy does not name the tool "Second", so it grants it nothing.';

const withFirst = (sha256: string[] | undefined): PolicyFile =>
  policyOf({ a: { sha256, tools: { First: { rights: [], scopes: ["memory"] } } } }, { limits: { memoryPages: 8 } });

test("without being strict, the file and the memory alone keep a plugin out", async () => {
  const manifest = { ...guestManifest("a", { First: "first", Second: "second" }), ...narrowMemory };
  expect(textsOf(await audited(manifest, withFirst([other])))).toEqual([
    expect.stringContaining(other),
    unnamed,
    memoryFault,
  ]);
  expect(textsOf(await audited(manifest, withFirst(undefined)))).toEqual([unnamed, memoryFault]);
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

const commandRights: Right[] = ["read", "write", "grant_list", "grant_set"];

const commandNames = [...commandRights, "both"];

/** A tool with one command for each right, and one that needs two. */
const commanded = plain({
  export: undefined,
  commands: commandNames.map((name) => ({
    name,
    export: `run_${name}`,
    rights: commandRights.filter((right) => right === name || (name === "both" && !right.startsWith("grant"))),
    fields: [`of_${name}`],
  })),
  input: {
    type: "object",
    properties: {
      command: { enum: commandNames },
      ...Object.fromEntries(commandNames.map((name) => [`of_${name}`, {}])),
    },
  },
  scopes: ["store:*"],
  rights: commandRights,
});

const withTools = (...tools: ManifestTool[]): Manifest => ({ ...guestManifest("a", {}), abi: 2, tools });
const granted = { rights: ["read", "write"], scopes: ["memory"] } as const;
const offered = 'the tool "Tool" is to be offered to models, the policy keeps it for the host';

test.for<readonly [name: string, tool: ManifestTool, granted: GrantedTools, text: string, commands?: readonly Right[]]>(
  [
    [
      "a tool that is not named",
      plain(),
      {},
      'the policy does not name the tool "Tool", so it grants it nothing: it is not available',
    ],
    [
      "a tool without one of its rights",
      plain(),
      { Tool: { ...granted, rights: ["read"] } },
      'the tool "Tool" asks for "write", the policy grants it "read": it is not available',
    ],
    [
      "a tool without one of its scopes",
      plain({ scopes: ["memory", "notes"] }),
      { Tool: granted },
      'the tool "Tool" asks for the scope "notes", the policy grants it "memory": it is not available',
    ],
    [
      "a tool that is kept for the host",
      plain(),
      { Tool: { ...granted, audience: "host" } },
      `${offered}: only programs can call it`,
    ],
    [
      "a tool without a right that is kept for the host",
      plain(),
      { Tool: { rights: [], scopes: [], audience: "host" } },
      'the tool "Tool" asks for "read", "write", the policy grants it no right; ' +
        `the tool "Tool" asks for the scope "memory", the policy grants it no scope; ${offered}: it is not available`,
    ],
    [
      "some commands of a tool",
      commanded,
      { Tool: { rights: ["read", "grant_list"], scopes: ["store:*"] } },
      'the tool "Tool" asks for "write", "grant_set", the policy grants it "grant_list", "read": ' +
        'its commands "write", "grant_set", "both" are not available',
      ["read", "grant_list"],
    ],
    [
      "a command of a tool that is kept for the host",
      commanded,
      { Tool: { rights: ["read", "write", "grant_list"], scopes: ["store:*"], audience: "host" } },
      `the tool "Tool" asks for "grant_set", the policy grants it "grant_list", "read", "write"; ${offered}: ` +
        'its command "grant_set" is not available, and only programs can call it',
    ],
    [
      "all commands of a tool",
      commanded,
      { Tool: { rights: ["clock"], scopes: ["store:*"] } },
      'the tool "Tool" asks for "read", "write", "grant_list", "grant_set", the policy grants it "clock": ' +
        "it is not available",
    ],
    [
      "the scope of a tool with commands",
      commanded,
      { Tool: { rights: commandRights, scopes: ["memory"] } },
      'the tool "Tool" asks for the scope "store:*", the policy grants it "memory": it is not available',
    ],
  ],
)("takes away %s, and says so in one line", async ([, tool, tools, text, commands = []]) => {
  const manifest = withTools(tool, plain({ name: "Other" }));
  const policy = policyOf({ a: { tools: { ...tools, Other: granted } } });
  const log: LogEntry[] = [];
  await using runtime = await createRuntime({
    store: memoryStore(),
    plugins: [writeEmptyPlugin(folder.path, manifest)],
    policy,
    onLog: (line) => void log.push(line),
  });
  expect(log.map((line) => line.text)).toEqual([`a: ${text}`]);
  const left = runtime.tools().map(({ name, inputSchema }) => [name, Object.keys(inputSchema["properties"] ?? {})]);
  const fields = ["command", ...commands.map((each) => `of_${each}`)];
  expect(left).toEqual([...(commands.length > 0 ? [["Tool", fields]] : []), ["Other", []]]);
  if (commands.length > 0)
    expect(runtime.tools()[0]?.inputSchema).toMatchObject({ properties: { command: { enum: commands } } });
});

test("takes away all tools of a plugin that the policy does not name, in one line", async () => {
  const log: string[] = [];
  await using runtime = await createRuntime({
    store: memoryStore(),
    plugins: [writeEmptyPlugin(folder.path, withTools(plain(), plain({ name: "Other" })))],
    policy: policyOf({}),
    onLog: ({ text }) => void log.push(text),
  });
  expect(runtime.tools()).toEqual([]);
  expect(log).toEqual([
    'a: the policy "inline" does not name the plugin "a", so it grants it nothing ' +
      '("memcell audit FILE --propose" prints a policy): none of its tools is available',
  ]);
});

const someRights = fc.subarray<Right>(["read", "list", "write", "trash", "clock"]);
const someScopes = fc.subarray(["memory", "notes"]);
const audience = fc.constantFrom("model" as const, "host" as const);
const randomTool = fc.record({ rights: someRights, scopes: someScopes, audience });
const randomGrant = fc.option(fc.record({ rights: someRights, scopes: someScopes, audience }), { nil: undefined });

test("whatever is granted, a tool is left exactly if it gets all that it asks for, and a strict policy agrees", async () => {
  const seen = { whole: 0, narrowed: 0, gone: 0 };
  await fc.assert(
    fc.asyncProperty(randomTool, randomGrant, async (random, grant) => {
      const manifest = withTools(plain(random));
      const tools = grant === undefined ? {} : { Tool: grant };
      const { rights = [], scopes = [], audience: kept } = grant ?? {};
      const isLeft =
        grant !== undefined &&
        random.rights.every((each) => rights.includes(each)) &&
        random.scopes.every((each) => scopes.includes(each));
      const isHidden = random.audience === "model" && kept === "host";
      const isForModels = random.audience === "model" && kept !== "host";
      const { tools: judged, narrowings } = await audited(manifest, policyOf({ a: { tools } }));
      expect(judged[0]?.callers).toBe(isLeft ? (isForModels ? "models" : "programs") : "nobody");
      expect(narrowings.length > 0).toBe(isLeft && isHidden);
      const strict = await audited(manifest, policyOf({ a: { tools } }, { strict: true }));
      expect(strict.deviations.length === 0).toBe(isLeft && !isHidden);
      seen[isLeft ? (isHidden ? "narrowed" : "whole") : "gone"]++;
    }),
    runs(60),
  );
  expect(Math.min(seen.narrowed + seen.whole, seen.gone)).toBeGreaterThan(2);
});
