/** Runs the same steps on each host: the programs in `go/` and `python/` as processes, and the Node runtime. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, readdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { promisify } from "node:util";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";

/** One call of an export of the plugin. */
export interface Step {
  readonly export: string;
  readonly input: unknown;
}

export interface HostReport {
  /** For each step its envelope; for `prompt_index` the text only, which is all that the Node host gives away. */
  readonly answers: unknown[];
  /** The text of each file of the scope, by its path. */
  readonly files: Record<string, string>;
}

/** How to start a host program; the path of the plugin comes behind. */
export interface HostProgram {
  readonly command: string;
  readonly args: readonly string[];
}

interface RunOptions {
  readonly signal: AbortSignal;
  readonly cwd?: string;
  readonly input?: string;
}

const epochMs = 1_700_000_000_000;

const packageRequire = createRequire(import.meta.url);

/** Whether a toolchain is there: it can at least say its version. */
export async function isInstalled(command: string, versionOption: string): Promise<boolean> {
  return succeeds(command, [versionOption]);
}

/** Builds the Go program into a folder outside the clone. */
export async function prepareGoHost(folder: string, signal: AbortSignal): Promise<HostProgram> {
  const binary = join(folder, "go-host");
  // Without the stamp of the version control, which needs git and a clone that git trusts.
  await run("go", ["build", "-trimpath", "-buildvcs=false", "-o", binary, "."], { cwd: sourcePath("go/"), signal });
  return { command: binary, args: [] };
}

/** Installs the Python program's packages into a folder that later runs with the same pins find again. */
export async function preparePythonHost(folder: string, signal: AbortSignal): Promise<HostProgram> {
  const requirements = sourcePath("python/requirements.txt");
  const digest = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex");
  const environment = join(tmpdir(), `memcell-polyglot-${digest.slice(0, 16)}`);
  if (!(await isUsable(environment))) {
    await rm(environment, { recursive: true, force: true });
    const made = join(folder, "python-environment");
    await run("python3", ["-m", "venv", made], { signal });
    await run(pythonOf(made), ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", requirements], { signal });
    // Whole or not at all. When another run was faster, its environment is as good.
    await rename(made, environment).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  }
  return { command: pythonOf(environment), args: [sourcePath("python/smoke.py")] };
}

/** Another user of the machine may have made a folder of this name: code in it is not run. */
async function isUsable(environment: string): Promise<boolean> {
  const owner = await lstat(environment).then(
    ({ uid }) => uid,
    () => null,
  );
  if (owner === null || owner !== process.getuid?.()) return false;
  return succeeds(pythonOf(environment), ["-c", "import extism"]);
}

function pythonOf(environment: string): string {
  return join(environment, "bin", "python");
}

export async function runProgram(
  program: HostProgram,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<HostReport> {
  const plugin = packageRequire.resolve("memcell/plugins/user-memory.wasm");
  const input = JSON.stringify(steps);
  const stdout = await run(program.command, [...program.args, plugin], { input, signal });
  const { results, files } = JSON.parse(stdout) as { results: unknown[]; files: HostReport["files"] };
  const answers = results.map((envelope, at) =>
    steps[at]?.export === "prompt_index" ? indexText(envelope) : envelope,
  );
  return { answers, files };
}

function indexText(envelope: unknown): unknown {
  return (envelope as { data?: { text?: unknown } }).data?.text;
}

export async function runOnNode(dataDir: string, steps: readonly Step[]): Promise<HostReport> {
  const runtime = await createRuntime({ dataDir, clock: () => epochMs, threadsMax: 1 });
  const ctx = { userId: "polyglot" };
  const answers: unknown[] = [];
  try {
    for (const step of steps) {
      // oxlint-disable-next-line no-await-in-loop -- a step builds on the files of those before it
      answers.push(await answerOnNode(runtime, step, ctx));
    }
  } finally {
    await runtime.close();
  }
  return { answers, files: await readFiles(join(dataDir, "users", ctx.userId, "memory")) };
}

const toolNames: Readonly<Record<string, string>> = {
  update_user_memory: "UpdateUserMemory",
  read_user_memory: "ReadUserMemory",
};

async function answerOnNode(runtime: Runtime, step: Step, ctx: { userId: string }): Promise<unknown> {
  if (step.export === "prompt_index") return runtime.memoryIndex(ctx);
  const result = await runtime.call(toolNames[step.export] ?? step.export, step.input, ctx);
  if (result.ok) return result;
  // These two are the host's words about the code, from its own table; no plugin says them.
  const { blame: _blame, retryable: _retryable, ...failure } = result.error;
  return { ok: false, error: failure };
}

async function readFiles(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const places = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = places.map(async (place): Promise<[string, string]> => {
    return [relative(folder, place).replaceAll(sep, "/"), await readFile(place, "utf8")];
  });
  return Object.fromEntries(await Promise.all(files));
}

/** From the package's folder: the programs are not compiled, and lie nowhere else. */
function sourcePath(path: string): string {
  return join(dirname(packageRequire.resolve("memcell/package.json")), "test/polyglot", path);
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return promisify(execFile)(command, args).then(
    () => true,
    () => false,
  );
}

/** The standard output of a process; rejects with its standard error when it fails. */
async function run(command: string, args: readonly string[], { signal, cwd, input = "" }: RunOptions): Promise<string> {
  // wasmtime would keep compiled plugins in the home folder, and the next run would not compile what it is given.
  const env = { ...process.env, EXTISM_CACHE_CONFIG: "" };
  const running = promisify(execFile)(command, args, { cwd, env, signal, maxBuffer: 64 * 1024 * 1024 });
  // A program that ends before it has read everything says why on standard error; the broken pipe says nothing more.
  running.child.stdin?.on("error", () => {}).end(input);
  const { stdout } = await running;
  return stdout;
}
