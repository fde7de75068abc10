/** A plugin's own error codes in the output for programs and MCP clients. */
import { writeFileSync } from "node:fs";

import { afterAll, expect, test } from "vitest";

import type { PluginError } from "../../shared/manifest.ts";
import { memcell } from "../stage/command.ts";
import { clientKinds, connect } from "../stage/mcp-clients.ts";
import { writeCodedReporter } from "../support/coded-plugins.ts";
import { policyFor } from "../support/policy-for.ts";
import { commandStage } from "./command-stage.ts";

const stage = commandStage();
afterAll(() => stage[Symbol.dispose]());

const errors: PluginError[] = [{ code: "SEAT_TAKEN", of: "NAME_CONFLICT", meaning: "Somebody sits there." }];
const plugin = writeCodedReporter(stage.path, "Report", errors);
const policy = stage.place("policy.json");
writeFileSync(policy, JSON.stringify(policyFor([plugin])));
const settings = ["--plugin", plugin, "--policy", policy];
const ofUser = ["--user", "alice", "--data", stage.dataDir];
const input = { ok: false, error: { code: "SEAT_TAKEN", message: "Somebody sits there" } };
const failure = { code: "SEAT_TAKEN", of: "NAME_CONFLICT", message: "Somebody sits there", retryable: false };

test("call prints the code and its `of`, and exits with 1; tools prints the codes with each tool", async () => {
  const called = await memcell(["call", "Report", ...ofUser, ...settings, "--input", JSON.stringify(input)]);
  expect(called).toMatchObject({ status: 1, stderr: "" });
  expect(JSON.parse(called.stdout)).toEqual({ ok: false, error: { ...failure, blame: "caller" } });
  const tools = JSON.parse((await memcell(["tools", ...settings])).stdout) as { errors?: unknown }[];
  expect(tools.map((tool) => tool.errors)).toEqual([errors]);
});

test.for(clientKinds)("a %s client receives the code and its `of`", async (kind) => {
  await using served = await connect(kind, [...ofUser, ...settings]);
  const failed = await served.client.callTool({ name: "Report", arguments: input });
  expect(failed).toMatchObject({ isError: true, _meta: { "memcell/error": { ...failure, blame: "caller" } } });
  const [message, json] = (failed.content as { text: string }[]).map(({ text }) => text);
  expect(message).toBe(failure.message);
  expect(JSON.parse(json ?? "")).toEqual(failure);
});
