/** More files than a store lists. Every kind of store behaves the same. */
import { describe, expect, test } from "vitest";

import { remove, storeKinds, StoreStage, write } from "./store-stage.ts";

describe.each(storeKinds)("%s", (kind) => {
  test("more than 20,000 files are not listed for a guest, and can be reduced", { timeout: 120_000 }, async () => {
    await using stage = await StoreStage.open(kind);
    const paths = Array.from({ length: 20_001 }, (_, at) => `${at % 100}/${at}.md`);
    await stage.commit(
      "alice",
      paths.map((path) => write(path, "")),
    );
    const tooMany = { code: "QUOTA_EXCEEDED" };
    expect(await stage.ask("alice", ["list", "memory", ""])).toEqual([tooMany]);
    const host = await stage.hold("alice", async ({ reader }) => [
      (await reader.list("memory", "")).length,
      (await reader.survey("memory")).files.length,
    ]);
    expect(host).toEqual([20_001, 20_001]);
    expect(await stage.ask("alice", ["list", "memory", "7/"])).toMatchObject([{ value: { length: 200 } }]);
    await stage.commit("alice", [remove("0/0.md")]);
    expect(await stage.ask("alice", ["list", "memory", ""])).toMatchObject([{ value: { length: 20_000 } }]);
  });
});
