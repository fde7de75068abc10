/** Models are offered what shares a store only where the program allows it. Programs always can. */
import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { ids } from "./store-stage.ts";

const ctx = { userId: ids.alice };
const share = { command: "share", agent: ids.reader };
const always = ["view", "create", "edit", "delete", "rename", "search", "stores"];
const fields = ["command", "path", "content", "old_str", "new_str", "query", "ttl"];

test.for([undefined, false, true])(
  "with sharingByModels %s, a model is offered what it may do",
  async (sharingByModels) => {
    using folder = temporaryFolder();
    const memory = sharingByModels === undefined ? {} : { memory: { sharingByModels } };
    await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["stores"], threadsMax: 1, ...memory });
    const tool = runtime.tools().find(({ name }) => name === "memory");
    const properties = tool?.inputSchema["properties"] as Readonly<
      Record<string, { readonly enum?: readonly string[] }>
    >;
    const commands = properties["command"]?.enum ?? [];
    const byModel = await runtime.call("memory", share, ctx);
    if (sharingByModels === true) {
      expect(commands).toContain("share");
      expect(byModel).toMatchObject({ ok: true });
      // Its user's own store, and no other.
      const path = `/memories/shared/${ids.alice}/`;
      const others = await runtime.call("memory", { ...share, agent: ids.writer, path }, { userId: ids.reader });
      expect(others).toMatchObject({ ok: false, error: { code: "ACCESS_DENIED" } });
      expect(await runtime.stores(ctx).grants()).toHaveLength(1);
      return;
    }
    expect(commands.toSorted()).toEqual(always.toSorted());
    expect(Object.keys(properties).toSorted()).toEqual(fields.toSorted());
    const message = "Unknown command: share. Use view, create, edit, delete, rename, search, or stores.";
    expect(byModel).toMatchObject({ ok: false, error: { code: "INPUT_INVALID", message } });
    expect(await runtime.stores(ctx).grants()).toEqual([]);
    expect(await runtime.callAsHost("memory", share, ctx)).toMatchObject({ ok: true, message: "OK" });
    expect(await runtime.stores(ctx).grants()).toMatchObject([{ grantee: ids.reader, level: "read" }]);
  },
);
