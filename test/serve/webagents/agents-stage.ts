/** `memcell serve --http` as a process with storage routes, and one process with the real clients of two agents. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { HttpProcess, tokenFlags } from "../../stage/http-process.ts";
import { writeAgentKeys } from "../../stage/http.ts";
import { TokenIssuer } from "../../stage/token-issuer.ts";
import { isolation } from "../../support/python-packages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { shippedFlags } from "../../support/test-plugin.ts";

/** The id of an agent of the platform, which is also that of its own store. */
export const weather = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f";
export const planner = "1b0f6f0a-2a52-4c4e-8d0e-5a3c9d1e7f42";

/** What `drive.py` is asked. */
export interface AskedClient {
  readonly client: "memory" | "memory_as_released" | "scoped" | "notes";
  /** What the client is made with. The same settings are the same client. */
  readonly settings?: object;
  /** One of its functions. */
  readonly call: string;
  readonly args?: object;
  /** Who talks to the agent, as its own checks have established. */
  readonly caller?: object;
}

export interface AgentsStage extends AsyncDisposable {
  readonly folder: string;
  /** The keys of both agents, by their ids. */
  readonly keys: Readonly<Record<string, string>>;
  tokenOf(agent: string): Promise<string>;
  /** What the function returned, or `{ raised }`. One thing is asked after the other. */
  ask(asked: AskedClient): Promise<unknown>;
}

const script = fileURLToPath(new URL("drive.py", import.meta.url));

export async function openAgentsStage(python: string): Promise<AgentsStage> {
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
    keys,
    tokenOf: (agent) => issuing.token(agent),
    ask: async (asked) => {
      child.stdin.write(`${JSON.stringify(asked)}\n`);
      const { done, value } = await replies.next();
      if (done === true) throw new Error("The process with the clients has ended");
      const reply = JSON.parse(value) as { readonly result?: unknown; readonly raised?: string };
      return reply.raised === undefined ? reply.result : reply;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(child, "close");
      child.stdin.end();
      await closed;
      await server[Symbol.asyncDispose]();
      await issuing[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
