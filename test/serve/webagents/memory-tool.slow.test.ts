/**
 * A real client of the storage routes, `MemorySkill` of webagents 0.3.9 from PyPI, unchanged, against `memcell serve`:
 * each of its actions, and what it returns to its agent.
 */
import { describe, expect, test } from "vitest";

import { planner, weather, withAgentsStage } from "./agents-stage.ts";
import type { AgentsStage } from "./agents-stage.ts";

let stage: AgentsStage;
withAgentsStage(
  (opened) => {
    stage = opened;
  },
  ["--sharing-by-models", "--internal-values"],
);

const own = (action: string, args: object = {}): Promise<unknown> => stage.memory(weather, { action, ...args });

/** The other agent, with the first one's store. */
const theirs = (action: string, args: object = {}): Promise<unknown> =>
  stage.memory(planner, { action, store: weather, ...args });

const self = (storeId: string) => ({ storeId, level: "readwrite", source: "self" });

describe("the skill with the tool memory, by X-API-Key", () => {
  test("set and get: a text, any other JSON value, and what is not there", async () => {
    expect(await own("set", { key: "notes.md", value: "Answer in Japanese." })).toBe("OK");
    expect(await own("get", { key: "notes.md" })).toMatchObject({
      key: "notes.md",
      value: "Answer in Japanese.",
      storeId: weather,
      owner: weather,
      expires: null,
    });
    for (const value of [{ a: [1, null, "ü"] }, 42, false, [], ""]) {
      expect(await own("set", { key: "dir/any value", value })).toBe("OK");
      expect(await own("get", { key: "dir/any value" })).toMatchObject({ key: "dir/any value", value });
    }
    expect(await own("get", { key: "nothing" })).toBeNull();
    expect(await own("set", { key: "short", value: "x", ttl: 3_600 })).toBe("OK");
    expect(await own("get", { key: "short" })).toMatchObject({ expires: expect.stringMatching(/Z$/) as unknown });
  });

  test("list and delete", async () => {
    expect(await own("list")).toMatchObject({
      entries: [{ key: "dir/any value" }, { key: "notes.md", bytes: 19 }, { key: "short" }],
    });
    expect(await own("list", { prefix: "dir/an" })).toMatchObject({ entries: [{ key: "dir/any value" }] });
    expect(await own("list", { prefix: "%" })).toEqual({ entries: [] });
    expect(await own("delete", { key: "dir/any value" })).toBe("OK");
    expect(await own("delete", { key: "dir/any value" })).toEqual({ error: "delete failed: 404" });
    expect(await own("delete", { key: "short" })).toBe("OK");
  });

  test("search", async () => {
    expect(await own("search", { query: "japanese?" })).toMatchObject({
      entries: [{ key: "notes.md", storeId: weather, value: "Answer in Japanese.", snippet: "Answer in Japanese." }],
    });
    expect(await own("search", { query: '"unbalanced foo-bar' })).toEqual({ entries: [] });
    expect(await own("search", { query: "japanese", store: planner })).toEqual({ error: "search failed: 403" });
  });

  test("stores, share and unshare: each level, and nothing before and after", async () => {
    const denied = { error: "Access denied" };

    expect(await theirs("get", { key: "notes.md" })).toEqual(denied);
    expect(await theirs("set", { key: "x", value: 1 })).toEqual(denied);
    expect(await theirs("list")).toEqual({ error: "list failed: 403" });
    expect(await theirs("stores")).toEqual({ stores: [self(planner)] });

    expect(await own("share", { agent: planner, level: "search" })).toBe("OK");
    expect(await theirs("search", { query: "japanese" })).toMatchObject({ entries: [{ key: "notes.md" }] });
    expect(await theirs("get", { key: "notes.md" })).toEqual(denied);

    expect(await own("share", { agent: planner })).toBe("OK");
    expect(await theirs("get", { key: "notes.md" })).toMatchObject({ value: "Answer in Japanese.", owner: weather });
    expect(await theirs("stores")).toEqual({
      stores: [self(planner), { storeId: weather, level: "read", source: "grant" }],
    });
    expect(await theirs("set", { key: "x", value: 1 })).toEqual(denied);

    expect(await own("share", { agent: planner, level: "readwrite" })).toBe("OK");
    expect(await theirs("set", { key: "x", value: 1 })).toBe("OK");
    expect(await own("get", { key: "x" })).toMatchObject({ value: 1, owner: planner });
    expect(await own("delete", { key: "x" })).toEqual({ error: "delete failed: 403" });
    expect(await theirs("delete", { key: "x" })).toBe("OK");
    // Only the owner shares.
    expect(await theirs("share", { agent: "3d0a7c58-30f1-4d0f-b5d8-0c9b2c9a7d11" })).toEqual({
      error: "share failed: 403",
    });

    expect(await own("unshare", { agent: planner })).toBe("OK");
    expect(await own("unshare", { agent: planner })).toEqual({ error: "unshare failed: 404" });
    expect(await theirs("get", { key: "notes.md" })).toEqual(denied);
  });

  test("what a program sets out of sight of models, only programs get", async () => {
    const program = { client: "memory", settings: stage.settingsOf(weather) } as const;
    const secret = { store: weather, key: "weather-api" };
    const set = { ...secret, value: { key: "k-123" }, encrypted: true, ttl: 3_600 };
    expect(await stage.result({ ...program, call: "set_internal", args: set })).toBe(true);
    expect(await stage.result({ ...program, call: "get_internal", args: secret })).toEqual({
      key: "weather-api",
      storeId: weather,
      value: { key: "k-123" },
    });
    expect(await own("get", { key: "weather-api" })).toBeNull();
    expect(await own("list", { prefix: "weather" })).toEqual({ entries: [] });
    expect(await own("search", { query: "k-123 weather-api" })).toEqual({ entries: [] });
    expect(await own("delete", { key: "weather-api" })).toEqual({ error: "delete failed: 404" });
    const foreign = { ...program, settings: stage.settingsOf(planner), call: "get_internal", args: secret };
    expect(await stage.result(foreign)).toBeNull();
  });

  test("too large, wrong time to live, unknown key, another agent's id", async () => {
    expect(await own("set", { key: "big", value: "x".repeat(102_401) })).toEqual({ error: "set failed: 413" });
    expect(await own("set", { key: "k", value: 1, ttl: -5 })).toEqual({ error: "set failed: 400" });
    expect(await own("set", { key: "k", value: 1, ttl: 0.5 })).toEqual({ error: "set failed: 400" });
    const failed = { error: "stores failed: 401" };
    expect(await stage.memory(weather, { action: "stores" }, { api_key: "x".repeat(32) })).toEqual(failed);
    expect(await stage.memory(weather, { action: "stores" }, { api_key: null })).toEqual(failed);
    expect(await stage.memory(weather, { action: "stores" }, { agent_id: planner })).toEqual({
      error: "stores failed: 403",
    });
    // Without an agent's id, its empty ones mean the own store.
    expect(await stage.memory(weather, { action: "get", key: "notes.md" }, { agent_id: null })).toMatchObject({
      storeId: weather,
    });
    // What the client says about a chat and a person opens nothing.
    const hints = { chat_id: planner, user_id: planner };
    expect(await stage.memory(weather, { action: "get", key: "k", store: planner }, hints)).toEqual({
      error: "Access denied",
    });
    expect(await stage.memory(weather, { action: "get", key: "notes.md" }, hints)).toMatchObject({ key: "notes.md" });
  });

  describe("defects of the client, and what comes of them", () => {
    test("its initialize does not await its base's, so an agent cannot load it", async () => {
      const asked = { client: "memory_as_released", call: "initialize" } as const;
      expect(await stage.ask(asked)).toEqual({ raised: "RuntimeError: Cannot register tool: skill not initialized" });
    });

    test("it does not encode keys: a slash works, a question mark and a number sign cut the key", async () => {
      expect(await own("set", { key: "a/b", value: "of a/b" })).toBe("OK");
      expect(await own("get", { key: "a/b" })).toMatchObject({ key: "a/b", value: "of a/b" });
      expect(await own("set", { key: "a/b?c", value: "of a/b?c" })).toEqual({ error: "set failed: 400" });
      // The client itself drops what follows the question mark.
      expect(await own("get", { key: "a/b?c" })).toMatchObject({ key: "a/b", value: "of a/b" });
      expect(await own("set", { key: "a/b#c", value: "of a/b#c" })).toBe("OK");
      expect(await own("get", { key: "a/b" })).toMatchObject({ value: "of a/b#c" });
      expect(await own("set", { key: "50%25", value: "of 50%25" })).toBe("OK");
      expect(await own("list", { prefix: "50" })).toMatchObject({ entries: [{ key: "50%" }] });
      expect(await own("set", { key: "50%", value: "of 50%" })).toEqual({ error: "set failed: 400" });
    });

    test("it lets dots climb out of the route", async () => {
      for (const key of ["..", "../memory-scoped", "../../../healthz", "a/../../../../mcp"]) {
        expect(await own("set", { key, value: 1 })).toMatchObject({
          error: expect.stringMatching(/^set failed: 40/) as unknown,
        });
        const got = await own("get", { key });
        expect(got === null || "error" in (got as object)).toBe(true);
      }
    });
  });
});
