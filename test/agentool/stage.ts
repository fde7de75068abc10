/** memcell and agentool on the same users' journals. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { createRuntime } from "memcell";
import { afterAll, beforeAll } from "vitest";
import type { TestContext } from "vitest";

import { cargoBuild, missingCargo } from "../polyglot/cargo-build.ts";
import { LineHost } from "../polyglot/line-host.ts";
import { policyFor } from "../support/policy-for.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
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

/** Both tools on one journal. */
export interface Both {
  readonly agentool: Ask;
  readonly memcell: Ask;
  readonly journal: string;
}

export interface Stage extends AsyncDisposable {
  /** The time of memcell's clock; `null`: the machine's. agentool always uses the machine's. */
  readonly clock: { epochMs: number | null };
  /** agentool's program. */
  readonly program: string;
  /** The journal of a user that no other test has, with these files. */
  fresh(files?: Readonly<Record<string, string | Uint8Array>>): Both;
  /** An unchanged workspace of agentool, whose memory folder is mounted as a user's journal. */
  readonly workspace: Both;
}

/** A first build downloads and compiles 30 small crates, which takes seconds on a free machine. */
const buildTimeoutMs = 10 * 60_000;
/** The sources in the package's folder: the build does not copy them to `dist`. */
const sources = join(dirname(createRequire(import.meta.url).resolve("memcell/package.json")), "test/agentool/peer");

/**
 * One stage for the tests of a file, which are skipped without cargo. Every file builds the peer: cargo runs one build at
 * a time and reuses compiled crates.
 */
export function useStage(): (context: TestContext) => Stage {
  let stage: Stage | null = null;
  let missing: string | null = null;
  beforeAll(async () => {
    missing = await missingCargo();
    if (missing !== null) return;
    const signal = AbortSignal.timeout(buildTimeoutMs);
    const { target } = await cargoBuild("agentool", { sources, options: [], signal });
    stage = await openStage(join(target, "debug", "agentool-peer"));
  }, buildTimeoutMs);
  afterAll(() => stage?.[Symbol.asyncDispose]());
  return (context) => stage ?? skipWithReason(context, `no agentool: ${missing}`);
}

async function openStage(program: string): Promise<Stage> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const clock: Stage["clock"] = { epochMs: null };
  const plugins = [shippedPlugin("journal")];
  const [workspace, memory] = [join(folder.path, "workspace"), ".agent/memory"];
  const runtime = await createRuntime({
    dataDir,
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
    mounts: [{ userId: "mounted", scope: "journal", dir: join(workspace, memory) }],
    clock: () => clock.epochMs ?? Date.now(),
  });
  const peers: LineHost[] = [];
  const both = (userId: string, place: string, name: string): Both => {
    // The crate needs an existing workspace.
    mkdirSync(place, { recursive: true });
    let peer: LineHost | null = null;
    return {
      journal: join(place, name),
      agentool: async (tool, params) => {
        if (peer === null) peers.push((peer = new LineHost({ command: program, args: [place, name] })));
        const answer = (await peer.ask({ tool, params })) as Answer;
        return "code" in answer ? { code: answer.code } : answer;
      },
      memcell: async (tool, params) => {
        const result = await runtime.call(tool, params, { userId });
        return result.ok ? (result.data as Answer) : { code: result.error.code };
      },
    };
  };
  let users = 0;
  return {
    clock,
    program,
    workspace: both("mounted", workspace, memory),
    fresh(files = {}) {
      const userId = `user-${++users}`;
      const made = both(userId, userFolder(dataDir, userId), "journal");
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(made.journal, path)), { recursive: true });
        writeFileSync(join(made.journal, path), content);
      }
      return made;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(peers.map((peer) => peer.end()));
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
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

/** The data of one block, as a side reads it. */
export const readBlock = async (ask: Ask, key = "k"): Promise<Readonly<Record<string, unknown>>> =>
  dataOf(await ask("memory_read", { key }));
