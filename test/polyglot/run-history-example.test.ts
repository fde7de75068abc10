/** The programs in the README of the Go package `runhistory` run as written, the second with a stand-in for goa-ai. */
import { execFile } from "node:child_process";
import { appendFileSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, inject, test } from "vitest";

import { foundFiles } from "../conformance/vector-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { hostSources } from "./host-sources.ts";
import { programOf } from "./program-of.ts";

const timeout = 5 * 60_000;
const sources = hostSources("go");
const standIn = fileURLToPath(new URL("./goa-ai/", import.meta.url));
const readme = readFileSync(join(sources, "runhistory/README.md"), "utf8");
const [program = "", converter = ""] = Array.from(readme.matchAll(/\n```go\n([\s\S]*?)\n```/g), ([, text]) => text);

const host = inject("hosts").find(({ language }) => language === "Go");
if (!host) throw new Error("There is no Go host");

/** Follows the README's first two steps. */
function copyAsTold(folder: string): void {
  for (const name of ["go.mod", "go.sum", "host.go"]) copyFileSync(join(sources, name), join(folder, name));
  cpSync(join(sources, "runhistory"), join(folder, "runhistory"), { recursive: true });
  copyFileSync(shippedPlugin("run-history"), join(folder, "run-history.wasm"));
  writeFileSync(join(folder, "main.go"), program);
}

/** With the flags of the tests' host, so that packages are not compiled again. */
async function go(folder: string, command: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await promisify(execFile)("go", [command, "-trimpath", "-buildvcs=false", "."], {
    cwd: folder,
    signal,
  });
  return stdout;
}

test("the program stores an event and reads it", { timeout }, async (context) => {
  programOf(host, context);
  using folder = temporaryFolder();
  copyAsTold(folder.path);
  expect(await go(folder.path, "run", context.signal)).toBe("Why is the sky blue?\n");
  const files = foundFiles(join(folder.path, "data"))["alice"] ?? {};
  expect(Object.keys(files).toSorted()).toEqual(["runs/assistant/run-1/000001.jsonl", "runs/assistant/run-1/run.json"]);
});

test("the converter implements goa-ai's interface and keeps its events", { timeout }, async (context) => {
  programOf(host, context);
  using folder = temporaryFolder();
  copyAsTold(folder.path);
  writeFileSync(join(folder.path, "goa_store.go"), converter);
  copyFileSync(join(standIn, "converter_test.go"), join(folder.path, "converter_test.go"));
  const memory = join(folder.path, "goa-ai/runtime/agent/memory");
  mkdirSync(memory, { recursive: true });
  copyFileSync(join(standIn, "go.mod"), join(folder.path, "goa-ai/go.mod"));
  copyFileSync(join(standIn, "memory.go"), join(memory, "memory.go"));
  const required = "require goa.design/goa-ai v1.0.3\nreplace goa.design/goa-ai => ./goa-ai\n";
  appendFileSync(join(folder.path, "go.mod"), required);
  expect(await go(folder.path, "test", context.signal)).toMatch(/^ok\s+memcell-host\s/m);
});
