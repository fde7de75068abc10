/**
 * The real clients of the storage routes, of webagents 0.3.9 from PyPI, unchanged, against `memcell serve`: what each of
 * their functions returns to its agent. `../storage/` has every case of the routes.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { HttpProcess, tokenFlags } from "../../stage/http-process.ts";
import { writeAgentKeys } from "../../stage/http.ts";
import { TokenIssuer } from "../../stage/token-issuer.ts";
import { installPackages, isolation } from "../../support/python-packages.ts";
import type { InstalledPackages } from "../../support/python-packages.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { shippedFlags } from "../../support/test-plugin.ts";

/** The id of an agent of the platform, which is also that of its own store. */
const weather = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f";
const planner = "1b0f6f0a-2a52-4c4e-8d0e-5a3c9d1e7f42";

/** What `drive.py` is asked. */
interface AskedClient {
  readonly client: "memory" | "memory_as_released" | "scoped" | "notes";
  /** What the client is made with. The same settings are the same client. */
  readonly settings?: object;
  /** One of its functions. */
  readonly call: string;
  readonly args?: object;
  /** Who talks to the agent, as its own checks have established. */
  readonly caller?: object;
}

type AgentsStage = Awaited<ReturnType<typeof openAgentsStage>>;

const script = fileURLToPath(new URL("drive.py", import.meta.url));

/** `memcell serve --http` as a process with storage routes, and one process with the real clients of two agents. */
async function openAgentsStage(python: string) {
  const folder = temporaryFolder();
  const keys = Object.fromEntries([weather, planner].map((agent) => [agent, randomBytes(24).toString("base64url")]));
  const issuing = await TokenIssuer.start();
  const storage = ["--storage", "--agent-keys", writeAgentKeys(folder.path, keys), "--data", join(folder.path, "data")];
  const allowed = ["--sharing-by-models", "--internal-values"];
  const server = new HttpProcess([...tokenFlags(issuing), ...storage, ...shippedFlags(), ...allowed]);
  const home = join(folder.path, "home");
  mkdirSync(home);
  // Nothing of the machine's user: no stored keys, no settings of another platform.
  const env = { HOME: home, PATH: process.env["PATH"], ROBUTLER_API_URL: `http://127.0.0.1:${await server.port()}` };
  const child = spawn(python, [...isolation, script], { stdio: ["pipe", "pipe", "inherit"], env, cwd: home });
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    folder: folder.path,
    /** The keys of both agents, by their ids. */
    keys,
    tokenOf: (agent: string): Promise<string> => issuing.token(agent),
    /** What the function returned, or `{ raised }`. One thing is asked after the other. */
    ask: async (asked: AskedClient): Promise<unknown> => {
      child.stdin.write(`${JSON.stringify(asked)}\n`);
      const { done, value } = await replies.next();
      if (done === true) throw new Error("The process with the clients has ended");
      const reply = JSON.parse(value) as { readonly result?: unknown; readonly raised?: string };
      return reply.raised === undefined ? reply.result : reply;
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      const closed = once(child, "close");
      child.stdin.end();
      await closed;
      await server[Symbol.asyncDispose]();
      await issuing[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));
let installed: InstalledPackages;
let stage: AgentsStage;
let opened: AgentsStage | null = null;
beforeAll(async () => {
  installed = await installPackages({ name: "webagents", requirements, least: [3, 11] });
  if (installed.python !== null) stage = opened = await openAgentsStage(installed.python);
}, 11 * 60_000);
afterAll(async () => await opened?.[Symbol.asyncDispose]());
beforeEach((context) => {
  if (installed.missing !== null) skipWithReason(context, installed.missing);
});

/** The tool `memory` of an agent's skill, as its model calls it. */
const memory = (agent: string, args: object, changed: object = {}): Promise<unknown> => {
  const settings = { api_key: stage.keys[agent], agent_id: agent, ...changed };
  return stage.ask({ client: "memory", settings, call: "memory", args });
};
const own = (action: string, args: object = {}): Promise<unknown> => memory(weather, { action, ...args });
/** The other agent, with the first one's store. */
const theirs = (action: string, args: object = {}): Promise<unknown> =>
  memory(planner, { action, store: weather, ...args });

test("the tool memory sets, gets, lists, searches and deletes", async () => {
  for (const value of ["Answer in Japanese.", { a: [1, null, "ü"] }, false, ""]) {
    expect(await own("set", { key: "dir/any value", value })).toBe("OK");
    expect(await own("get", { key: "dir/any value" })).toMatchObject({ value, storeId: weather, owner: weather });
  }
  expect(await own("set", { key: "notes.md", value: "Answer in Japanese.", ttl: 3_600 })).toBe("OK");
  expect(await own("get", { key: "notes.md" })).toMatchObject({ expires: expect.stringMatching(/Z$/) as unknown });
  expect(await own("get", { key: "nothing" })).toBeNull();
  expect(await own("list")).toMatchObject({ entries: [{ key: "dir/any value" }, { key: "notes.md", bytes: 19 }] });
  expect(await own("list", { prefix: "dir/an" })).toMatchObject({ entries: [{ key: "dir/any value" }] });
  const found = { key: "notes.md", storeId: weather, value: "Answer in Japanese.", snippet: "Answer in Japanese." };
  expect(await own("search", { query: "japanese?" })).toMatchObject({ entries: [found] });
  expect(await own("delete", { key: "dir/any value" })).toBe("OK");
  expect(await own("delete", { key: "dir/any value" })).toEqual({ error: "delete failed: 404" });
});

test("the tool memory shares with another agent, which has nothing before and after", async () => {
  const denied = { error: "Access denied" };
  await own("set", { key: "tea", value: "green tea" });
  const get = { key: "tea" };
  expect([await theirs("get", get), await theirs("search", { query: "green" })]).toEqual([
    denied,
    { error: "search failed: 403" },
  ]);
  expect(await own("share", { agent: planner })).toBe("OK");
  expect(await theirs("get", get)).toMatchObject({ value: "green tea", owner: weather });
  expect(await theirs("set", { key: "x", value: 1 })).toEqual(denied);
  expect(await own("share", { agent: planner, level: "readwrite" })).toBe("OK");
  expect(await theirs("set", { key: "x", value: 1 })).toBe("OK");
  const [level, storeId] = ["readwrite", weather];
  expect(await theirs("stores")).toMatchObject({ stores: [{ storeId: planner }, { storeId, level, source: "grant" }] });
  // Only the owner shares.
  expect(await theirs("share", { agent: "carol" })).toEqual({ error: "share failed: 403" });
  expect(await own("unshare", { agent: planner })).toBe("OK");
  expect(await own("unshare", { agent: planner })).toEqual({ error: "unshare failed: 404" });
  expect(await theirs("get", get)).toEqual(denied);
});

const programOf = (agent: string, call: string, args: object): Promise<unknown> =>
  stage.ask({ client: "memory", settings: { api_key: stage.keys[agent], agent_id: agent }, call, args });

test("what a program sets out of sight of models, only programs of the agent get", async () => {
  const secret = { store: weather, key: "weather-api" };
  const set = { ...secret, value: { key: "k-123" }, encrypted: true, ttl: 3_600 };
  expect(await programOf(weather, "set_internal", set)).toBe(true);
  expect(await programOf(weather, "get_internal", secret)).toMatchObject({ storeId: weather, value: { key: "k-123" } });
  expect(await programOf(planner, "get_internal", secret)).toBeNull();
  expect(await own("get", { key: "weather-api" })).toBeNull();
  expect(await own("search", { query: "k-123 weather-api" })).toEqual({ entries: [] });
});

test("a wrong key, another agent's id, and what the client says of a chat open nothing", async () => {
  const stores = { action: "stores" };
  for (const api_key of ["x".repeat(32), null]) {
    expect(await memory(weather, stores, { api_key })).toEqual({ error: "stores failed: 401" });
  }
  expect(await memory(weather, stores, { agent_id: planner })).toEqual({ error: "stores failed: 403" });
  const hints = { chat_id: planner, user_id: planner };
  expect(await memory(weather, { action: "get", key: "k", store: planner }, hints)).toEqual({ error: "Access denied" });
});

test("defects of the client: it cannot be loaded, and does not encode keys, which can climb out of the route", async () => {
  const raised = "RuntimeError: Cannot register tool: skill not initialized";
  expect(await stage.ask({ client: "memory_as_released", call: "initialize" })).toEqual({ raised });
  expect(await own("set", { key: "a/b#c", value: "of a/b#c" })).toBe("OK");
  expect(await own("get", { key: "a/b" })).toMatchObject({ key: "a/b", value: "of a/b#c" });
  for (const key of ["a/b?c", "50%", "..", "../memory-scoped", "../../../healthz", "a/../../../../mcp"]) {
    const error = expect.stringMatching(/^set failed: 40/) as unknown;
    expect(await own("set", { key, value: 1 })).toMatchObject({ error });
  }
});

const at = (hour: number) => `2026-01-01T${hour}:00:00.000Z`;
const answered = (status: number) => ({
  raised: expect.stringMatching(`^MemoryPortalError: memory: the platform answered ${status} `) as unknown,
});

test("PortalMemoryStore puts, gets, lists, searches, forgets, pushes and pulls", async () => {
  const token = await stage.tokenOf(weather);
  const ask = (call: string, args: object, changed: object = {}): Promise<unknown> =>
    stage.ask({ client: "scoped", settings: { token, agent_id: weather, ...changed }, call, args });
  const alice = { namespace: "caller:user:alice", key: "prefs" };
  const put = await ask("put", { ...alice, content: "Likes green tea.", description: "what alice  likes" });
  expect(put).toMatchObject({ ...alice, content: "Likes green tea.", source: "tool" });
  expect(await ask("get", alice)).toEqual(put);
  expect(await ask("get", { ...alice, namespace: "caller:user:bob" })).toBeNull();
  await ask("put", { namespace: "owner", key: "plan", content: "Buy tea in October", source: "compaction" });
  expect(await ask("list", { namespaces: null })).toMatchObject([{ key: "plan" }, { key: "prefs" }]);
  expect(await ask("list", { namespaces: null, exclude_sources: ["compaction"] })).toEqual([put]);
  expect(await ask("search", { query: "teas?", namespaces: [alice.namespace] })).toEqual([put]);
  expect([await ask("forget", alice), await ask("forget", alice)]).toEqual([true, false]);

  const namespace = "shared";
  const line = { seq: 1, id: "x", op: "put", namespace, key: "faq", source: "sync", content: "later" };
  expect(await ask("push", { namespace, lines: [{ ...line, at: at(11) }] })).toBe(1);
  expect(await ask("push", { namespace, lines: [{ ...line, at: at(10) }] })).toBe(0);
  const [lines, cursor, more] = (await ask("pull", { namespace, since: null })) as [object[], string, boolean];
  expect([lines, more]).toMatchObject([[{ op: "put", key: "faq", content: "later", at: at(11) }], false]);
  expect(await ask("push", { namespace, lines: [{ ...line, op: "delete", content: "", at: at(12) }] })).toBe(1);
  const [afterwards] = (await ask("pull", { namespace, since: cursor })) as [object[]];
  expect(afterwards).toMatchObject([{ op: "delete", key: "faq" }]);

  const unfit = { namespace: "caller:https://evil.example/x,owner", key: "k", content: "" };
  expect(await ask("put", unfit)).toEqual(answered(400));
  const get = { namespace: "owner", key: "plan" };
  expect(await ask("get", get, { token: "x.y.z" })).toEqual(answered(401));
  expect(await ask("get", get, { agent_id: planner })).toEqual(answered(403));
  // Each agent has its own owner.
  expect(await ask("get", get, { token: await stage.tokenOf(planner), agent_id: planner })).toBeNull();
});

const owner = { authenticated: true, provider: "platform", scope: "owner", user_id: "u-1" };
const caller = (user: string): object => ({ ...owner, scope: "user", user_id: user });

/** The skill with the five tools, on a machine of its own, with its notes in memcell. */
async function machine(name: string, tiers: object) {
  const api_key = await stage.tokenOf(planner);
  const settings = { ...tiers, agent_path: join(stage.folder, name), agent_id: planner, api_key };
  return (call: string, args: object = {}, by = owner as AskedClient["caller"]): Promise<unknown> =>
    stage.ask({ client: "notes", settings, call, args, ...(by && { caller: by }) });
}

test("with the skill of five tools, each caller finds its own notes and the shared ones", async () => {
  const ask = await machine("portal", { local: false, portal: true });
  const [alice, bob] = [caller("alice"), caller("bob")];
  await ask("memory_write", { key: "prefs", content: "tea" }, alice);
  // A caller cannot name another's namespace.
  const forged = { key: "prefs", content: "coffee", namespace: "caller:user:alice" };
  expect(await ask("memory_write", forged, bob)).toMatchObject({ ok: true, namespace: "caller:user:bob" });
  const shared = { key: "hours", content: "Open from nine", description: "opening hours", namespace: "shared" };
  expect(await ask("memory_write", shared)).toMatchObject({ ok: true, namespace: "shared" });
  expect(await ask("memory_read", { key: "prefs" }, alice)).toMatchObject({ content: "tea" });
  expect(await ask("memory_search", { query: "tea" }, bob)).toEqual({ entries: [] });
  const ofBob = [
    { key: "hours", description: "opening hours" },
    { key: "prefs", namespace: "caller:user:bob" },
  ];
  expect(await ask("memory_list", {}, bob)).toMatchObject({ entries: ofBob });
  expect(await ask("memory_list")).toMatchObject({ entries: { length: 3 } });
  expect(await ask("frozen_notes")).toContain("opening hours");
  expect(await ask("memory_forget", { key: "prefs" }, bob)).toEqual({ ok: true, forgotten: 1 });
});

test("with the skill of five tools, two machines of one agent exchange their notes", async () => {
  const tiers = { local: true, portal: true, plain_index: true };
  const [first, second] = [await machine("first", tiers), await machine("second", tiers)];
  const pull = (on: typeof first): Promise<unknown> => on("pull", { namespaces: ["owner"] });
  await first("memory_write", { key: "plan", content: "October", description: "the plan" });
  await first("memory_write", { key: "idea", content: "a garden" });
  expect(await pull(second)).toBe(2);
  expect(await second("memory_read", { key: "plan" })).toMatchObject({ content: "October", description: "the plan" });
  await second("memory_write", { key: "plan", content: "November" });
  await second("memory_forget", { key: "idea" });
  await pull(first);
  expect(await first("memory_read", { key: "plan" })).toMatchObject({ content: "November" });
  expect(await first("memory_read", { key: "idea" })).toEqual({ error: "memory: no note called idea." });
  // What was pulled is not new to anybody.
  expect([await pull(first), await pull(second)]).toEqual([0, 0]);
});
