/**
 * The policy says for how many days the history keeps contents, on the runtime's clock. In how many bytes it does is in
 * `test/store/file-history.test.ts`; in other stores than files: `test/gate/jumping-clock.test.ts`.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { createRuntime } from "memcell";
import type { PolicyFile, Runtime, RuntimeOptions } from "memcell";
import { expect, test } from "vitest";

import { steppedUptime } from "../support/stepped-uptime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder } from "../support/user-files.ts";
import { alice, remove, upsert } from "./upkeep-stage.ts";

const dayMs = 86_400_000;
/** Long before the system's clock. */
const startMs = Date.UTC(2001, 1, 3);

async function openStage(history: PolicyFile["history"], mounts: RuntimeOptions["mounts"] = []) {
  const uptime = steppedUptime();
  const folder = temporaryFolder();
  const time = { atMs: startMs };
  const open = (): Promise<Runtime> =>
    createRuntime({
      dataDir: folder.path,
      mounts,
      plugins: ["user-memory"],
      policy: { ...trustingPolicy({}), history },
      threadsMax: 1,
      durability: "relaxed",
      clock: () => time.atMs,
    });
  const stage = Object.assign(time, {
    path: folder.path,
    runtime: await open(),
    /** As another process begins. */
    async reopen(): Promise<void> {
      await stage.runtime.close();
      stage.runtime = await open();
    },
    async write(...inputs: readonly object[]): Promise<void> {
      for (const input of inputs) {
        stage.atMs += 1_000;
        expect(await stage.runtime.call("UpdateUserMemory", input, alice)).toMatchObject({ ok: true });
      }
    },
    /** Some days go by, and then another, and an hour of this process: with the next write, two looks at the clock agree. */
    async passDays(days: number): Promise<void> {
      stage.atMs += (days - 1) * dayMs;
      uptime.step(3_600_000);
      await stage.write(upsert("filler", "filler"));
      await stage.reopen();
      stage.atMs += dayMs;
      uptime.step(3_600_000);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      uptime[Symbol.dispose]();
      await stage.runtime.close();
      folder[Symbol.dispose]();
    },
  });
  return stage;
}

/** All that the host's own folders below a folder have of contents. */
function keptTexts(path: string): string {
  const all = readdirSync(path, { recursive: true, encoding: "utf8" });
  const segments = all.filter((each) => /\.memcell\/journal\/\d+\.(?:log|contents\.gz)$/.test(each));
  const texts = segments.map((each) => readFileSync(join(path, each)));
  return texts.map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()).join("");
}

const notKept = {
  code: "ENTRY_NOT_FOUND",
  message: expect.stringMatching(/the content (?:of|before) version \d+ is no longer kept$/),
};

test("what was replaced or deleted is kept for so many days, in a mounted folder as well", async () => {
  using folder = temporaryFolder();
  await using stage = await openStage({ daysMax: 7 }, [{ ...alice, scope: "memory", dir: folder.path }]);
  await stage.write(upsert("old", "present from the first day"), upsert("a", "replaced"), upsert("a", "in between"));
  await stage.write(upsert("gone", "early secret"), upsert("gone", "late secret"), remove("gone"));
  stage.atMs += 6 * dayMs;
  await stage.write(upsert("a", "present"));
  await stage.reopen();
  const { seq: first = 0 } = (await stage.runtime.upkeep.history(alice, { path: "a.md" })).at(-1) ?? {};
  const diff = () => stage.runtime.upkeep.diff(alice, "a", { from: first, to: first + 1 });
  expect((await diff()).lines?.join("\n")).toContain("+in between");
  expect(await stage.runtime.upkeep.restoreVersion(alice, "gone", { version: first + 2 })).toMatchObject({ seq: 4 });
  await stage.write(remove("gone"));
  const before = await stage.runtime.upkeep.history(alice);

  await stage.passDays(3);
  await stage.write(upsert("other", "x"));
  await stage.reopen();
  const { upkeep } = stage.runtime;
  await expect(diff()).rejects.toMatchObject(notKept);
  await expect(upkeep.diff(alice, "a", { from: "before", to: first + 1 })).rejects.toMatchObject(notKept);
  await expect(upkeep.restoreVersion(alice, "a", { version: first })).rejects.toMatchObject(notKept);
  await expect(upkeep.restoreVersion(alice, "gone", { version: first + 3 })).resolves.toMatchObject({
    scope: "memory",
  });
  expect((await upkeep.history(alice)).slice(-before.length)).toEqual(before);
  expect(await upkeep.inspect(alice)).toEqual([]);
});

test("contents of deleted files go as well, also of those removed by hand; the trash keeps its own until it is emptied", async () => {
  await using stage = await openStage({ daysMax: 1 });
  await stage.write(
    upsert("gone", "early secret"),
    upsert("gone", "late secret"),
    remove("gone"),
    upsert("a", "stays"),
    upsert("by-hand", "third secret", "d"),
  );
  await stage.reopen();
  expect(keptTexts(stage.path)).toMatch(/early secret[^]*late secret[^]*third secret/);
  rmSync(join(userFolder(stage.path, "alice"), "memory/by-hand.md"));
  await stage.passDays(3);
  await stage.write(upsert("b", "stays"));
  await stage.reopen();
  expect(keptTexts(stage.path)).not.toContain("secret");
  expect(keptTexts(stage.path)).toContain("stays");
  const { upkeep } = stage.runtime;
  expect(await upkeep.restoreVersion(alice, "gone", { version: 2 })).toMatchObject({ outcome: "created" });
  await expect(upkeep.restoreVersion(alice, "gone", { version: 1 })).rejects.toMatchObject(notKept);
  expect(await upkeep.purge(alice, { beforeEpochMs: stage.atMs })).toMatchObject([{ path: "gone.md" }]);
  expect(await upkeep.inspect(alice)).toEqual([]);
});

test("a present content is kept however old it is, so that what replaces it can be taken back", async () => {
  await using stage = await openStage({ daysMax: 1 });
  await stage.write(upsert("a", "of the first day"), upsert("b", "x"));
  for (let day = 0; day < 4; day++) {
    stage.atMs += 2 * dayMs;
    await stage.write(upsert("b", `day ${day}`));
    await stage.reopen();
  }
  await stage.write(upsert("a", "poison"));
  const { upkeep } = stage.runtime;
  expect(await upkeep.undo(alice, { since: new Date(stage.atMs) })).toMatchObject({
    restored: ["memory/a.md"],
    left: [],
  });
  expect(JSON.stringify(await stage.runtime.readEntry({ family: "user-memory", name: "a" }, alice))).toContain(
    "of the first day",
  );
});
