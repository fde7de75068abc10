/** What a server tells a model at the start of a session, with one plugin, with all, and with none that says anything. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { originInstruction } from "../../host/runtime/origin-instruction.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags, shippedNames, shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { openHttpStage } from "./http-stage.ts";
import { clientKinds, connect } from "./mcp-clients.ts";

const said = (name: string): string => manifestOf(readFileSync(shippedPlugin(name))).instructions ?? "";
const index =
  "Before you answer or write, read the resource memory://index (or the prompt memory): it lists what is remembered.";

test.for(
  clientKinds.flatMap((kind) => [
    { kind, what: "user-memory, the default", flags: [], told: [said("user-memory"), originInstruction, index] },
    { kind, what: "all plugins", flags: shippedFlags(), told: [...shippedNames().map(said), originInstruction, index] },
    // No index and no entry that can be read.
    { kind, what: "run-history", flags: ["--plugin", "run-history"], told: [said("run-history"), originInstruction] },
  ]),
)("$kind: the instructions with $what", async ({ kind, flags, told }) => {
  using folder = temporaryFolder();
  await using served = await connect(kind, ["--user", "alice", "--data", folder.path, ...flags]);
  expect(said("user-memory")).not.toBe("");
  expect(served.client.getInstructions()).toBe(told.join("\n"));
});

test("a model is told which of the tools in these words a policy keeps from it", async () => {
  using folder = temporaryFolder();
  const policy = join(folder.path, "policy.json");
  const { plugins } = policyFor([shippedPlugin("user-memory")]);
  const { UpdateUserMemory: _, ...tools } = plugins["user-memory"]?.tools ?? {};
  const search = { ...tools["SearchUserMemory"], audience: "host" };
  const narrowed = { version: 1, plugins: { "user-memory": { tools: { ...tools, SearchUserMemory: search } } } };
  writeFileSync(policy, JSON.stringify(narrowed));
  await using served = await connect("former SDK", ["--user", "alice", "--data", folder.path, "--policy", policy]);
  const gone = "Not available here: UpdateUserMemory, SearchUserMemory.";
  expect(served.client.getInstructions()).toBe([said("user-memory"), originInstruction, gone, index].join("\n"));
});

test("a plugin that says nothing gives no instructions", async () => {
  using folder = temporaryFolder();
  const [plugin, policy] = [testPlugin("puppet"), join(folder.path, "policy.json")];
  writeFileSync(policy, JSON.stringify(policyFor([plugin])));
  const flags = ["--plugin", plugin, "--policy", policy];
  await using served = await connect("former SDK", ["--user", "alice", "--data", folder.path, ...flags]);
  expect(served.client.getInstructions()).toBeUndefined();
});

/** Words for whoever runs the server. */
const forOperators = /--plugin|createRuntime|loaded/;

test.for(clientKinds)("a model (%s) is not told of plugins that are not loaded", async (kind) => {
  using folder = temporaryFolder();
  await using served = await connect(kind, ["--user", "alice", "--data", folder.path]);
  const error: unknown = await served.client
    .callTool({ name: "memory_write", arguments: {} })
    .catch((thrown) => thrown);
  expect(error).toMatchObject({ code: -32602, data: { code: "TOOL_UNKNOWN" } });
  expect(String(error)).toContain('Cannot call "memory_write": no such tool, allowed: UpdateUserMemory');
  expect(JSON.stringify(error) + String(error)).not.toMatch(forOperators);
  const uri = "memory://journal/index";
  const absent: unknown = await served.client.readResource({ uri }).catch((thrown) => thrown);
  expect(absent).toMatchObject({ code: -32602 });
  expect(JSON.stringify(absent) + String(absent)).not.toMatch(forOperators);
});

test("nor is one over HTTP", async () => {
  await using stage = await openHttpStage({ runtime: { plugins: ["user-memory"] } });
  const client = await stage.client(await stage.issuer.token("alice"));
  const error: unknown = await client.callTool({ name: "memory_write", arguments: {} }).catch((thrown) => thrown);
  expect(error).toMatchObject({ data: { code: "TOOL_UNKNOWN" } });
  expect(JSON.stringify(error) + String(error)).not.toMatch(forOperators);
});
