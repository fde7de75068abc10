/** Says after a plan that it was one, and how to go on: with JSON on standard error, where scripts and cron show it. */
export function tellPlan(action: string, isJson = false): void {
  const stream = isJson ? process.stderr : process.stdout;
  stream.write(`Nothing was changed; use --yes to ${action}\n`);
}
