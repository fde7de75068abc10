/** A plugin's own error codes in the output for programs and MCP clients. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import type { PluginError } from "../../shared/manifest.ts";
import { clientKinds, connect } from "../stage/mcp-clients.ts";
import { program } from "../stage/serve-lines.ts";
import { writeCodedReporter } from "../support/coded-plugins.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const errors: PluginError[] = [{ code: "SEAT_TAKEN", of: "NAME_CONFLICT", meaning: "Somebody sits there." }];
const plugin = writeCodedReporter(folder.path, "Report", errors);
const policy = join(folder.path, "policy.json");
writeFileSync(policy, JSON.stringify(policyFor([plugin])));
const settings = ["--plugin", plugin, "--policy", policy];
const ofUser = ["--user", "alice", "--data", join(folder.path, "data")];
const input = { ok: false, error: { code: "SEAT_TAKEN", message: "Somebody sits there" } };
const failure = { code: "SEAT_TAKEN", of: "NAME_CONFLICT", message: "Somebody sits there", retryable: false };

function memcell(args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [program, ...args, ...settings], { cwd: folder.path, encoding: "utf8" });
}

test("memcell call prints the code and its `of`, and exits with 1", () => {
  const { status, stdout, stderr } = memcell(["call", "Report", ...ofUser, "--input", JSON.stringify(input)]);
  expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({ ok: false, error: { ...failure, blame: "caller" } });
});

test("memcell tools prints the codes with each tool", () => {
  const { status, stdout } = memcell(["tools"]);
  expect(status).toBe(0);
  const tools = JSON.parse(stdout) as { errors?: unknown }[];
  expect(tools.map((tool) => tool.errors)).toEqual(tools.map(() => errors));
});

test.for(clientKinds)("a %s client receives the code and its `of`", async (kind) => {
  await using served = await connect(kind, [...ofUser, ...settings]);
  const failed = await served.client.callTool({ name: "Report", arguments: input });
  expect(failed).toMatchObject({ isError: true, _meta: { "memcell/error": { ...failure, blame: "caller" } } });
  const [message, json] = (failed.content as { text: string }[]).map(({ text }) => text);
  expect(message).toBe(failure.message);
  expect(JSON.parse(json ?? "")).toEqual(failure);
});
