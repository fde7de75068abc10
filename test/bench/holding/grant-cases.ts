/** Shared stores. */
import { alice, expectOk } from "./hold-case.ts";
import type { CaseGroup } from "./hold-case.ts";

/** A user who has grants of 300 stores, and has given 100. */
export const grants: CaseGroup = {
  plugins: ["stores"],
  prepareAll: async ({ runtime, count }) => {
    for (let at = 0; at < count(300); at++)
      await runtime.stores({ userId: `granter-${at}` }).grant("alice", { level: "read" });
    for (let at = 0; at < count(100); at++) await runtime.stores(alice).grant(`grantee-${at}`, { level: "read" });
  },
  cases: [
    {
      key: "stores",
      name: "list 300 stores",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.stores(alice).list(),
    },
    {
      key: "grants",
      name: "list 100 grants",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.stores(alice).grants(),
    },
    {
      key: "stores-search",
      name: "search them",
      prepare:
        async ({ runtime }) =>
        () =>
          expectOk(runtime.call("memory", { command: "search", query: "x" }, alice)),
    },
    {
      key: "grants-erase-plan",
      name: "plan to erase a grantee of 300 stores",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.planErase(alice),
    },
    {
      key: "grants-erase",
      isOnce: true,
      name: "erase it",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.erase(alice),
    },
  ],
};
