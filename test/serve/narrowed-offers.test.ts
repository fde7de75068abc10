/** What MCP clients see where the policy takes something away, or the server is read-only. */
import type { PolicyFile } from "memcell";
import { describe, expect, test } from "vitest";

import { openHttpStage } from "./http-stage.ts";
import type { ClientMode, HttpStage } from "./http-stage.ts";
import { entry } from "./serve-process.ts";

const memory = { rights: ["read"], scopes: ["memory"] } as const;
/** Leaves a tool to read, one for programs alone, and no tool with another role. */
const policy: PolicyFile = {
  version: 1,
  plugins: {
    "user-memory": {
      tools: {
        ReadUserMemory: memory,
        UpdateUserMemory: { rights: ["read", "list", "write", "trash", "clock"], scopes: ["memory"], audience: "host" },
      },
    },
  },
};

const modes: readonly ClientMode[] = ["2026-07-28", "legacy"];
const clientOf = async (stage: HttpStage, mode: ClientMode): ReturnType<HttpStage["client"]> =>
  await stage.client(await stage.issuer.token("alice"), mode);

describe.for(modes)("to a client of %s", (mode) => {
  test("a tool that the policy takes away is not listed and is unknown, and a family without roles has no list", async () => {
    await using stage = await openHttpStage({ runtime: { policy } });
    const update = await stage.runtime.callAsHost("UpdateUserMemory", entry("a"), { userId: "alice" });
    expect(update).toMatchObject({ ok: true });
    const client = await clientOf(stage, mode);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["ReadUserMemory"]);
    for (const name of ["UpdateUserMemory", "PromptIndex", "memory_write", "user-memory/UpdateUserMemory"]) {
      await expect(client.callTool({ name, arguments: { ...entry("b") } })).rejects.toMatchObject({ code: -32_602 });
    }
    expect(await client.callTool({ name: "ReadUserMemory", arguments: { name: "a" } })).toMatchObject({
      structuredContent: { name: "a" },
    });
    // Entries are read by their names, and neither listed nor in an index.
    expect(client.getServerCapabilities()?.prompts).toBeUndefined();
    expect((await client.listResources()).resources).toEqual([]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["memory://user-memory/entry/{name}"]);
    expect(await client.readResource({ uri: "memory://user-memory/entry/a" })).toMatchObject({ contents: [{}] });
    for (const uri of [
      "memory://index",
      "memory://user-memory/index",
      "memory://journal/index",
      "memory://journal/entry/a",
    ]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 });
    }
    expect(client.getInstructions()).not.toContain("memory://index");
  });

  test("a server that is read-only offers tools with the read-only hint alone, and says that memory can only be read", async () => {
    await using stage = await openHttpStage({ runtime: { readOnly: true } });
    const client = await clientOf(stage, mode);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(4);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect(tools.map(({ name }) => name)).toContain("memory");
    await expect(client.callTool({ name: "UpdateUserMemory", arguments: { ...entry("b") } })).rejects.toMatchObject({
      code: -32_602,
    });
    expect(client.getInstructions()).toContain("Memory can only be read here");
    expect(client.getInstructions()).toContain("memory://index");
  });
});
