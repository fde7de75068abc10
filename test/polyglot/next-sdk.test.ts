/** The same plugin file under the next version of the JavaScript SDK, which other embedders can already use. */
import { readFileSync } from "node:fs";

import { createPlugin } from "extism-next";
import { expect, test } from "vitest";

import { capabilityNames } from "../../shared/abi.ts";
import type { CapabilityName } from "../../shared/abi.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

interface Block {
  text(): string;
}

interface NextContext {
  read(handle: bigint): Block | null;
  store(text: string): bigint;
}

/** What a host answers for a user without files. */
const replies: Partial<Record<CapabilityName, object>> = {
  store_read: { ok: true, content: null },
  store_list: { ok: true, entries: [] },
  clock_now: { ok: true, epochMs: 0 },
};

test("@extism/extism 2.0.0-rc13 stores an entry, and reports a failure as an error", async () => {
  const written: unknown[] = [];
  const user = Object.fromEntries(
    capabilityNames.map((name) => [
      name,
      (context: NextContext, request: bigint) => {
        if (name === "store_write") written.push(JSON.parse(context.read(request)?.text() ?? ""));
        return context.store(JSON.stringify(replies[name] ?? { ok: true }));
      },
    ]),
  );
  const plugin = await createPlugin(
    { wasm: [{ data: new Uint8Array(readFileSync(shippedPlugin("user-memory"))) }] },
    { useWasi: false, functions: { "extism:host/user": user } },
  );
  const input = { action: "upsert", name: "a", type: "user", description: "日本語", body: "x" };
  const output = await plugin.call("update_user_memory", JSON.stringify(input));
  expect(output?.json()).toMatchObject({ ok: true, data: { name: "a", outcome: "created" } });
  expect(written).toMatchObject([{ path: "a.md" }, { path: "MEMORY.md", content: "- [a](a.md) \u2014 日本語\n" }]);
  await expect(plugin.call("update_user_memory", "{}")).rejects.toThrow('"code":"INPUT_INVALID"');
});
