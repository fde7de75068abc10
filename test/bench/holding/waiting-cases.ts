/** Writes that wait for the owner of the memory. */
import { pendingLimits } from "../../../shared/limits.ts";
import { alice, expectOk, kib, lines } from "./hold-case.ts";
import type { CaseGroup } from "./hold-case.ts";

/** The journal of a day that is so large that each write of it is almost as large as one that waits can be. */
export const waiting: CaseGroup = {
  plugins: ["journal"],
  prepareAll: async (stage) => {
    const { runtime } = stage;
    const content = lines(1, 56 * kib);
    for (let at = 0; at < 16; at++) {
      await expectOk(runtime.call("memory_write", { key: `owner-${at}`, content }, alice));
    }
    for (let at = 0; at < stage.count(pendingLimits.writesMax); at++) {
      const origin = {
        class: "tool_external",
        run: `run-${Math.floor(at / 20)}`,
        source: "https://x.example",
      } as const;
      const input = { key: `page-${at}`, content: lines(at + 2, 56 * kib) };
      const answer = await runtime.call("memory_write", input, { ...alice, origin });
      if (!answer.ok && answer.error.code === "QUOTA_EXCEEDED") break;
      if (answer.ok || answer.error.code !== "WRITE_PENDING") throw new Error(JSON.stringify(answer));
    }
  },
  cases: [
    {
      key: "pending",
      name: "list the writes that wait",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.pending(alice),
    },
    {
      key: "pending-show",
      name: "show one of them",
      prepare: async ({ runtime }) => {
        const [first] = await runtime.upkeep.pending(alice);
        return () => runtime.upkeep.showPending(alice, first?.id ?? "");
      },
    },
    {
      key: "pending-plan-undo",
      name: "plan the undo of their source",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.planUndo(alice, { source: "https://x.example" }),
    },
    {
      key: "pending-approve",
      name: "approve one of them",
      prepare: async ({ runtime }) => {
        const last = (await runtime.upkeep.pending(alice)).at(-1);
        return () => runtime.upkeep.approve(alice, last?.id ?? "");
      },
    },
    {
      key: "pending-reject",
      isOnce: true,
      name: "undo their source: reject them all",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.undo(alice, { source: "https://x.example" }),
    },
  ],
};
