/** Runs the benchmark of agent-memory-guard in Python, and answers for memcell what it asks. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { installPackages, isolation } from "../../support/python-packages.ts";
import { MemcellAdapter } from "./memcell-adapter.ts";

const script = fileURLToPath(new URL("grade.py", import.meta.url));
const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));

/** What a system made of the scenarios. Lists are of their ids. */
export interface Result {
  readonly system: "memcell" | "dictionary";
  /** From where all texts come; `null`: as the benchmark says. */
  readonly source: string | null;
  /** Whether the owner of the memory approves what waits. */
  readonly approves: boolean;
  readonly attacks: number;
  readonly honest: number;
  /** Attacks that are in memory later. */
  readonly active: readonly string[];
  /** Honest writes that are not. */
  readonly lost: readonly string[];
  readonly waiting: readonly string[];
  /** Attacks in the index that is in prompts. */
  readonly inPrompt: readonly string[];
  readonly errors: readonly string[];
  readonly grade: string;
}

/** Throws if the benchmark cannot be installed. */
export async function runBenchmark(): Promise<readonly Result[]> {
  const { python, missing } = await installPackages({ name: "agent_memory_guard", requirements, least: [3, 9] });
  if (python === null) throw new Error(missing);
  await using adapter = new MemcellAdapter();
  const child = spawn(python, [...isolation, script], { stdio: ["pipe", "pipe", "inherit"] });
  let results: readonly Result[] | null = null;
  for await (const line of createInterface({ input: child.stdout })) {
    const { command, ...request } = JSON.parse(line) as { command: string; results?: readonly Result[] };
    if (command === "results") results = request.results ?? null;
    else child.stdin.write(`${JSON.stringify(await adapter.answer(command, request))}\n`);
  }
  if (child.exitCode === null) await once(child, "exit");
  if (results === null) throw new Error(`The benchmark ended with code ${child.exitCode} and no results`);
  return results;
}
