/** The server is away: at the start, between calls, and in the middle of one. */
import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import { commit, alice, errorOf, faultServer, shown, soon } from "./fault-server.ts";
import { isInner, unfit } from "./inner-words.ts";

const userId = "alice";
const input = (body: string): object => ({ action: "upsert", name: "one", description: "d", type: "user", body });

test.for(["fast", "immediate"] as const)("a runtime works again when it is back (%s)", async (mode) => {
  await using server = await faultServer();
  const store = postgresStore({ url: server.host });
  await server.stop(mode);
  const refused = await errorOf(createRuntime({ store }));
  expect(refused).toMatchObject({ code: "STORAGE_BUSY" });
  expect(unfit(refused)).toBeNull();

  await server.start();
  const runtime = await createRuntime({ store: postgresStore({ url: server.host }) });
  const change = (body: string): ReturnType<typeof runtime.call> =>
    runtime.call("UpdateUserMemory", input(body), { userId });
  expect(await change("first")).toMatchObject({ ok: true });
  for (const round of ["second", "third"]) {
    await server.stop(mode);
    const failed = await change(`never ${round}`);
    expect(failed).toMatchObject({ ok: false, error: { code: "STORAGE_BUSY", retryable: true } });
    if (!failed.ok) expect(isInner(failed.error.message) ? failed.error : null).toBeNull();
    await server.start();
    expect(await change(round)).toMatchObject({ ok: true });
  }
  expect(await runtime.upkeep.history({ userId }, { path: "one.md" })).toHaveLength(3);
  await runtime.close();
});

test("idle connections that ended without a word do not fail the next calls", async () => {
  await using server = await faultServer();
  const store = postgresStore({ url: server.host, connectionsMax: 3 }).open(() => {});
  for (const text of ["one", "two", "three"]) {
    await Promise.all(
      ["bob", "carol", "dave"].map((other) => store.hold(other as typeof alice, soon(), async () => {})),
    );
    await server.stop("immediate");
    await server.start();
    await commit(store, text);
  }
  expect(await shown(store)).toEqual({ versions: 3, a: "three", b: "three" });
  await store.close();
});

test.for([true, false])(
  "a call that reads after it went fails, without a change; it comes back: %s",
  async (comesBack) => {
    await using server = await faultServer();
    const store = postgresStore({ url: server.host }).open(() => {});
    const error = await errorOf(
      store.hold(alice, soon(), async (held) => {
        await server.stop("immediate");
        if (comesBack) await server.start();
        await held.commit([{ kind: "write", scope: "memory", path: "a.md", content: "never" }], []);
      }),
    );
    expect(error).toMatchObject({ code: "STORAGE_BUSY" });
    expect(unfit(error)).toBeNull();
    if (!comesBack) await server.start();
    expect(await shown(store)).toEqual({ versions: 0, a: null, b: null });
    await store.close();
  },
);

test.for([true, false])("a call with nothing left but the commit runs again; it comes back: %s", async (comesBack) => {
  await using server = await faultServer();
  const store = postgresStore({ url: server.host }).open(() => {});
  let attempts = 0;
  const error = await errorOf(
    store.holdRecords(alice, soon(), async (records) => {
      attempts++;
      await records.write("pending", "w-1", `${attempts}`);
      if (attempts > 1) return;
      await server.stop("immediate");
      if (comesBack) await server.start();
    }),
  );
  if (!comesBack) {
    expect(error).toMatchObject({ code: "STORAGE_BUSY" });
    await server.start();
  }
  const read = store.holdRecords(alice, soon(), (records) => records.read("pending", "w-1"));
  expect([attempts, await read]).toEqual([2, comesBack ? "2" : null]);
  await store.close();
});
