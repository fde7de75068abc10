/** `memcell serve --http` as a process with the storage routes, two agents with keys and tokens, and their real clients. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, beforeEach } from "vitest";

import { HttpProcess, tokenFlags } from "../../stage/http-process.ts";
import { writeAgentKeys } from "../../stage/http.ts";
import { TokenIssuer } from "../../stage/token-issuer.ts";
import { installPackages } from "../../support/python-packages.ts";
import type { InstalledPackages } from "../../support/python-packages.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { shippedFlags } from "../../support/test-plugin.ts";
import { ClientProcess } from "./client-process.ts";
import type { AskedClient, Reply } from "./client-process.ts";

/** The id of an agent of the platform, which is also that of its own store. */
export const weather = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f";
export const planner = "1b0f6f0a-2a52-4c4e-8d0e-5a3c9d1e7f42";
export type AgentId = typeof weather | typeof planner;

/** The real Python clients, from PyPI. */
const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));

export interface AgentsStage extends AsyncDisposable {
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
    installed = await installPackages({ name: "webagents", requirements, least: [3, 11] });
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
  const keys = Object.fromEntries([weather, planner].map((agent) => [agent, randomBytes(24).toString("base64url")]));
  const issuing = await TokenIssuer.start();
  const storage = ["--storage", "--agent-keys", writeAgentKeys(folder.path, keys), "--data", join(folder.path, "data")];
  const server = new HttpProcess([...tokenFlags(issuing), ...storage, ...shippedFlags(), ...args]);
  const home = join(folder.path, "home");
  mkdirSync(home);
  const clients = new ClientProcess(python, `http://127.0.0.1:${await server.port()}`, home);
  const settingsOf = (agent: AgentId) => ({ api_key: keys[agent] ?? "", agent_id: agent });
  const result = async (asked: AskedClient): Promise<unknown> => {
    const reply = await clients.ask(asked);
    if ("raised" in reply) throw new Error(`${asked.call} raised ${reply.raised}`);
    return reply.result;
  };
  return {
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
