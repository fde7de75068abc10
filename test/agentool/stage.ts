/** memcell and agentool on the same users' journals. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";

import { LineHost } from "../polyglot/line-host.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";

export type Tool = "memory_write" | "memory_update" | "memory_read" | "memory_search";

/** A side's answer without its message: agentool's success envelope, or a code. */
export type Answer = { readonly success: true; readonly data: Readonly<Record<string, unknown>> } | { code: string };

export type Ask = (tool: Tool, params: object) => Promise<Answer>;

/** A block in the tools' answers. */
export interface Shown {
  readonly key: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly file: string;
  readonly kind: string;
}

export interface Stage extends AsyncDisposable {
  /** The time of memcell's clock; `null`: the machine's. agentool always uses the machine's. */
  readonly clock: { epochMs: number | null };
  /** The folder of a user's journal. */
  journal(user: string): string;
  /** agentool's tools on a user's journal. */
  agentool(user: string): Ask;
  /** memcell's tools on a user's journal. */
  memcell(user: string): Ask;
  /** A user that no other test has used. */
  newUser(): string;
}

export async function openStage(program: string): Promise<Stage> {
  const folder = temporaryFolder();
  const clock: Stage["clock"] = { epochMs: null };
  const plugins = [shippedPlugin("journal")];
  const options = { dataDir: folder.path, plugins, policy: policyFor(plugins), threadsMax: 1 };
  const runtime = await createRuntime({ ...options, clock: () => clock.epochMs ?? Date.now() });
  const peers = new Map<string, LineHost>();
  let users = 0;
  return {
    clock,
    journal: (user) => join(userFolder(folder.path, user), "journal"),
    agentool(user) {
      const workspace = userFolder(folder.path, user);
      // The crate needs an existing workspace.
      mkdirSync(workspace, { recursive: true });
      const peer = peers.get(user) ?? new LineHost({ command: program, args: [workspace, "journal"] });
      peers.set(user, peer);
      return async (tool, params) => withoutWords((await peer.ask({ tool, params })) as Answer);
    },
    memcell: (user) => async (tool, params) => {
      const result = await runtime.call(tool, params, { userId: user });
      return result.ok ? (result.data as Answer) : { code: result.error.code };
    },
    newUser: () => `user-${++users}`,
    async [Symbol.asyncDispose]() {
      await Promise.all([...peers.values()].map((peer) => peer.end()));
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

function withoutWords(answer: Answer): Answer {
  return "code" in answer ? { code: answer.code } : answer;
}

/** All blocks that a side finds in a journal of at most 100 blocks, in its order. */
export async function shownBlocks(ask: Ask): Promise<readonly Shown[]> {
  return dataOf(await ask("memory_search", { query: "", limit: 100 }))["results"] as Shown[];
}

/** Returns the data of a successful answer; throws on a failure. */
export function dataOf(answer: Answer): Readonly<Record<string, unknown>> {
  if ("code" in answer) throw new Error(`The call failed: ${answer.code}`);
  return answer.data;
}
