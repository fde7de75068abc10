/** Runs the program in each host's README as a reader would: in a folder with the copied host. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { shippedPlugin } from "../support/test-plugin.ts";
import type { HostProgram } from "./host-kind.ts";
import { hostSources } from "./host-sources.ts";

interface Example {
  /** The host's folder, which also marks the program's code block in its README. */
  readonly folder: Parameters<typeof hostSources>[0];
  /** The program's file. */
  readonly file: string;
  /** Files of the host copied next to the program. */
  readonly copies: readonly string[];
  /** Commands; the last one runs the program. `host` is the tests' host, built with the same packages. */
  readonly commands: (host: HostProgram) => readonly (readonly [command: string, ...args: string[]])[];
}

const ownProfile = "profile.release.package.memcell-host.opt-level=0";

export type ExampleLanguage = "Go" | "Python" | "Rust" | "Java";

const examples: Readonly<Record<ExampleLanguage, Example>> = {
  Go: {
    folder: "go",
    file: "main.go",
    copies: ["go.mod", "go.sum", "host.go"],
    // The flags of the tests' host, so that packages are not compiled again.
    commands: () => [["go", "run", "-trimpath", "-buildvcs=false", "."]],
  },
  Python: {
    folder: "python",
    file: "agent.py",
    copies: ["memcell_host.py"],
    commands: ({ command }) => [[command, "agent.py"]],
  },
  Rust: {
    folder: "rust",
    file: "src/main.rs",
    copies: ["Cargo.toml", "Cargo.lock", "src/host.rs"],
    // Uses the tests' build folder, for the engine. Its own profile separates it from the tests' host of the same name.
    commands: () => [["cargo", "run", "--release", "--locked", "--quiet", "--config", ownProfile]],
  },
  Java: {
    folder: "java",
    file: "Agent.java",
    copies: [],
    commands: ({ command, args }) => [[command, ...args.map((each) => (each === "-jar" ? "-cp" : each)), "Agent.java"]],
  },
};

/** The program in a host's README. */
export async function exampleProgram(language: ExampleLanguage): Promise<string> {
  const { folder } = examples[language];
  const readme = await readFile(join(hostSources(folder), "README.md"), "utf8");
  const [, program] = new RegExp(`\n\`\`\`${folder}\n([\\s\\S]*?)\n\`\`\``).exec(readme) ?? [];
  if (program === undefined) throw new Error(`host/polyglot/${folder}/README.md shows no program`);
  return program;
}

/** Runs a host's example in a folder with the plugin and the host's files. Returns its standard output. */
export async function runExample(
  language: ExampleLanguage,
  { folder, program, signal }: { folder: string; program: HostProgram; signal: AbortSignal },
): Promise<string> {
  const { folder: host, file, copies, commands } = examples[language];
  await mkdir(join(folder, dirname(file)), { recursive: true });
  await copyFile(shippedPlugin("user-memory"), join(folder, "user-memory.wasm"));
  await Promise.all(copies.map((name) => copyFile(join(hostSources(host), name), join(folder, name))));
  await writeFile(join(folder, file), await exampleProgram(language));
  let stdout = "";
  for (const [command, ...args] of commands(program)) {
    // oxlint-disable-next-line no-await-in-loop -- a command can use what the one before it built
    ({ stdout } = await promisify(execFile)(command, args, {
      cwd: folder,
      signal,
      env: { ...process.env, ...program.env },
    }));
  }
  return stdout;
}
