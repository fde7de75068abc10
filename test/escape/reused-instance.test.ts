/**
 * A host must give each call a new instance (shared/README.md). A program that forgets it, and makes the calls of
 * several users with one Extism plugin, still gets each user's own files: a plugin answers only from what was read for
 * the same call.
 */
import { readFileSync } from "node:fs";

import { createPlugin } from "@extism/extism";
import type { CallContext } from "@extism/extism";
import { expect, test } from "vitest";

import { shippedPlugin } from "../support/test-plugin.ts";

type Files = Map<string, string>;
type Request = Record<"scope" | "path" | "content", string> & { readonly prefix?: string };

/** What the capabilities answer, without any check. */
const replies: Record<string, (files: Files, request: Request) => object> = {
  store_read: (files, { path }) => ({ content: files.get(path) ?? null }),
  store_write: (files, { path, content }) => (files.set(path, content), {}),
  store_list: (files, { prefix = "" }) => ({
    entries: Array.from(files, ([path, text]) => ({ path, bytes: Buffer.byteLength(text) }))
      .filter(({ path }) => path.startsWith(prefix))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  }),
  store_trash: () => ({ trashed: "trash/x" }),
  clock_now: () => ({ epochMs: 1_700_000_000_000 }),
};

/** One Extism plugin for all users. Returns a way to call it for one of them. */
async function sharedPlugin(name: string) {
  const filesOf: Record<string, Files> = { alice: new Map(), bob: new Map() };
  let user = "";
  const functions = Object.entries(replies).map(([capability, replyTo]) => [
    capability,
    (context: CallContext, request: bigint) => {
      const asked = JSON.parse(context.read(request)?.text() ?? "") as Request;
      return context.store(JSON.stringify({ ok: true, ...replyTo(filesOf[user] ?? new Map(), asked) }));
    },
  ]);
  const plugin = await createPlugin(
    { wasm: [{ data: readFileSync(shippedPlugin(name)) }] },
    { useWasi: false, functions: { "extism:host/user": Object.fromEntries(functions) as Record<string, never> } },
  );
  return async (userId: string, exportName: string, input: object): Promise<string> => {
    user = userId;
    return (await plugin.call(exportName, JSON.stringify(input)))?.text() ?? "";
  };
}

const run = { agentId: "planner", runId: "run-1" };
const secretOf = (userId: string): string => `${userId}'s secret`;

test.each([
  {
    plugin: "run-history",
    store: "append_run_events",
    given: (secret: string) => ({ ...run, events: [{ type: "planner_note", data: JSON.stringify({ note: secret }) }] }),
    reads: [
      ["load_run", run],
      ["read_run_history", run],
    ],
  },
  {
    plugin: "user-memory",
    store: "update_user_memory",
    given: (body: string) => ({ action: "upsert", name: "secret", type: "user", description: "x", body }),
    reads: [["read_user_memory", { name: "secret" }]],
  },
  {
    plugin: "journal",
    store: "memory_write",
    given: (content: string) => ({ key: "secret", content }),
    reads: [
      ["memory_read", { key: "secret" }],
      ["memory_search", { query: "secret" }],
    ],
  },
] as const)("$plugin gives no user what it has read for another", async ({ plugin, store, given, reads }) => {
  const call = await sharedPlugin(plugin);
  for (const userId of ["alice", "bob"]) await call(userId, store, given(secretOf(userId)));
  for (const [exportName, input] of reads) {
    for (const [userId, other] of [
      ["alice", "bob"],
      ["bob", "alice"],
      ["alice", "bob"],
    ] as const) {
      const answer = await call(userId, exportName, input);
      expect(answer).toContain(secretOf(userId));
      expect(answer).not.toContain(secretOf(other));
    }
  }
});
