/**
 * The shipped policy grants each plugin what it needs and nothing else: what its manifest asks for, and each tool and
 * command really uses each right and scope. Without one, a vector of the tool is denied.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { CallContext, PolicyFile } from "memcell";
import { afterAll, describe, expect, test } from "vitest";

import type { Right } from "../../shared/abi.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { anyStore } from "../../shared/shared-scope.ts";
import { RenewedStore } from "../conformance/renewed-store.ts";
import { vectorStores } from "../conformance/vector-stores.ts";
import { readVectors } from "../conformance/vector.ts";
import type { Vector, VectorCall } from "../conformance/vector.ts";
import { oneIn } from "../stage/seed.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin, withTool } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const file = new URL(import.meta.resolve("memcell/default-policy.json"));
const { lockFile, ...unlocked } = JSON.parse(readFileSync(file, "utf8")) as PolicyFile;

test("the shipped policy grants what the manifests ask for and nothing else, pins all, and changes no limit", () => {
  expect(Object.keys(unlocked.plugins).toSorted()).toEqual(shippedNames());
  for (const [plugin, { tools }] of Object.entries(unlocked.plugins)) {
    const asked = manifestOf(readFileSync(shippedPlugin(plugin))).tools;
    const granted = Object.entries(tools).map(([name, { rights, scopes }]) => ({ name, rights, scopes }));
    expect(granted).toEqual(asked.map(({ name, rights, scopes }) => ({ name, rights, scopes })));
  }
  expect(lockFile).toBe("../../../build/plugins.lock.json");
  expect(unlocked.limits).toBeUndefined();
});

/** A plugin of which every second tool lacks a right or a scope. */
interface Lacking {
  readonly plugin: string;
  readonly kind: "rights" | "scopes";
  readonly part: string;
  /** Which of the tools that ask for it lack it: those at even places, or the others. */
  readonly parity: 0 | 1;
}

const toolsOf = (plugin: string): readonly ManifestTool[] => manifestOf(readFileSync(shippedPlugin(plugin))).tools;

const asking = ({ plugin, kind, part }: Lacking): ManifestTool[] =>
  toolsOf(plugin).filter((tool) => tool[kind].some((each) => each === part));

const lackers = (lacking: Lacking): ManifestTool[] => asking(lacking).filter((_, at) => at % 2 === lacking.parity);

/** Without the scope of all stores, the rights of stores are refused at load, so no request shows that it is used. */
const lackings = shippedNames().flatMap((plugin) =>
  (["rights", "scopes"] as const).flatMap((kind) => {
    const parts = new Set<string>(toolsOf(plugin).flatMap((tool) => tool[kind]));
    return [...parts]
      .filter((part) => part !== anyStore)
      .flatMap((part) => ([0, 1] as const).map((parity): Lacking => ({ plugin, kind, part, parity })))
      .filter((lacking) => lackers(lacking).length > 0);
  }),
);

/** The tools and commands that lack it. */
const usesOf = (lacking: Lacking): { tool: string; command: string }[] =>
  lackers(lacking).flatMap(({ name: tool, commands }) => {
    if (commands === undefined || lacking.kind === "scopes") return [{ tool, command: "" }];
    const using = commands.filter(({ rights }) => rights.some((right) => right === lacking.part));
    return using.map(({ name: command }) => ({ tool, command }));
  });

/** The plugin with the same code. A role without its part is refused at load, so it goes: here a request is denied. */
function without(lacking: Lacking): Manifest {
  const { plugin, kind, part } = lacking;
  const left = <Part extends string>(parts: readonly Part[]): Part[] => parts.filter((each) => each !== part);
  const withoutRole = { role: undefined, entryFile: undefined, derivedFiles: undefined };
  const lacks = lackers(lacking);
  const narrowed = lacks.reduce(
    (manifest, tool) => {
      if (kind === "scopes") return withTool(manifest, tool.name, { scopes: left(tool.scopes), ...withoutRole });
      const commands = tool.commands?.map((each) => Object.assign(each, { rights: left(each.rights) }));
      return withTool(manifest, tool.name, {
        rights: left(tool.rights),
        ...(commands && { commands }),
        ...withoutRole,
      });
    },
    manifestOf(readFileSync(shippedPlugin(plugin))),
  );
  // A right that no tool asks for is refused at load as well: then another tool asks for it.
  const isAsked = narrowed.tools.some((tool) => tool[kind].some((each) => each === part));
  const asker = narrowed.tools.find(({ name, commands }) => !commands && lacks.every((tool) => tool.name !== name));
  if (kind === "scopes" || isAsked || asker === undefined) return narrowed;
  return withTool(narrowed, asker.name, { rights: [...asker.rights, part as Right] });
}

const [own, other] = [storeIdOf("alice"), storeIdOf("bob")];
const entry = (key: string, more: string): string =>
  `---\nkey: ${key}\nowner: ${own}\n${more}\nexpires: '9000-01-01T00:00:00.000Z'\n---\nsome text\n`;
const ofFamily = "in_context: true\nencrypted: false\nupdated: '2026-01-01T00:00:00.000Z'";
/** No text: what is written in its place moves it to the trash. */
const torn = { $hex: "e9" };
const named = (name: string): object => ({ path: `/memories/${name}` });
const note = (command: string, key: string, more: object = {}): object => ({
  command,
  namespace: "owner",
  key,
  ...more,
});

/** Uses that no vector shows: of entries that end by themselves, and of files that are no text. */
const furtherCalls: readonly (readonly [tool: string, input: object])[] = [
  ["ClearEntries", { creator: other }],
  ["MemoryKeys", {}],
  ["ListOwnEntries", {}],
  ["ReadOwnEntry", { name: "a.md" }],
  ["CallerNotes", { command: "search", query: "text" }],
  ["CallerNotes", { command: "list" }],
  ["CallerNotes", { command: "pull", namespace: "owner" }],
  ["CallerNotes", note("get", "n")],
  ["AnthropicMemory", { command: "view", ...named("a.md") }],
  ["memory", { command: "share", agent: other, ttl: 60 }],
  ["SetInternal", { key: "torn.md", value: 1, ttl: 60 }],
  ["CallerNotes", note("put", "torn", { content: "x" })],
  ["CallerNotes", note("forget", "n")],
  ["AnthropicMemory", { command: "delete", ...named("c.md") }],
];
const further: Vector = {
  title: "further uses",
  plugin: "stores",
  before: {},
  after: {},
  storesBefore: {
    [own]: {
      files: {
        ...Object.fromEntries(["a.md", "c.md"].map((key) => [key, entry(key, ofFamily)])),
        [`_.by/${other}/x.md`]: entry("x.md", ofFamily).replace(own, other),
        "_.ns/owner/n_.md": entry("n", "namespace: owner"),
        "_.in/torn.md": torn,
        "_.ns/owner/torn_.md": torn,
      },
    },
  },
  calls: furtherCalls.map(([tool, input]) => ({
    tool,
    audience: "host",
    context: { userId: "alice", epochMs: Date.parse("2026-06-01") },
    input,
    result: { ok: true },
  })),
};

const vectors = [...readVectors().map(({ vector }) => vector), further];
const commandOf = ({ input }: VectorCall): string => (input as { readonly command?: string } | null)?.command ?? "";

/** Opens the plugin that lacks the part. Returns a way to look for a denied call of a tool or command in its vectors. */
async function open(lacking: Lacking, at: number) {
  const shipped = readFileSync(shippedPlugin(lacking.plugin));
  const plugins = [join(folder.path, `${at}.wasm`)];
  writeFileSync(plugins[0] ?? "", resealPlugin(shipped, without(lacking)));
  const dataDir = join(folder.path, `data-${at}`);
  let epochMs = 0;
  const [first] = vectors;
  if (first === undefined) throw new Error("There is no vector");
  const store = new RenewedStore(vectorStores.fileStore.open(first, dataDir).definition);
  const options = { store: store.definition, plugins, policy: policyFor(plugins), threadsMax: 1 };
  const runtime = await createRuntime({ ...options, clock: () => epochMs });
  const { part } = lacking;
  const denial = part === "search" ? /scope "store:/ : new RegExp(`not granted "${part}"|scope "${part}"`);
  const isDenied = async (tool: string, command: string): Promise<boolean> => {
    const isOfTool = (call: VectorCall): boolean =>
      call.tool === tool && (command === "" || commandOf(call) === command);
    for (const vector of vectors.filter(({ calls }) => calls.some(isOfTool))) {
      await store.renew(vectorStores.fileStore.open(vector, dataDir).definition);
      for (const call of vector.calls) {
        const { epochMs: now, ...ctx } = call.context;
        epochMs = now;
        const name = call.audience === "host" ? "callAsHost" : "call";
        const result = await runtime[name](call.tool, call.input, ctx as CallContext);
        if (isOfTool(call) && !result.ok && denial.test(result.error.message)) return true;
      }
    }
    return false;
  };
  return { runtime, isDenied };
}

describe.for(oneIn(8, lackings).map((lacking, at) => [at, lacking] as const))("plugin %i", ([at, lacking]) => {
  let opened: ReturnType<typeof open> | null = null;
  afterAll(async () => await (await opened)?.runtime.close());

  test.for(usesOf(lacking).map((use) => Object.assign(use, lacking)))(
    "$plugin: $tool $command really uses $part of its $kind",
    async ({ tool, command }) => {
      const { isDenied } = await (opened ??= open(lacking, at));
      expect(await isDenied(tool, command)).toBe(true);
    },
  );
});
