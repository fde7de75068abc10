/** Requests refused before any tool was called, in the operator's log: one line each, and counts of a flood. */
import type { LogEntry, Refusal } from "memcell";
import { afterEach, expect, test, vi } from "vitest";

import { Measures } from "../../host/audit/collect/measures.ts";
import { RefusalRecorder } from "../../host/audit/collect/refusal-recorder.ts";
import { auditLimits } from "../../shared/limits.ts";
import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";

const { refusalsLoggedPerMinute } = auditLimits;
const expired: Refusal = { surface: "http", reason: "token-expired", peer: "192.0.2.1" };
const line = { level: "warn", userId: "", callId: "" };

afterEach(() => vi.useRealTimers());

test("tells the operator the first refusals of a minute in one line each, and then counts, without an audit log", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const lines: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void lines.push(entry);
  const recorder = new RefusalRecorder({ log: null, onLog, measures: new Measures(undefined), note: () => {} });
  recorder.add({ ...expired, userId: "alice" });
  recorder.add({ surface: "mcp", reason: "session-unknown" });
  expect(lines).toEqual([
    { ...line, tool: "http", userId: "alice", text: "refused a request from 192.0.2.1: token-expired" },
    { ...line, tool: "mcp", text: "refused a request: session-unknown" },
  ]);
  for (let count = lines.length; count < refusalsLoggedPerMinute + 10; count++) recorder.add(expired);
  expect(lines).toHaveLength(refusalsLoggedPerMinute);
  vi.advanceTimersByTime(60_000);
  const counts = { ...line, tool: "http", text: "refused 10 more requests in a minute: token-expired" };
  expect(lines.slice(refusalsLoggedPerMinute)).toEqual([counts]);
  recorder.add(expired);
  expect(lines).toHaveLength(refusalsLoggedPerMinute + 2);
  recorder.close();
  recorder.add(expired);
  expect(lines).toHaveLength(refusalsLoggedPerMinute + 2);
  expect(vi.getTimerCount()).toBe(0);
});

test("host/serve/http/README.md shows these lines, and says from which request on they are counted", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const readme = textOf("host/serve/http/README.md");
  const shown = blocksIn(readme)
    .find(({ text }) => text.startsWith("warn http: "))
    ?.text.split("\n");
  const lines: string[] = [];
  const onLog = (entry: LogEntry): void => void lines.push(`${entry.level} ${entry.tool}: ${entry.text}`);
  const recorder = new RefusalRecorder({ log: null, onLog, measures: new Measures(undefined), note: () => {} });
  for (let count = 0; count < refusalsLoggedPerMinute; count++) recorder.add(expired);
  for (let count = 0; count < 1200; count++) recorder.add({ ...expired, reason: "token-signature" });
  vi.advanceTimersByTime(60_000);
  expect([lines[0], lines.at(-1)]).toEqual(shown);
  expect(readme).toContain(`From the ${refusalsLoggedPerMinute + 1}st in a minute on`);
  recorder.close();
});

test.for([
  { name: "a reason of two lines", refusal: { ...expired, reason: "a\nerror http: b" } },
  { name: "a surface with a colour", refusal: { ...expired, surface: "\u001b[31m" } },
  { name: "a peer of two lines", refusal: { ...expired, peer: "192.0.2.1\nerror http: b" } },
  { name: "a user of two lines", refusal: { ...expired, userId: "a\nb" } },
])("the operator's line has nothing of $name", ({ refusal }) => {
  const lines: LogEntry[] = [];
  const recorder = new RefusalRecorder({
    log: null,
    onLog: (entry) => void lines.push(entry),
    measures: new Measures(undefined),
    note: () => {},
  });
  recorder.add(refusal);
  recorder.close();
  expect(lines).toEqual([
    {
      ...line,
      tool: expect.stringMatching(/^[a-z]+$/) as string,
      text: expect.stringMatching(/^refused a request( from 192\.0\.2\.1)?: [a-z-]+$/) as string,
    },
  ]);
});
