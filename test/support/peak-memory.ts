import { existsSync, readFileSync, writeFileSync } from "node:fs";

const status = "/proc/self/status";

/** The most memory that this process has had, all threads together, since `forgetPeakMemory` or its beginning. */
export function peakMemoryMib(): number {
  const line = existsSync(status) ? /VmHWM:\s*(\d+) kB/.exec(readFileSync(status, "utf8")) : null;
  const kib = line ? Number(line[1]) : process.resourceUsage().maxRSS;
  return Math.round(kib / 1024);
}

/** Only Linux can; elsewhere the peak goes on from what it was. */
export function forgetPeakMemory(): void {
  if (existsSync(status)) writeFileSync("/proc/self/clear_refs", "5");
}
