import { existsSync, readFileSync, writeFileSync } from "node:fs";

const status = "/proc/self/status";

/** The peak memory of this process, with all threads, since `forgetPeakMemory` or its start. */
export function peakMemoryMib(): number {
  const line = existsSync(status) ? /VmHWM:\s*(\d+) kB/.exec(readFileSync(status, "utf8")) : null;
  const kib = line ? Number(line[1]) : process.resourceUsage().maxRSS;
  return Math.round(kib / 1024);
}

/** Linux only. Elsewhere the peak is not reset. */
export function forgetPeakMemory(): void {
  if (existsSync(status)) writeFileSync("/proc/self/clear_refs", "5");
}
