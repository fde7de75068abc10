/** Models are offered what shares a store only where the program allows it. Programs always can. */
import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { ids } from "./store-stage.ts";

const ctx = { userId: ids.alice };
const share = { command: "share", agent: ids.reader };

async function withRuntime(sharingByModels: boolean | undefined, work: (runtime: Runtime) => Promise<void>) {
  using folder = temporaryFolder();
  const memory = sharingByModels === undefined ? {} : { memory: { sharingByModels } };
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["stores"], threadsMax: 1, ...memory });
  await work(runtime);
}

interface OfferedSchema {
  readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
}

const offered = (runtime: Runtime): OfferedSchema =>
  runtime.tools().find(({ name }) => name === "memory")?.inputSchema as unknown as OfferedSchema;

const always = ["view", "create", "edit", "delete", "rename", "search", "stores"];

describe.each([undefined, false])("with sharingByModels %s", (sharingByModels) => {
  test("a model sees neither the commands nor the fields that only they take", async () => {
    await withRuntime(sharingByModels, async (runtime) => {
      const { properties } = offered(runtime);
      expect(properties["command"]?.enum?.toSorted()).toEqual(always.toSorted());
      expect(Object.keys(properties).toSorted()).toEqual(
        ["command", "path", "content", "old_str", "new_str", "query", "ttl"].toSorted(),
      );
      await runtime.close();
    });
  });

  test("a model's call is refused and grants nothing; a program's call grants", async () => {
    await withRuntime(sharingByModels, async (runtime) => {
      expect(await runtime.call("memory", share, ctx)).toMatchObject({
        ok: false,
        error: {
          code: "INPUT_INVALID",
          message: "Unknown command: share. Use view, create, edit, delete, rename, search, or stores.",
        },
      });
      expect(await runtime.stores(ctx).grants()).toEqual([]);
      expect(await runtime.callAsHost("memory", share, ctx)).toMatchObject({ ok: true, message: "OK" });
      expect(await runtime.stores(ctx).grants()).toMatchObject([{ grantee: ids.reader, level: "read" }]);
    });
  });
});

test("with sharingByModels true, a model can share its user's own store, and no other", async () => {
  await withRuntime(true, async (runtime) => {
    expect(offered(runtime).properties["command"]?.enum).toContain("share");
    expect(await runtime.call("memory", share, ctx)).toMatchObject({ ok: true });
    const path = `/memories/shared/${ids.alice}/`;
    const others = await runtime.call("memory", { ...share, agent: ids.writer, path }, { userId: ids.reader });
    expect(others).toMatchObject({ ok: false, error: { code: "ACCESS_DENIED" } });
    expect(await runtime.stores(ctx).grants()).toHaveLength(1);
  });
});
