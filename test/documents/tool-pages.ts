/** What the tests of a tool's page need to know about it. */
import type { Runtime } from "memcell";

import { textOf } from "./tracked-files.ts";

export interface Page {
  readonly file: string;
  readonly plugin: string;
  /** Stores what the page's examples read. */
  readonly before?: (runtime: Runtime, userId: string) => Promise<unknown>;
}

/** The first example of a tool's page, called for a user. */
const first = (tool: string) => (runtime: Runtime, userId: string) =>
  runtime.call(tool, examplesIn(pageOf(tool))[0]?.input, { userId });

const pageFor = (plugin: string, tool: string, before?: Page["before"]): Page => ({
  file: `${plugin === "sample" ? "test/plugins" : "plugin"}/${plugin}/${tool}.md`,
  plugin,
  ...(before && { before }),
});

export const pages: Readonly<Record<string, Page>> = {
  UpdateUserMemory: pageFor("user-memory", "UpdateUserMemory"),
  ReadUserMemory: pageFor("user-memory", "ReadUserMemory", first("UpdateUserMemory")),
  SearchUserMemory: pageFor("user-memory", "SearchUserMemory", first("UpdateUserMemory")),
  memory_write: pageFor("journal", "memory_write"),
  memory_update: pageFor("journal", "memory_update", first("memory_write")),
  memory_read: pageFor("journal", "memory_read", first("memory_write")),
  memory_search: pageFor("journal", "memory_search", first("memory_write")),
  ReadRunHistory: pageFor("run-history", "ReadRunHistory", appendTurn),
  sample_write: pageFor("sample", "sample_write"),
  sample_read: pageFor("sample", "sample_read", first("sample_write")),
};

export const pageNamed = (name: string): Page => pages[name] as Page;
export const pageOf = (name: string): string => textOf(pageNamed(name).file);

interface Example {
  readonly input: unknown;
  readonly result: { readonly ok: boolean; readonly data?: unknown };
}

/** Each input of a page, and the result behind it. */
export function examplesIn(page: string): Example[] {
  const blocks = page.matchAll(/```json input\n([\s\S]*?)```\n+```json result\n([\s\S]*?)```/g);
  return Array.from(blocks, ([, input = "", result = ""]) => ({
    input: JSON.parse(input) as unknown,
    result: JSON.parse(result) as Example["result"],
  }));
}

const event = (type: string, timestamp: string, data: object): object => ({
  type,
  timestamp: `2026-01-02T03:04:${timestamp}Z`,
  data: JSON.stringify(data),
});

/** The turn that the page of `ReadRunHistory` shows. */
function appendTurn(runtime: Runtime, userId: string): Promise<unknown> {
  const call = { tool_call_id: "t1", tool_name: "calendar.find" };
  const resultJson = '{"title":"Release 4.2","day":"Tuesday"}';
  const result = { ...call, preview: "1 event", result_json: resultJson, server_data: '{"row":17}', duration: 3e8 };
  const events = [
    event("user_message", "05", { message: "When is the release?" }),
    event("tool_call", "06.5", { ...call, payload: '{"q":"release"}' }),
    event("tool_result", "06.8", result),
    event("assistant_message", "07", { message: "On Tuesday." }),
  ];
  return runtime.callAsHost("AppendRunEvents", { agentId: "planner", runId: "run-1", events }, { userId });
}
