import { RateLimit } from "../values/rate-limit.ts";
import type { LogEntry, LogLine } from "./log-entry.ts";
import { writeLog } from "./write-log.ts";

/** Topics whose minute is remembered. */
const topicsMax = 1_000;

/** A log that passes on one line of each topic in a minute. */
export function limitedLog(onLog: (entry: LogEntry) => void): (entry: LogEntry & Pick<LogLine, "topic">) => void {
  const told = new RateLimit(1, topicsMax);
  return ({ topic, ...entry }) => {
    if (topic === undefined || told.count(topic) === 0) writeLog(onLog, entry);
  };
}
