/** `memcell serve --http` as a process with the storage routes, two agents with keys and tokens, and their real clients. */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach } from "vitest";

import type { InstalledPackages } from "../../support/python-packages.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ServedProcess } from "../attacks/served-process.ts";
import { audience, issuer, TokenIssuer } from "../token-issuer.ts";
import { ClientProcess } from "./client-process.ts";
import type { AskedClient, Reply } from "./client-process.ts";
import { installClients } from "./installed-clients.ts";

/** The id of an agent of the platform, which is also that of its own store. */
export const weather = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f";
export const planner = "1b0f6f0a-2a52-4c4e-8d0e-5a3c9d1e7f42";
export type AgentId = typeof weather | typeof planner;

export interface AgentsStage extends AsyncDisposable {
  readonly dataDir: string;
  /** A folder that does not yet exist. */
  newFolder(name: string): string;
  tokenOf(agent: AgentId): Promise<string>;
  /** Calls the tool `memory` of an agent's skill, as its model would. */
  memory(agent: AgentId, args: object, settings?: object): Promise<unknown>;
  ask(asked: AskedClient): Promise<Reply>;
  /** As `ask`. Fails the test if the client raises. */
  result(asked: AskedClient): Promise<unknown>;
  /** The settings of an agent's skill with the tool `memory`. */
  settingsOf(agent: AgentId): { readonly api_key: string; readonly agent_id: string };
}

/**
 * Installs the clients and opens a stage before the tests of a file. They are skipped, with the reason, if the clients
 * cannot be installed.
 */
export function withAgentsStage(use: (stage: AgentsStage) => Promise<void> | void, args: readonly string[]): void {
  let installed: InstalledPackages;
  let stage: AgentsStage | null = null;
  beforeAll(async () => {
    installed = await installClients();
    if (installed.python === null) return;
    stage = await openAgentsStage(installed.python, args);
    await use(stage);
  }, 11 * 60_000);
  afterAll(async () => await stage?.[Symbol.asyncDispose]());
  beforeEach((context) => {
    if (installed.missing !== null) skipWithReason(context, installed.missing);
  });
}

async function openAgentsStage(python: string, args: readonly string[]): Promise<AgentsStage> {
  const folder = temporaryFolder();
  const [dataDir, logFile] = [join(folder.path, "data"), join(folder.path, "log", "audit.jsonl")];
  const keys = new Map<string, string>(
    [weather, planner].map((agent) => [agent, randomBytes(24).toString("base64url")]),
  );
  const keyFile = join(folder.path, "agent-keys.json");
  const hashes = Array.from(keys, ([agent, key]) => [createHash("sha256").update(key).digest("hex"), agent]);
  writeFileSync(keyFile, JSON.stringify(Object.fromEntries(hashes)));
  const issuing = await TokenIssuer.start();
  const access = ["--issuer", issuer, "--audience", audience, "--jwks", issuing.jwksUrl];
  const storage = ["--storage", "--agent-keys", keyFile];
  const server = await ServedProcess.start([...access, ...storage, ...args], { dataDir, logFile });
  const home = join(folder.path, "home");
  mkdirSync(home);
  const clients = new ClientProcess(python, `http://127.0.0.1:${server.port}`, home);
  const settingsOf = (agent: AgentId) => ({ api_key: keys.get(agent) ?? "", agent_id: agent });
  const result = async (asked: AskedClient): Promise<unknown> => {
    const reply = await clients.ask(asked);
    if ("raised" in reply) throw new Error(`${asked.call} raised ${reply.raised}`);
    return reply.result;
  };
  return {
    dataDir,
    newFolder: (name) => join(folder.path, name),
    tokenOf: (agent) => issuing.token(agent),
    memory: (agent, given, settings) =>
      result({ client: "memory", settings: { ...settingsOf(agent), ...settings }, call: "memory", args: given }),
    ask: (asked) => clients.ask(asked),
    result,
    settingsOf,
    [Symbol.asyncDispose]: async () => {
      await clients[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await issuing[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
