/** A program that does not say whether a caller reaches a store: the call ends, and keeps nobody's store. */
import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";

import type { ContextualAccess } from "memcell";
import { expect, test } from "vitest";

import { ids, openStoreStage } from "./store-stage.ts";

const chat = `/memories/shared/${ids.chat}/`;
const create = { command: "create", path: `${chat}topic`, content: "x" };

/** A program that answers at first, and then hangs. `hanging` resolves when it does. */
function hangsAfter(answers: number): { contextualAccess: ContextualAccess; hanging: Promise<unknown> } {
  let left = answers;
  const events = new EventEmitter();
  const hanging = once(events, "hanging");
  const contextualAccess: ContextualAccess = async () => {
    if (left-- > 0) return { kind: "chat" };
    events.emit("hanging");
    return await new Promise<never>(() => {});
  };
  return { contextualAccess, hanging };
}

test.for([0, 1])("the caller's signal ends the call after %i answers, and the next call runs", async (answers) => {
  const { contextualAccess, hanging } = hangsAfter(answers);
  await using stage = await openStoreStage({ contextualAccess });
  const controller = new AbortController();
  const called = stage.memory("stranger", create, { signal: controller.signal });
  await hanging;
  controller.abort();
  expect(await called).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  const own = await stage.memory("stranger", { command: "view", path: "/memories/" });
  expect(own).toMatchObject({ ok: true });
});

test("closing ends the call, and a list of stores", async () => {
  const { contextualAccess, hanging } = hangsAfter(0);
  const stage = await openStoreStage({ contextualAccess, closeGraceMs: 1 });
  const called = stage.memory("stranger", create);
  const stores = [{ id: ids.chat, kind: "chat" as const }];
  const listed = stage.runtime.stores({ userId: ids.reader, stores }).list();
  const refused = expect(listed).rejects.toMatchObject({ code: "CANCELLED" });
  await hanging;
  await stage[Symbol.asyncDispose]();
  expect(await called).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  await refused;
});

test.for([0, 1])("after %i answers, the call waits no longer than it may, and writes nothing", async (answers) => {
  await using stage = await openStoreStage({ contextualAccess: hangsAfter(answers).contextualAccess, waitMs: 500 });
  const message = expect.stringMatching(/^Cannot call memory: contextualAccess took over \d+ ms$/) as string;
  expect(await stage.memory("stranger", create)).toMatchObject({ ok: false, error: { code: "BUSY", message } });
  expect(existsSync(join(stage.dataDir, "stores", ids.chat, "entries"))).toBe(false);
});

test.for(["search", "read"] as const)(
  "a caller with the level %s keeps no writer of the store waiting",
  async (level) => {
    // The program writes to the store each time it is asked, so a lock of the store would keep it waiting.
    let writes = 0;
    const contextualAccess: ContextualAccess = async (id, { userId }) => {
      if (id !== ids.alice || userId !== ids.stranger) return null;
      const path = `/memories/n${++writes}`;
      const written = await stage.memory("alice", { command: "create", path, content: "x" });
      expect(written).toMatchObject({ ok: true });
      return { kind: "user", level };
    };
    await using stage = await openStoreStage({ contextualAccess, threadsMax: 2 });
    const denied = { ok: false, error: { code: "ACCESS_DENIED" } };
    const path = `/memories/shared/${ids.alice}/z`;
    expect(await stage.memory("stranger", { command: "create", path, content: "x" })).toMatchObject(denied);
    expect(writes).toBeGreaterThan(0);
  },
);
