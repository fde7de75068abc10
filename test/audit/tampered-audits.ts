/** What the command says about a tampered plugin, and what a runtime does with it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Runtime } from "memcell";
import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { runAudit, unwrapped } from "./run-audit.ts";
import type { TamperedFile } from "./tampered-files.ts";

export const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** Declares a test for each file. */
export function testTampered(files: readonly TamperedFile[]): void {
  test.for(files)("reports $name, and no runtime runs it", async ({ bytes, told }, { task }) => {
    const file = join(folder.path, `${task.id}.wasm`);
    writeFileSync(file, bytes);
    const { status, stdout, stderr } = runAudit([file]);
    expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
    for (const sentence of told) expect(unwrapped(stdout)).toContain(sentence);
    expect(stdout).toMatch(/\nFAIL {2}\d+ deviations?\n$/);
    expect(stdout).not.toContain(folder.path);
    const loaded = await createRuntime({ dataDir: folder.path, plugins: [file] }).catch((thrown: unknown) => thrown);
    if (loaded instanceof ToolError) return;
    // The policy grants a plugin of another name nothing.
    await using runtime = loaded as Runtime;
    expect({ tools: runtime.tools(), families: runtime.families() }).toEqual({ tools: [], families: [] });
  });
}
