import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("dist/host/cli/main.js", import.meta.resolve("memcell/package.json")));

export interface AuditOutcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `memcell audit` as a process, without a terminal. */
export function runAudit(
  args: readonly string[],
  folder?: string,
  environment: Readonly<Record<string, string>> = {},
): AuditOutcome {
  const env = { ...process.env, ...environment };
  const options = { encoding: "utf8", env, ...(folder !== undefined && { cwd: folder }) } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "audit", ...args], options);
  return { status, stdout, stderr };
}

/** Joins a report's sentences, which were wrapped at the terminal's width. */
export function unwrapped(text: string): string {
  return text.replace(/\n {8,}/g, " ");
}
