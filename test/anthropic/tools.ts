/** The same SDK tool twice: over memcell, and over the SDK's own local implementation. What they are asked and answer. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import type { Runtime, RuntimeOptions } from "memcell";
import { memoryTool } from "memcell/anthropic";
import { afterAll, beforeAll } from "vitest";

import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";

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

/** A user of memcell, with a memory of its own. */
export interface MemcellTool extends ToolInTest {
  readonly runtime: Runtime;
  readonly userId: string;
  /** What programs can do with the user's stores. */
  readonly stores: ReturnType<Runtime["stores"]>;
  /** The id of the user's own store. */
  storeId(): Promise<string>;
  /** The folder of the user's entries. */
  folder(): Promise<string>;
  /** Puts files there as a person does. */
  put(files: Readonly<Record<string, string>>): Promise<void>;
  /** Calls the tool `memory`. */
  remember(input: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** One runtime for all tests of a file, and a user for each. */
export function useMemcell(options: Partial<RuntimeOptions> = {}): () => MemcellTool {
  let stage: RuntimeStage;
  beforeAll(async () => {
    stage = await openStage({ plugins: ["stores"], ...options });
  });
  afterAll(() => stage[Symbol.asyncDispose]());
  return () => toolOf(stage, stage.user());
}

interface Viewed {
  readonly entries: readonly { readonly path: string; readonly value?: string }[];
}

function toolOf({ runtime, dataDir }: RuntimeStage, userId: string): MemcellTool {
  const tool = betaMemoryTool(memoryTool(runtime, { userId }));
  const stores = runtime.stores({ userId });
  const storeId = async (): Promise<string> => (await stores.list())[0]?.id ?? "";
  const folder = async (): Promise<string> => join(dataDir, "stores", await storeId(), "entries");
  const remember = async (input: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const result = await runtime.call("memory", input, { userId });
    if (!result.ok) throw new Error(result.error.message);
    return result.data;
  };
  const viewed = async (path: string): Promise<Viewed> => (await remember({ command: "view", path })) as Viewed;
  return {
    runtime,
    userId,
    stores,
    storeId,
    folder,
    remember,
    run: (command) => answerOf(tool, command),
    // By the tool `memory`, so that the two tools are seen to have the same files.
    files: async () => {
      const { entries } = await viewed("/memories/");
      const texts = await Promise.all(entries.map(async ({ path }) => (await viewed(path)).entries[0]?.value ?? ""));
      return Object.fromEntries(entries.map(({ path }, at) => [path.replace("/memories/", ""), texts[at] ?? ""]));
    },
    put: async (files) => {
      const place = await folder();
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(place, path)), { recursive: true });
        writeFileSync(join(place, path), text);
      }
    },
  };
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

export const view = (path: string, ...range: readonly number[]): Command => ({
  command: "view",
  path,
  ...(range.length > 0 && { view_range: range }),
});

export const create = (path: string, text: string): Command => ({ command: "create", path, file_text: text });

export const replace = (path: string, old: string, replacement?: string): Command => ({
  command: "str_replace",
  path,
  old_str: old,
  ...(replacement !== undefined && { new_str: replacement }),
});

export const insert = (path: string, line: number, text: string): Command => ({
  command: "insert",
  path,
  insert_line: line,
  insert_text: text,
});

export const remove = (path: string): Command => ({ command: "delete", path });

export const rename = (from: string, to: string): Command => ({ command: "rename", old_path: from, new_path: to });

/** A file as `view` shows it. */
export const shown = (path: string, ...lines: readonly string[]): string =>
  [`Here's the content of ${path} with line numbers:`, ...lines].join("\n") + (lines.length === 0 ? "\n" : "");

/** A listing as `view` shows it. The first line is the directory itself. */
export const listed = (path: string, ...lines: readonly string[]): string =>
  [
    `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`,
    ...lines,
  ].join("\n");

export const missing = (path: string): string => `✗ The path ${path} does not exist. Please provide a valid path.`;
