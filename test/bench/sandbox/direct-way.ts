/**
 * The tools' code directly in Node: the same sources, bundled for Node, with the globals that the guest's prelude
 * creates, bound to the same capabilities.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import type { Capabilities, ToolWay } from "./guest.ts";

const projectFolder = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));

export async function directWay(scratch: string): Promise<ToolWay> {
  const call = { input: "", output: "", capabilities: {} as Partial<Capabilities> };
  const blocks = new Blocks();
  Object.assign(globalThis, {
    Host: {
      inputString: () => call.input,
      outputString: (text: string) => {
        call.output = text;
      },
      getFunctions: () => blocks.wrapped(call.capabilities),
    },
    Memory: {
      fromString: (text: string) => blocks.handle(blocks.put(text)),
      find: (offset: bigint) => blocks.handle(offset),
    },
  });
  const tools = await loadTools(scratch);
  return {
    key: "direct",
    name: "directly in Node",
    run: async ({ exportName, input, environment }) => {
      Object.assign(call, { input, output: "", capabilities: environment.capabilities });
      if (tools[exportName]?.() !== 0) throw new Error(`${exportName} failed`);
      JSON.parse(call.output);
    },
  };
}

/** Texts by number, instead of the blocks that guest and host exchange. */
class Blocks {
  readonly #texts = new Map<bigint, string>();
  #last = 0n;

  put(text: string): bigint {
    this.#texts.set(++this.#last, text);
    return this.#last;
  }

  handle(offset: bigint): { offset: bigint; readString(): string; free(): void } {
    return {
      offset,
      readString: () => this.#texts.get(offset) ?? "",
      free: () => void this.#texts.delete(offset),
    };
  }

  wrapped(capabilities: Partial<Capabilities>): Record<string, (request: bigint) => bigint> {
    const functions = Object.entries(capabilities).map(([name, capability]) => [
      name,
      (request: bigint) => this.put(capability(this.#texts.get(request) ?? "")),
    ]);
    return Object.fromEntries(functions) as Record<string, (request: bigint) => bigint>;
  }
}

async function loadTools(scratch: string): Promise<Record<string, () => number>> {
  const outfile = join(scratch, "user-memory.cjs");
  await build({
    absWorkingDir: projectFolder,
    entryPoints: [join(projectFolder, "plugin", "user-memory", "index.ts")],
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "es2023",
    // gray-matter contains an eval that nothing calls.
    logOverride: { "direct-eval": "silent" },
    logLevel: "warning",
    outfile,
  });
  return createRequire(import.meta.url)(outfile) as Record<string, () => number>;
}
