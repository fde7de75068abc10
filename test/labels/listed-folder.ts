/** A data folder with entries of several trusts, and a policy that keeps one of them out of prompts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { OriginClass } from "memcell";
import { expect } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { from, policyWithPrompt } from "./label-stage.ts";

export interface ListedFolder extends Disposable {
  readonly path: string;
  readonly policyFile: string;
}

export async function openListedFolder(): Promise<ListedFolder> {
  const folder = temporaryFolder();
  const [path, policyFile] = [join(folder.path, "data"), join(folder.path, "policy.json")];
  const policy = policyWithPrompt("tool_internal");
  writeFileSync(policyFile, JSON.stringify(policy));
  await using runtime = await createRuntime({ dataDir: path, plugins: shippedNames(), policy, threadsMax: 1 });
  const remember = async (name: string, of: OriginClass, description = `about ${name}`): Promise<void> => {
    const entry = { action: "upsert", name, type: "project", description, body: `about ${name}` } as const;
    expect(await runtime.call("UpdateUserMemory", entry, from(of))).toMatchObject({ ok: true });
  };
  await remember("editor", "direct_user");
  await remember("guess", "model_inference", "about guess Origin: x");
  await remember("menu", "tool_external");
  for (const [name, of] of [
    ["page.md", "tool_external"],
    ["own.md", "direct_user"],
  ] as const) {
    const entry = { command: "create", path: `/memories/${name}`, content: "x" } as const;
    expect(await runtime.call("memory", entry, from(of))).toMatchObject({ ok: true });
  }
  return { path, policyFile, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}
