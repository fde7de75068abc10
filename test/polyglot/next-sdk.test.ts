/** The same plugin file under the next version of the JavaScript SDK, which other embedders can already use. */
import { readFileSync } from "node:fs";

import { createPlugin } from "extism-next";
import { expect, test } from "vitest";

import { bindCapabilities } from "../../host/guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../../host/guest/capabilities/staged-changes.ts";
import { checkUserId } from "../stage/store.ts";
import { emptyFolder } from "../support/empty-folder.ts";
import { fullGrant } from "../support/full-grant.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

interface Block {
  text(): string;
}

interface NextContext {
  read(handle: bigint): Block | null;
  store(text: string): bigint;
}

test("@extism/extism 2.0.0-rc13 stores an entry, and reports a failure as an error", async () => {
  const staged = new StagedChanges();
  const grant = fullGrant(checkUserId("alice"));
  const record = { denial: null, reported: new Set<never>(), causes: [] };
  const capabilities = bindCapabilities({ grant, store: emptyFolder, staged, epochMs: 0 }, record);
  const user = Object.fromEntries(
    Object.entries(capabilities).map(([name, capability]) => [
      name,
      (context: NextContext, request: bigint) => context.store(capability(context.read(request)?.text() ?? "")),
    ]),
  );
  const plugin = await createPlugin(
    { wasm: [{ data: new Uint8Array(readFileSync(shippedPlugin("user-memory"))) }] },
    { useWasi: false, functions: { "extism:host/user": user } },
  );
  const input = { action: "upsert", name: "a", type: "user", description: "日本語", body: "x" };
  const output = await plugin.call("update_user_memory", JSON.stringify(input));
  expect(output?.json()).toMatchObject({ ok: true, data: { name: "a", outcome: "created" } });
  expect(staged.toChangeSet()).toMatchObject([
    { kind: "write", path: "a.md" },
    { kind: "write", path: "MEMORY.md", content: "- [a](a.md) \u2014 日本語\n" },
  ]);
  await expect(plugin.call("update_user_memory", "{}")).rejects.toThrow('"code":"INPUT_INVALID"');
});
