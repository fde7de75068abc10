import type { Terminal } from "./terminal.ts";

/** Says after a plan that it was one, and how to go on: with JSON on standard error, where scripts and cron show it. */
export function tellPlan({ stdout, stderr }: Terminal, action: string, isJson = false): void {
  const stream = isJson ? stderr : stdout;
  stream.write(`Nothing was changed; use --yes to ${action}\n`);
}
