/** A server with storage routes, and requests to them as their clients send them. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";

import type { StorageOptions } from "../../../host/serve/serve-options.ts";
import type { Asked } from "../http-requests.ts";
import { openHttpStage } from "../http-stage.ts";
import type { HttpStage, HttpStageOptions } from "../http-stage.ts";

/** An agent whose id is that of its own store, and one whose id is none. */
export const weather = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f";
export const planner = "planner";
export const plannerStore: string = storeIdOf(planner);

export interface Replied {
  readonly status: number;
  readonly body: unknown;
}

export interface StorageStage extends HttpStage {
  /** Sends a request of a user: a path below `/api/storage/`, and a body as JSON. Clients always name its type. */
  as(userId: string): StorageClient;
  /** An agent that no other test uses. */
  another(): { readonly agent: string; readonly client: StorageClient };
}

export type StorageClient = (method: string, path: string, body?: unknown, asked?: Asked) => Promise<Replied>;

export const entriesPath = "memory";
export const notesPath = "memory-scoped";

export async function openStorageStage(
  storage: Partial<StorageOptions> = {},
  options: HttpStageOptions = {},
): Promise<StorageStage> {
  const runtime = { memory: { sharingByModels: true }, ...options.runtime };
  const all = { agentKeys: null, internalValues: false, ...storage };
  const stage = await openHttpStage({ ...options, storage: all, runtime });
  const as = (userId: string): StorageClient => {
    const token = stage.issuer.token(userId);
    return async (method, path, body, asked = {}) => {
      const headers = { authorization: `Bearer ${await token}`, "content-type": "application/json", ...asked.headers };
      const text = body === undefined ? undefined : JSON.stringify(body);
      const sent = {
        method,
        path: `/api/storage/${path}`,
        ...(text !== undefined && { body: text }),
        ...asked,
        headers,
      };
      const answer = await stage.ask(sent);
      return { status: answer.status, body: JSON.parse(answer.body) as unknown };
    };
  };
  let agents = 0;
  const another = (): ReturnType<StorageStage["another"]> => {
    const agent = `agent-${++agents}`;
    return { agent, client: as(agent) };
  };
  return Object.assign(stage, { as, another });
}

/** Writes a file with the hashes of keys, and returns its name. */
export function writeAgentKeys(folder: string, keys: Readonly<Record<string, string>>): string {
  const file = join(folder, "agent-keys.json");
  const hashes = Object.entries(keys).map(([userId, key]) => [createHash("sha256").update(key).digest("hex"), userId]);
  writeFileSync(file, JSON.stringify(Object.fromEntries(hashes)));
  return file;
}

/** The answer's status and body, and why it was refused. */
export async function refusedOf(of: StorageStage, asked: Asked): Promise<unknown> {
  const before = of.refusals.length;
  const { status, body } = await of.ask(asked);
  return { status, body, refusals: of.refusals.slice(before).map(({ reason, userId }) => [reason, userId ?? null]) };
}

/** What `refusedOf` returns for a refusal with a known text. */
export const refused = (status: number, error: string, reason: string, userId: string | null = null) => ({
  status,
  body: JSON.stringify({ error }),
  refusals: [[reason, userId]],
});
