/** A history with as many versions as are kept. */
import { createRuntime } from "memcell";
import type { CallContext, MemoryFile } from "memcell";

import { alice, entryName, entryText, expectOk, kib, lines, nowMs, refusedNone } from "./hold-case.ts";
import type { CaseGroup } from "./hold-case.ts";

/** A history with as many versions as are kept, and a run that has changed 1,000 files. */
export const history: CaseGroup = {
  plugins: ["user-memory"],
  prepareAll: async (stage) => {
    const files = Array.from({ length: stage.count(990) }, (_, at): MemoryFile => {
      const name = entryName(at);
      return { scope: "memory", path: `${name}.md`, content: Buffer.from(entryText(name, lines(at + 5, 30 * kib))) };
    });
    refusedNone(await stage.runtime.upkeep.import(alice, files));
    const { runtime } = stage;
    const upsert = (at: number, round: number, ctx: CallContext): Promise<void> =>
      expectOk(
        runtime.call(
          "UpdateUserMemory",
          { action: "upsert", name: entryName(at), type: "user", description: `Of ${round}`, body: `${round}` },
          ctx,
        ),
      );
    for (let at = 0; at < stage.count(20_000); at++) await upsert(at % files.length, at, alice);
    for (const at of files.keys())
      await upsert(at, -1, { ...alice, origin: { class: "direct_user", run: "poisoned" } });
  },
  cases: [
    {
      key: "history",
      name: "list 40,000 changes of files",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.history(alice),
    },
    {
      key: "restore-version",
      name: "put one of them back",
      prepare: async ({ runtime }) => {
        const [last, before] = await runtime.upkeep.history(alice, { path: `${entryName(3)}.md` });
        return () =>
          runtime.upkeep.restoreVersion(alice, `${entryName(3)}.md`, { version: (before ?? last)?.seq ?? 0 });
      },
    },
    {
      key: "history-inspect",
      name: "look for problems in it",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.inspect(alice),
    },
    {
      key: "history-open",
      name: "open it in a new runtime, read an entry",
      prepare:
        async ({ dataDir }) =>
        async () => {
          await using runtime = await createRuntime({ dataDir, readOnly: true, threadsMax: 1, clock: () => nowMs });
          await expectOk(runtime.call("ReadUserMemory", { name: entryName(1) }, alice));
        },
    },
    {
      key: "plan-undo",
      name: "plan the undo of a run of 1,000 changes",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.planUndo(alice, { run: "poisoned" }),
    },
    {
      key: "undo",
      isOnce: true,
      name: "undo it",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.undo(alice, { run: "poisoned" }),
    },
    {
      key: "purge-versions",
      isOnce: true,
      name: "remove the contents of 990 files from the history",
      prepare: async ({ runtime, count }) => {
        for (let at = 0; at < count(990); at++) {
          await expectOk(runtime.call("UpdateUserMemory", { action: "delete", name: entryName(at) }, alice));
        }
        return () => runtime.upkeep.purge(alice, { beforeEpochMs: nowMs + 1 });
      },
    },
  ],
};
