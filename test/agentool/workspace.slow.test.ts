/** An unchanged workspace of agentool, whose memory folder is mounted for one user of memcell. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { LineHost } from "../polyglot/line-host.ts";
import { policyFor } from "../support/policy-for.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { buildTimeoutMs, preparePeer } from "./prepare-peer.ts";

const memory = ".agent/memory";

test("both tools keep the memory folder of a mounted workspace", { timeout: buildTimeoutMs }, async (context) => {
  const peer = await preparePeer();
  if ("missing" in peer) skipWithReason(context, `no agentool: ${peer.missing}`);
  using workspace = temporaryFolder();
  using data = temporaryFolder();
  const plugins = [shippedPlugin("journal")];
  const mounts = [{ userId: "alice", scope: "journal", dir: join(workspace.path, memory) }];
  const options = { dataDir: join(data.path, "data"), plugins, policy: policyFor(plugins), mounts };
  await using runtime = await createRuntime({ ...options, threadsMax: 1 });
  await using agentool = new LineHost({ command: peer.program, args: [workspace.path, memory] });
  const theirs = (tool: string, params: object): Promise<unknown> => agentool.ask({ tool, params });
  const ours = (userId: string, tool: string, params: object): Promise<unknown> =>
    runtime.call(tool, params, { userId });

  const written = { success: true, data: { key: "by memcell", target: "summary", path: "MEMORY.md" } };
  const [first, second] = [
    { key: "by memcell", content: "### x" },
    { key: "by agentool", content: "y" },
  ];
  expect(await ours("alice", "memory_write", { ...first, target: "summary" })).toMatchObject({
    ok: true,
    data: written,
  });
  expect(await theirs("memory_write", { ...second, target: "summary" })).toMatchObject({ success: true });
  expect(await theirs("memory_update", { key: "by memcell", content: "z" })).toMatchObject({ success: true });
  expect(await ours("alice", "memory_update", { key: "by agentool", content: "z" })).toMatchObject({ ok: true });

  const block = { content: "z", tags: [], file: "MEMORY.md", kind: "summary" };
  const all = {
    success: true,
    data: {
      results: [
        { key: "by agentool", ...block },
        { key: "by memcell", ...block },
      ],
    },
  };
  expect(await theirs("memory_search", { query: "" })).toEqual(all);
  expect(await ours("alice", "memory_search", { query: "" })).toMatchObject({ ok: true, data: all });
  expect(await ours("bob", "memory_search", { query: "" })).toMatchObject({ data: { data: { results: [] } } });
  expect(existsSync(join(options.dataDir, "users", "alice"))).toBe(false);
});
