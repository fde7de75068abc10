/** What the host keeps about a user: in one commit with the user's files, and in nothing that anybody is shown. */
import { expect, describe, test } from "vitest";

import { ownStoreHome, storeHome, userHome } from "../stage/store.ts";
import type { Home, UserId } from "../stage/store.ts";
import { askThread, newStoreId, openEngines, principal, soon, write } from "./store-stage.ts";

const engines = await openEngines();

let users = 0;
const newUser = (): UserId => `kept-${(users += 1)}` as UserId;

const isBusy = expect.objectContaining({ code: "BUSY" }) as Error;

describe.each(engines.map((stage) => ({ name: stage.kind, stage })))("in a $name", ({ stage }) => {
  const { store } = stage;

  test("records change with the files of a commit, and no list, size, history or thread has them", async () => {
    const user = userHome(newUser());
    await store.hold([user], "write", soon(), async (held) => {
      const home = held.of(user);
      await home.records.write("pending", "w-1", "waits");
      await home.records.write("runs", "trust", "[]");
      expect(await home.records.read("pending", "w-1")).toBe("waits");
      expect([...(await home.records.sizes("pending"))]).toEqual([["w-1", 5]]);
      await home.commit({ changes: [write("a.md", "A"), write("b.md", "B", "grants")], seen: [] });
      await home.records.noteLowered({ run: "r", trust: "unstated", atMs: 1 });
      await home.records.commit();
    });
    await store.hold([user], "read", soon(), async (held) => {
      const reader = held.of(user);
      const { records, history } = reader;
      expect(await records.names("pending")).toEqual(["w-1"]);
      expect(await records.read("runs", "trust")).toBe("[]");
      expect((await records.loweredRuns()).runs).toMatchObject([{ run: "r", trust: "unstated" }]);
      // A scope of the user's can have the name of the host's scope in a store.
      expect(await reader.scopes()).toEqual(["grants", "memory"]);
      expect(await reader.beside()).toEqual([]);
      expect((await reader.list("memory", "")).map(({ path }) => path)).toEqual(["a.md"]);
      expect((await reader.list("grants", "")).map(({ path }) => path)).toEqual(["b.md"]);
      expect((await reader.scopeSize("memory")).live).toEqual({ files: 1, bytes: 1 });
      await expect(async () => reader.list(".memcell", "")).rejects.toThrow();
      const named = (await history.versions()).flatMap(({ files }) => files.map(({ path }) => path));
      expect(named.toSorted()).toEqual(["a.md", "b.md"]);
      expect(Array.from(await history.origins(), ([place]) => place).toSorted()).toEqual([
        "grants:b.md",
        "memory:a.md",
      ]);
      const asked = { userId: user.id, handed: held.handed };
      const answers = await askThread(stage.startThread(), {
        ...asked,
        questions: [
          ["read", ".memcell", "pending/w-1.json"],
          ["sizeOf", ".memcell", "pending/w-1.json"],
          ["list", ".memcell", ""],
          ["scopeSize", ".memcell"],
          ["list", "memory", ""],
        ],
      });
      expect(answers.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => ({ code: "CAPABILITY_DENIED" })));
      expect(answers[4]).toMatchObject({ value: [{ path: "a.md" }] });
    });
    await expect(
      store.hold([user], "write", soon(), (held) =>
        held.of(user).commit({ changes: [write("pending/w-1.json", "mine", ".memcell")], seen: [] }),
      ),
    ).rejects.toMatchObject({ code: "CAPABILITY_DENIED" });
    await store.hold([user], "write", soon(), async (held) => {
      const { records } = held.of(user);
      await records.remove("pending", "w-1");
      expect(await records.names("pending")).toEqual([]);
      await records.commit();
      expect(await records.names("pending")).toEqual([]);
    });
  });

  test("a change set that is refused leaves the records as they were", async () => {
    const user = userHome(newUser());
    const commit = (text: string, digest: string | null): Promise<void> =>
      store.hold([user], "write", soon(), async (held) => {
        const home = held.of(user);
        await home.records.write("pending", "w-1", text);
        await home.commit({ changes: [write("a.md", text)], seen: [{ scope: "memory", path: "a.md", digest }] });
      });
    await commit("first", null);
    await expect(commit("second", null)).rejects.toEqual(isBusy);
    await store.hold([user], "read", soon(), async (held) => {
      expect(await held.of(user).records.read("pending", "w-1")).toBe("first");
      expect(Buffer.from((await held.of(user).bytesOf("memory", "a.md")) ?? []).toString()).toBe("first");
    });
  });

  test("a user's home and a store are held together: both are kept from others, and both change", async () => {
    const user = userHome(newUser());
    const own = ownStoreHome(user.id);
    const other = storeHome(newStoreId());
    // On a disk, a home that is not there has no lock.
    for (const home of [user, own]) {
      const first = [write("first.md", "1", home.kind === "user" ? "memory" : home.scope)];
      await store.hold([home], "write", soon(), (held) => held.of(home).commit({ changes: first, seen: [] }));
    }
    await store.hold([other, own, user], "write", soon(), async (held) => {
      for (const home of [user, own]) {
        const asked = { until: performance.now() + 50 };
        await expect(stage.openBeside().store.hold([home], "write", asked, async () => {})).rejects.toEqual(isBusy);
      }
      await held.commitEach([
        [other, { changes: [write("c.md", "C", other.scope)], seen: [], by: principal }],
        [own, { changes: [write("b.md", "B", "store")], seen: [] }],
        [user, { changes: [write("a.md", "A")], seen: [] }],
      ]);
      await expect(
        held.commitEach([user, user].map((home) => [home, { changes: [write("a.md", "2")], seen: [] }])),
      ).rejects.toThrow(RangeError);
    });
    await store.hold([user, own, other], "read", soon(), async (held) => {
      const textOf = async (home: Home, scope: string, path: string): Promise<string> =>
        Buffer.from((await held.of(home).bytesOf(scope, path)) ?? []).toString();
      const texts = [textOf(user, "memory", "a.md"), textOf(own, "store", "b.md"), textOf(other, other.scope, "c.md")];
      expect(await Promise.all(texts)).toEqual(["A", "B", "C"]);
    });
  });

  test("work whose result is kept is not repeated, although what it has only read changes", async () => {
    const [user, other] = [userHome(newUser()), storeHome(newStoreId())];
    const change = (text: string): Promise<void> =>
      stage
        .openBeside()
        .store.hold([other], "write", soon(), (held) =>
          held.of(other).commit({ changes: [write("b.md", text, other.scope)], seen: [] }),
        );
    await change("first");
    let runs = 0;
    await store.hold([user], "write", { ...soon(), onlyRead: [other] }, async (held) => {
      runs += 1;
      await held.of(user).records.write("pending", `w-${runs}`, "waits");
      await held.of(user).records.commit();
      held.keepResult();
      await change("second");
    });
    await store.hold([user], "read", soon(), async (held) => {
      expect(await held.of(user).records.names("pending")).toEqual(["w-1"]);
    });
  });

  test("work that has changed one home, and finds another one changed, is not repeated", async () => {
    const [one, two] = [storeHome(newStoreId()), storeHome(newStoreId())];
    let runs = 0;
    const hold = store.hold([one, two], "write", soon(), async (held) => {
      runs += 1;
      await held.of(one).commit({ changes: [write("a.md", String(runs), one.scope)], seen: [] });
      const seen = [{ scope: two.scope, path: "b.md", digest: "0".repeat(64) }];
      await held.of(two).commit({ changes: [write("b.md", "B", two.scope)], seen });
    });
    await expect(hold).rejects.toEqual(isBusy);
    expect(runs).toBe(1);
    await store.hold([one], "read", soon(), async (held) => {
      expect(Buffer.from((await held.of(one).bytesOf(one.scope, "a.md")) ?? []).toString()).toBe("1");
    });
  });
});
