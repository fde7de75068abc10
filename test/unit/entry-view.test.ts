/** What a guest has read of an entry that somebody moves by hand while it runs. */
import { expect, test } from "vitest";

import { ReadScope, seenEntries, withOrigins } from "../../host/call/entry-view.ts";
import { judgeCatalog } from "../../host/plugins/catalog.ts";
import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { StaleCall } from "../../host/store/plan-changes.ts";
import type { FileOrigin } from "../../host/store/versions/present-origins.ts";
import type { HeldHistory } from "../stage/store.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const hidden: FileOrigin = { class: "tool_external", trust: "tool_external", atMs: 0, sha256: "menu", seq: 1 };

const history: HeldHistory = {
  state: () => ({
    filesHead: { seq: 1, hash: "" },
    head: { seq: 1, hash: "" },
    isBroken: false,
    unknown: "owner_edit",
    hasStated: true,
  }),
  originOf: async (_scope, path) => (path === "menu.md" ? hidden : null),
  origins: async () => [["memory:menu.md", hidden]],
  loweredRuns: async () => [],
  versions: async () => [],
  contentsOf: async () => new Map(),
};

const read = (digest: string) => ({ seen: [{ scope: "memory", path: "dinner.md", digest }], shows: [] });

test("a hidden file that is moved while the guest runs makes the call run again", async () => {
  const named = [shippedPlugin("user-memory")];
  const catalog = await judgeCatalog({ named, besides: [], bundled: [] }, await loadPolicy(undefined));
  const [found] = catalog.tools.withRole("index");
  if (found === undefined) return expect.fail("There is no index");
  const reader = { list: async () => [{ path: "menu.md", bytes: 4 }], bytesOf: async () => null };
  const scope = new ReadScope({ scope: "memory", history, reader, owner: "" });
  const entries = await seenEntries(found, [scope], { view: { least: "tool_internal", made: [] } });
  expect(entries.changes).toEqual([{ kind: "remove", scope: "memory", path: "menu.md", bytes: 0 }]);
  const answer = { ok: true, message: "", data: { text: "", entriesShown: 0, entriesHidden: 0 } } as const;
  await expect(withOrigins(answer, read("menu"), entries)).rejects.toThrow(StaleCall);
  expect(await withOrigins(answer, read("another"), entries)).toEqual(answer);
});
