/**
 * Real clients of the storage routes, `PortalMemoryStore` and the skill over it of webagents 0.3.9 from PyPI, unchanged,
 * against `memcell serve`: each of their functions, and what they return.
 */
import { describe, expect, test } from "vitest";

import { planner, weather, withAgentsStage } from "./agents-stage.ts";
import type { AgentsStage } from "./agents-stage.ts";

let stage: AgentsStage;
let token: string;
withAgentsStage(
  async (opened) => {
    stage = opened;
    token = await stage.tokenOf(weather);
  },
  ["--sharing-by-models", "--internal-values"],
);

const refused = (status: number, why: string) => ({
  raised: `MemoryPortalError: memory: the platform answered ${status} (${why}).`,
});

const owner = { authenticated: true, provider: "platform", scope: "owner", user_id: "u-1" };
const caller = (user: string) => ({ ...owner, scope: "user", user_id: user });

const settingsFor = async (tiers: object, folder: string) => ({
  ...tiers,
  agent_path: stage.newFolder(folder),
  agent_id: planner,
  api_key: await stage.tokenOf(planner),
});

/** The store of `memory-scoped`. */
const ask = (call: string, args: object = {}): Promise<unknown> =>
  stage.result({ client: "scoped", settings: { token, agent_id: weather }, call, args });

/** The skill over that store. */
const on = (machine: object, call: string, args: object = {}): Promise<unknown> =>
  stage.result({ client: "notes", settings: machine, caller: owner, call, args });

describe("the store of memory-scoped, by a bearer token", () => {
  test("put, get, list, search and forget", async () => {
    const alice = { namespace: "caller:user:alice", key: "prefs" };
    const put = await ask("put", { ...alice, content: "Likes green tea.", description: "what alice  likes" });
    expect(put).toMatchObject({ ...alice, content: "Likes green tea.", source: "tool" });
    expect(await ask("get", alice)).toEqual(put);
    expect(await ask("get", { ...alice, namespace: "caller:user:bob" })).toBeNull();
    await ask("put", { namespace: "owner", key: "plan", content: "Buy tea in October", source: "compaction" });

    expect(await ask("list", { namespaces: null })).toMatchObject([{ key: "plan" }, { key: "prefs" }]);
    expect(await ask("list", { namespaces: ["caller:user:alice", "shared"] })).toEqual([put]);
    expect(await ask("list", { namespaces: null, exclude_sources: ["compaction"] })).toEqual([put]);
    expect(await ask("list", { namespaces: null, prefix: "pl", limit: 100_000 })).toMatchObject([{ key: "plan" }]);
    expect(await ask("search", { query: "tea", namespaces: null })).toHaveLength(2);
    expect(await ask("search", { query: "teas?", namespaces: ["caller:user:alice"] })).toEqual([put]);

    expect(await ask("forget", alice)).toBe(true);
    expect(await ask("forget", alice)).toBe(false);
    expect(await ask("get", alice)).toBeNull();
  });

  test("push and pull: the later change counts, and what is forgotten stays so", async () => {
    const namespace = "shared";
    const line = (op: string, at: string, content: string) => ({
      seq: 1,
      id: "x",
      op,
      namespace,
      key: "faq",
      content,
      source: "sync",
      at,
    });
    const [earlier, later] = ["2026-01-01T09:00:00.000Z", "2026-01-01T10:00:00.000Z"];
    expect(await ask("push", { namespace, lines: [line("put", later, "later")] })).toBe(1);
    expect(await ask("push", { namespace, lines: [line("put", earlier, "earlier")] })).toBe(0);
    const [lines, cursor, more] = (await ask("pull", { namespace, since: null })) as [object[], string, boolean];
    expect([lines.length, more]).toEqual([1, false]);
    expect(lines[0]).toMatchObject({ op: "put", namespace, key: "faq", content: "later", source: "tool", at: later });
    expect(await ask("push", { namespace, lines: [line("delete", "2026-01-01T11:00:00.000Z", "")] })).toBe(1);
    expect(await ask("push", { namespace, lines: [line("put", later, "again")] })).toBe(0);
    const [afterwards] = (await ask("pull", { namespace, since: cursor })) as [object[]];
    expect(afterwards).toMatchObject([{ op: "delete", key: "faq", at: "2026-01-01T11:00:00.000Z" }]);
  });

  test("what is refused: no namespace of this kind, a wrong token, another agent", async () => {
    const raised = async (call: string, args: object, settings: object = {}): Promise<unknown> =>
      await stage.ask({ client: "scoped", settings: { token, agent_id: weather, ...settings }, call, args });
    const put = { namespace: "caller:https://evil.example/x,owner", key: "k", content: "" };
    expect(await raised("put", put)).toEqual({
      raised: expect.stringMatching(
        /^MemoryPortalError: memory: the platform answered 400 \(The field namespace is wrong, allowed: "owner", /,
      ) as unknown,
    });
    const get = { namespace: "owner", key: "plan" };
    expect(await raised("get", get, { token: "x.y.z" })).toEqual(refused(401, "invalid_token"));
    expect(await raised("get", get, { agent_id: planner })).toEqual(refused(403, "Access denied to this store"));
    // Each agent has its own owner.
    const theirs = { token: await stage.tokenOf(planner), agent_id: planner };
    expect(await raised("get", get, theirs)).toEqual({ result: null });
    expect(await raised("list", { namespaces: null }, theirs)).toEqual({ result: [] });
  });
});

describe("the skill with the five tools, with its notes in memcell", () => {
  test("each caller finds its own notes and the shared ones", async () => {
    const client = { client: "notes", settings: await settingsFor({ local: false, portal: true }, "portal") } as const;
    const as = (who: object, call: string, args: object): Promise<unknown> =>
      stage.result({ ...client, caller: who, call, args });
    const written = { ok: true, key: "prefs", namespace: "caller:user:alice" };
    expect(await as(caller("alice"), "memory_write", { key: "prefs", content: "tea" })).toMatchObject(written);
    // A caller cannot name another's namespace.
    const forged = { key: "prefs", content: "coffee", namespace: "caller:user:alice" };
    expect(await as(caller("bob"), "memory_write", forged)).toMatchObject({ ...written, namespace: "caller:user:bob" });
    const shared = { key: "hours", content: "Open from nine", description: "opening hours", namespace: "shared" };
    expect(await as(owner, "memory_write", shared)).toMatchObject({ ok: true, namespace: "shared" });

    expect(await as(caller("alice"), "memory_read", { key: "prefs" })).toMatchObject({ content: "tea" });
    expect(await as(caller("bob"), "memory_search", { query: "tea" })).toEqual({ entries: [] });
    expect(await as(caller("bob"), "memory_list", {})).toMatchObject({
      entries: [
        { key: "hours", description: "opening hours" },
        { key: "prefs", namespace: "caller:user:bob" },
      ],
    });
    expect(await as(owner, "memory_list", {})).toMatchObject({ entries: { length: 3 } });
    expect(await as(owner, "owner_summary", {})).toMatchObject({
      portal: true,
      shared: 1,
      callers: 2,
      caller_notes: 2,
    });
    expect(await as(owner, "frozen_notes", {})).toContain("opening hours");
    expect(await as(caller("bob"), "memory_forget", { key: "prefs" })).toEqual({ ok: true, forgotten: 1 });
    expect(await as(caller("bob"), "memory_forget", { key: "prefs" })).toEqual({ ok: true, forgotten: 0 });
  });

  test("two machines of one agent exchange their notes", async () => {
    const tiers = { local: true, portal: true, plain_index: true };
    const [first, second] = [await settingsFor(tiers, "first"), await settingsFor(tiers, "second")];
    const pull = (machine: object): Promise<unknown> => on(machine, "pull", { namespaces: ["owner"] });

    await on(first, "memory_write", { key: "plan", content: "October", description: "the plan" });
    await on(first, "memory_write", { key: "idea", content: "a garden" });
    expect(await pull(second)).toBe(2);
    expect(await on(second, "memory_read", { key: "plan" })).toMatchObject({
      content: "October",
      description: "the plan",
    });
    await on(second, "memory_write", { key: "plan", content: "November" });
    await on(second, "memory_forget", { key: "idea" });
    await pull(first);
    expect(await on(first, "memory_read", { key: "plan" })).toMatchObject({ content: "November" });
    expect(await on(first, "memory_read", { key: "idea" })).toEqual({ error: "memory: no note called idea." });
    // What was pulled is not new to anybody.
    expect([await pull(first), await pull(second)]).toEqual([0, 0]);
  });
});
