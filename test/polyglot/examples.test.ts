/** The program in each host's README, and those of the Go package `runhistory`, run as a reader would run them. */
import { execFile } from "node:child_process";
import { appendFileSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, inject, test } from "vitest";

import { foundFiles } from "../conformance/vector-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import type { HostProgram } from "./host-kind.ts";
import { hostSources } from "./host-sources.ts";
import { programOf } from "./program-of.ts";

const run = promisify(execFile);
/** Another program is compiled, but not its packages. */
const timeout = 5 * 60_000;

interface Example {
  /** The host's folder, which also marks the program's code block in its README. */
  readonly folder: Parameters<typeof hostSources>[0];
  /** The program's file. */
  readonly file: string;
  /** Files of the host copied next to the program. */
  readonly copies: readonly string[];
  /** Runs the program. `host` is the tests' host, built with the same packages. */
  readonly command: (host: HostProgram) => readonly string[];
}

const ownProfile = "profile.release.package.memcell-host.opt-level=0";

const examples: Readonly<Record<string, Example>> = {
  Go: {
    folder: "go",
    file: "main.go",
    copies: ["go.mod", "go.sum", "host.go"],
    // The flags of the tests' host, so that packages are not compiled again.
    command: () => ["go", "run", "-trimpath", "-buildvcs=false", "."],
  },
  Python: {
    folder: "python",
    file: "agent.py",
    copies: ["memcell_host.py"],
    command: ({ command }) => [command, "agent.py"],
  },
  Rust: {
    folder: "rust",
    file: "src/main.rs",
    copies: ["Cargo.toml", "Cargo.lock", "src/host.rs"],
    // Uses the tests' build folder, for the engine. Its own profile separates it from the tests' host of the same name.
    command: () => ["cargo", "run", "--release", "--locked", "--quiet", "--config", ownProfile],
  },
  Java: {
    folder: "java",
    file: "Agent.java",
    copies: [],
    command: ({ command, args }) => [command, ...args.map((each) => (each === "-jar" ? "-cp" : each)), "Agent.java"],
  },
};

// The main README shows Node's program; test/cli runs it.
test.for(inject("hosts").filter(({ language }) => language !== "Node"))(
  "the README's program for $language stores an entry and reads it",
  { timeout },
  async (host, context) => {
    const program = programOf(host, context);
    const example = examples[host.language];
    if (!example) throw new Error(`There is no example for ${host.language}`);
    using folder = temporaryFolder();
    const sources = hostSources(example.folder);
    mkdirSync(join(folder.path, dirname(example.file)), { recursive: true });
    copyFileSync(shippedPlugin("user-memory"), join(folder.path, "user-memory.wasm"));
    for (const name of example.copies) copyFileSync(join(sources, name), join(folder.path, name));
    const fence = new RegExp(`\n\`\`\`${example.folder}\n([\\s\\S]*?)\n\`\`\``);
    const [, shown = ""] = fence.exec(readFileSync(join(sources, "README.md"), "utf8")) ?? [];
    writeFileSync(join(folder.path, example.file), shown);
    const [command = "", ...args] = example.command(program);
    const env = { ...process.env, ...program.env };
    const { stdout } = await run(command, args, { cwd: folder.path, signal: context.signal, env });
    const files = foundFiles(join(folder.path, "data"))["alice"] ?? {};
    expect(Object.keys(files).toSorted()).toEqual(["memory/MEMORY.md", "memory/editor.md"]);
    expect(stdout).toContain("Since 1991.");
  },
);

const goSources = hostSources("go");
const standIn = fileURLToPath(new URL("./goa-ai/", import.meta.url));
const readme = readFileSync(join(goSources, "runhistory/README.md"), "utf8");
const [program = "", converter = ""] = Array.from(readme.matchAll(/\n```go\n([\s\S]*?)\n```/g), ([, text]) => text);

const host = inject("hosts").find(({ language }) => language === "Go");
if (!host) throw new Error("There is no Go host");

/** Follows the README's first two steps. */
function copyAsTold(folder: string): void {
  for (const name of ["go.mod", "go.sum", "host.go"]) copyFileSync(join(goSources, name), join(folder, name));
  cpSync(join(goSources, "runhistory"), join(folder, "runhistory"), { recursive: true });
  copyFileSync(shippedPlugin("run-history"), join(folder, "run-history.wasm"));
  writeFileSync(join(folder, "main.go"), program);
}

/** With the flags of the tests' host, so that packages are not compiled again. */
async function go(folder: string, command: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await run("go", [command, "-trimpath", "-buildvcs=false", "."], {
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
