/** What the tests of a tool's page need to know about it. */
import type { Runtime } from "memcell";

import type { ErrorCode } from "../../shared/errors.ts";
import { textOf } from "./tracked-files.ts";

export interface Page {
  readonly file: string;
  readonly plugin: string;
  /** The plugin's own codes that a call can answer. */
  readonly ownCodes: readonly string[];
  /** Why no call answers a code of the table. */
  readonly neverAnswered: Partial<Record<ErrorCode, string>>;
  /** Stores what the page's examples read. */
  readonly before?: (runtime: Runtime, userId: string) => Promise<unknown>;
}

const ofNoCall: Page["neverAnswered"] = {
  PLUGIN_REFUSED: "a runtime is not made then",
  READ_ONLY: "a tool that changes something is then unknown",
};

/** The same for what changes nothing. */
const changesNothing: Page["neverAnswered"] = {
  WRITE_PENDING: "it writes nothing",
  WRITE_REFUSED: "it writes nothing",
};

/** Of every tool but one. */
const ofOthers: Page["neverAnswered"] = {
  ...ofNoCall,
  VERSION_CONFLICT: "only UpdateUserMemory has ifUpdated",
};

const readsOnly: Page["neverAnswered"] = {
  ...ofOthers,
  NAME_RESERVED: "it makes no name",
  NAME_CONFLICT: "it makes no name",
};

/** The journal has agentool's codes in place of the general ones. */
const ofJournal: Page["neverAnswered"] = {
  ...readsOnly,
  ENTRY_NOT_FOUND: "it is MEMORY_KEY_NOT_FOUND",
  ENTRY_UNREADABLE: "it is MEMORY_STORAGE_ERROR",
};

const ofSample: Page["neverAnswered"] = {
  ...readsOnly,
  ENTRY_NOT_FOUND: "it is TEXT_NOT_FOUND",
};

/** The first example of a tool's page, called for a user. */
const first = (tool: string) => (runtime: Runtime, userId: string) =>
  runtime.call(tool, examplesIn(pageOf(tool))[0]?.input, { userId });

export const pages: Readonly<Record<string, Page>> = {
  UpdateUserMemory: {
    file: "plugin/user-memory/UpdateUserMemory.md",
    plugin: "user-memory",
    ownCodes: [],
    neverAnswered: ofNoCall,
  },
  ReadUserMemory: {
    file: "plugin/user-memory/ReadUserMemory.md",
    plugin: "user-memory",
    ownCodes: [],
    neverAnswered: {
      ...changesNothing,
      ...ofOthers,
      NAME_CONFLICT: "it makes no name",
      QUOTA_EXCEEDED: "it stores nothing",
    },
    before: first("UpdateUserMemory"),
  },
  SearchUserMemory: {
    file: "plugin/user-memory/SearchUserMemory.md",
    plugin: "user-memory",
    ownCodes: [],
    neverAnswered: {
      ...changesNothing,
      ...readsOnly,
      ENTRY_NOT_FOUND: "what is not there is not found",
      ENTRY_UNREADABLE: "entries that cannot be read are passed over",
    },
    before: first("UpdateUserMemory"),
  },
  memory_write: {
    file: "plugin/journal/memory_write.md",
    plugin: "journal",
    ownCodes: [
      "INVALID_PATH",
      "MEMORY_INVALID_KEY",
      "MEMORY_INVALID_TARGET",
      "MEMORY_KEY_EXISTS",
      "MEMORY_STORAGE_ERROR",
    ],
    neverAnswered: ofJournal,
  },
  memory_update: {
    file: "plugin/journal/memory_update.md",
    plugin: "journal",
    ownCodes: ["INVALID_PATH", "MEMORY_INVALID_KEY", "MEMORY_KEY_NOT_FOUND", "MEMORY_STORAGE_ERROR"],
    neverAnswered: ofJournal,
    before: first("memory_write"),
  },
  memory_read: {
    file: "plugin/journal/memory_read.md",
    plugin: "journal",
    ownCodes: ["INVALID_PATH", "MEMORY_INVALID_KEY", "MEMORY_KEY_NOT_FOUND", "MEMORY_STORAGE_ERROR"],
    neverAnswered: { ...ofJournal, ...changesNothing },
    before: first("memory_write"),
  },
  memory_search: {
    file: "plugin/journal/memory_search.md",
    plugin: "journal",
    ownCodes: ["INVALID_PATH", "MEMORY_STORAGE_ERROR"],
    neverAnswered: { ...ofJournal, ...changesNothing },
    before: first("memory_write"),
  },
  ReadRunHistory: {
    file: "plugin/run-history/ReadRunHistory.md",
    plugin: "run-history",
    ownCodes: ["AGENT_ID_REQUIRED", "RUN_ID_REQUIRED"],
    neverAnswered: {
      ...changesNothing,
      ...ofOthers,
      ENTRY_NOT_FOUND: "a run that does not exist has no events",
      ENTRY_UNREADABLE: "files that cannot be read are passed over",
      NAME_RESERVED: "it makes no name",
    },
    before: appendTurn,
  },
  sample_write: {
    file: "test/plugins/sample/sample_write.md",
    plugin: "sample",
    ownCodes: [],
    neverAnswered: { ...ofSample, ENTRY_UNREADABLE: "it reads none" },
  },
  sample_read: {
    file: "test/plugins/sample/sample_read.md",
    plugin: "sample",
    ownCodes: ["TEXT_NOT_FOUND"],
    neverAnswered: { ...ofSample, ...changesNothing, QUOTA_EXCEEDED: "it stores nothing" },
    before: first("sample_write"),
  },
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
