/** The programs of the README's "Embed it from your language", as someone would run them: beside the copied host. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { shippedPlugin } from "../support/test-plugin.ts";
import type { HostKind, HostProgram } from "./host-kind.ts";

interface Example {
  /** How the README marks its program, and where the program then lies. */
  readonly fence: string;
  readonly file: string;
  /** What is copied beside it: from a folder of this one, and where to. */
  readonly copies: Readonly<Record<string, string>>;
  /** Commands, the last of which runs it. `program` is the host of the tests, built with the same packages. */
  readonly commands: (program: HostProgram) => readonly (readonly [command: string, ...args: string[]])[];
}

const ownProfile = "profile.release.package.memcell-host.opt-level=0";

const examples: Readonly<Record<HostKind["language"], Example>> = {
  Node: { fence: "js", file: "agent.js", copies: {}, commands: ({ command }) => [[command, "agent.js"]] },
  Go: {
    fence: "go",
    file: "main.go",
    copies: { "go/go.mod": "go.mod", "go/go.sum": "go.sum", "go/host.go": "host.go" },
    // As the tests' host was built, so that the packages need not be compiled again.
    commands: () => [["go", "run", "-trimpath", "-buildvcs=false", "."]],
  },
  Python: {
    fence: "python",
    file: "agent.py",
    copies: { "python/memcell_host.py": "memcell_host.py" },
    commands: ({ command }) => [[command, "agent.py"]],
  },
  Rust: {
    fence: "rust",
    file: "src/main.rs",
    copies: { "rust/Cargo.toml": "Cargo.toml", "rust/Cargo.lock": "Cargo.lock", "rust/src/host.rs": "src/host.rs" },
    // In the tests' build folder, for the engine; but told apart from the tests' host, which has the same name there.
    commands: () => [["cargo", "run", "--release", "--locked", "--quiet", "--config", ownProfile]],
  },
  Java: {
    fence: "java",
    file: "Agent.java",
    copies: {},
    commands: ({ command, args }) => [[command, ...args.map((each) => (each === "-jar" ? "-cp" : each)), "Agent.java"]],
  },
};

const here = fileURLToPath(new URL("../../test/polyglot/", import.meta.url));

/** The programs of the README by the mark of their fences. */
export function programIn(readme: string, language: HostKind["language"]): string {
  const section = readme.slice(readme.indexOf("\n## Embed it from your language\n"));
  const { fence } = examples[language];
  const start = section.indexOf(`\n\`\`\`${fence}\n`);
  if (start < 0) throw new Error(`The README has no program for ${language}`);
  const body = section.slice(section.indexOf("\n", start + 1) + 1);
  return body.slice(0, body.indexOf("\n```"));
}

/** Runs a program in a folder with the plugin and the host's files; its standard output. */
export async function runExample(
  language: HostKind["language"],
  source: string,
  { folder, program, signal }: { folder: string; program: HostProgram; signal: AbortSignal },
): Promise<string> {
  const { file, copies, commands } = examples[language];
  await mkdir(join(folder, dirname(file)), { recursive: true });
  await copyFile(shippedPlugin("user-memory"), join(folder, "user-memory.wasm"));
  await Promise.all(Object.entries(copies).map(([from, to]) => copyFile(join(here, from), join(folder, to))));
  await writeFile(join(folder, file), source);
  if (language === "Node") await linkPackage(folder);
  let stdout = "";
  for (const [command, ...args] of commands(program)) {
    // oxlint-disable-next-line no-await-in-loop -- the second runs what the first has built
    ({ stdout } = await promisify(execFile)(command, args, {
      cwd: folder,
      signal,
      env: { ...process.env, ...program.env },
    }));
  }
  return stdout;
}

/** As `npm install memcell` would have it. */
async function linkPackage(folder: string): Promise<void> {
  await mkdir(join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await symlink(join(here, "../.."), join(folder, "node_modules/memcell"));
}
