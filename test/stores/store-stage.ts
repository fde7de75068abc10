/** A store of Alice's that is shared at each level, and a runtime with the tools of `stores` and lying guests. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext, Runtime, RuntimeOptions, ToolResult } from "memcell";
import { expect } from "vitest";

import type { CallEntry, UseEntry } from "../stage/audit-log.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";

const uuid = (digit: number): string => `${digit}0000000-0000-4000-8000-00000000000${digit}`;

/** Each user's id is also that of the user's own store. `unknown` has no store. */
export const ids = {
  alice: uuid(1),
  searcher: uuid(2),
  reader: uuid(3),
  writer: uuid(4),
  stranger: uuid(5),
  chat: uuid(6),
  unknown: uuid(7),
};
export type Name = keyof typeof ids;

export const nowMs = 1_700_000_000_000;

export interface Grant {
  readonly grantee: string;
  readonly level: string;
  readonly grantedMs?: number;
  readonly expiresMs?: number | null;
}

const everybody: readonly Grant[] = [
  { grantee: ids.searcher, level: "search" },
  { grantee: ids.reader, level: "read" },
  { grantee: ids.writer, level: "readwrite" },
];

export const grantsText = (grants: readonly Grant[]): string =>
  JSON.stringify({ version: 1, grants: grants.map((each) => ({ grantedMs: 1, expiresMs: null, ...each })) });

export const secret = "the secret of alice";

export const entryText = (key: string, owner: string, value: string): string =>
  `---\nkey: ${JSON.stringify(key)}\nowner: ${owner}\nin_context: true\nencrypted: false\n` +
  `created: '2023-01-01T00:00:00.000Z'\nupdated: '2023-01-01T00:00:00.000Z'\n---\n${value}`;

export interface StoreStage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** Calls `memory`, as a program that may use all its commands. */
  memory(user: Name, input: object, ctx?: Partial<CallContext>): Promise<ToolResult>;
  /** Lets a puppet do what the steps say. */
  play(user: Name, steps: readonly unknown[], tool?: string, ctx?: Partial<CallContext>): Promise<ToolResult>;
  /** The records of the audit log. */
  records(): readonly (CallEntry | UseEntry | { readonly kind: string })[];
  /** Writes a file below `stores/`. */
  write(path: string, content: string): void;
  /** The names of the hints that a user has. */
  hints(user: Name): readonly string[];
  /** The files of a store's entries with their content, without the index. */
  entries(user: Name): Record<string, string>;
}

export async function openStoreStage({
  grants = everybody,
  ...options
}: Partial<RuntimeOptions> & { readonly grants?: readonly Grant[] } = {}): Promise<StoreStage> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const write = (path: string, content: string): void => {
    const file = join(dataDir, "stores", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
  write(`${ids.alice}/.memcell/owner`, `stores/${ids.alice}`);
  write(`${ids.alice}/.memcell/grants.json`, grantsText(grants));
  write(`${ids.alice}/entries/a.md`, entryText("a.md", ids.alice, secret));
  for (const { grantee, grantedMs = 1, expiresMs } of grants) {
    write(`.granted/${grantee}/${ids.alice}.${grantedMs}.${expiresMs ?? "never"}`, "");
  }
  const plugins = [shippedPlugin("stores"), testPlugin("store-puppet")];
  const log = join(folder.path, "log.jsonl");
  const runtime = await createRuntime({
    dataDir,
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
    clock: () => nowMs,
    auditLog: { file: log },
    ...options,
  });
  return {
    runtime,
    dataDir,
    write,
    memory: (user, input, ctx) => runtime.callAsHost("memory", input, { userId: ids[user], ...ctx }),
    play: (user, steps, tool = "StorePuppet", ctx) => runtime.callAsHost(tool, steps, { userId: ids[user], ...ctx }),
    records: () =>
      readFileSync(log, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as CallEntry),
    hints: (user) => namesIn(join(dataDir, "stores/.granted", ids[user])),
    entries: (user) => entriesIn(join(dataDir, "stores", ids[user], "entries")),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

function entriesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  const shown = paths.filter((path) => !path.startsWith("_.index/")).toSorted();
  return Object.fromEntries(shown.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** A step that makes one capability request. */
export const ask = (of: string, request: unknown): { readonly of: string; readonly ask: unknown } => ({
  of,
  ask: request,
});

export const scope = (user: Name): string => `store:${ids[user]}`;

/** Fails unless a result is a denial that says nothing about any store. */
export function expectDenied(result: ToolResult): void {
  expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", blame: "guest" } });
  expect(JSON.stringify(result)).not.toContain(secret);
}
