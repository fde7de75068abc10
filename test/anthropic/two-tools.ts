/** The same SDK tool twice: over memcell, and over the SDK's own local implementation. Each on a fresh folder. */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { createRuntime } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";
import { memoryTool } from "memcell/anthropic";

import { temporaryFolder } from "../support/temporary-folder.ts";

/** What a model sends. Not the SDK's type, because models also send what does not fit it. */
export type Command = Readonly<Record<string, unknown>> & { readonly command: string };

export interface ToolInTest {
  /** The text of the result, or `✗ ` and the message of what was thrown. */
  run(command: Command): Promise<string>;
  /** Paths below `/memories`, with their texts. */
  files(): Promise<Record<string, string>>;
}

type SdkTool = ReturnType<typeof betaMemoryTool>;

async function answerOf(tool: SdkTool, command: Command): Promise<string> {
  try {
    const answer = await tool.run(command as unknown as Parameters<SdkTool["run"]>[0]);
    return typeof answer === "string" ? answer : JSON.stringify(answer);
  } catch (error) {
    return `✗ ${(error as Error).message}`;
  }
}

/** Any number of users, each with a memory of its own. */
export class MemcellInTest implements AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly #folder: Disposable;

  private constructor(runtime: Runtime, dataDir: string, folder: Disposable) {
    this.runtime = runtime;
    this.dataDir = dataDir;
    this.#folder = folder;
  }

  static async open(options: Partial<RuntimeOptions> = {}): Promise<MemcellInTest> {
    const folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    const runtime = await createRuntime({ dataDir, plugins: ["stores"], threadsMax: 1, ...options });
    return new MemcellInTest(runtime, dataDir, folder);
  }

  of(userId: string): ToolInTest {
    const tool = betaMemoryTool(memoryTool(this.runtime, { userId }));
    return { run: (command) => answerOf(tool, command), files: () => filesOf(this.runtime, userId) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.close();
    this.#folder[Symbol.dispose]();
  }
}

interface Viewed {
  readonly entries: readonly { readonly path: string; readonly value?: string }[];
}

/** By the tool `memory`, so that the two tools are seen to have the same files. */
async function filesOf(runtime: Runtime, userId: string): Promise<Record<string, string>> {
  const view = async (path: string): Promise<Viewed> => {
    const result = await runtime.call("memory", { command: "view", path }, { userId });
    if (!result.ok) throw new Error(result.error.message);
    return result.data as Viewed;
  };
  const { entries } = await view("/memories/");
  const texts = await Promise.all(entries.map(async ({ path }) => (await view(path)).entries[0]?.value ?? ""));
  return Object.fromEntries(entries.map(({ path }, at) => [path.replace("/memories/", ""), texts[at] ?? ""]));
}

/** The SDK's local implementation. It writes to `<folder>/memories`. */
export async function localTool(folder: string): Promise<ToolInTest> {
  const tool = betaMemoryTool(await BetaLocalFilesystemMemoryTool.init(folder));
  const root = join(folder, "memories");
  return {
    run: async (command) => (await answerOf(tool, command)).replaceAll(folder, "FOLDER"),
    files: async () => {
      const names = existsSync(root) ? readdirSync(root, { recursive: true, encoding: "utf8" }) : [];
      const paths = names.filter((name) => statSync(join(root, name)).isFile()).toSorted();
      return Object.fromEntries(paths.map((name) => [name, readFileSync(join(root, name), "utf8")]));
    },
  };
}
