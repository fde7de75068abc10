/** A poisoned text is written under the name of another entry, or one that looks like it. */
import { expect } from "vitest";

import { owner, poison, web } from "../attack-stage.ts";
import { attacksOf } from "../attack.ts";

export const names = attacksOf("a name", [
  {
    attack: "differs from that of a good entry in case only",
    happens: "is refused",
    play: async (stage) => {
      for (const name of ["Billing", "BILLING"]) {
        await stage.refused("NAME_CONFLICT", () => stage.save(name, poison, web));
      }
    },
  },
  {
    attack: "has dots, spaces, an extension, a path, or letters that look like others or cannot be seen",
    happens: "is refused",
    play: async (stage) => {
      const odd = [
        "billing.",
        "billing ",
        " billing",
        "billing.md",
        "../billing",
        "b\u0131lling",
        "billing\u200b",
        "b\u0456lling",
        "billing\0",
      ];
      for (const name of odd) await stage.refused("INPUT_INVALID", () => stage.save(name, poison, web));
    },
  },
  {
    attack: "is that of the index",
    happens: "is refused",
    play: async (stage) => {
      for (const name of ["MEMORY", "memory"])
        await stage.refused("NAME_RESERVED", () => stage.save(name, poison, web));
    },
  },
  {
    attack: "is allowed, and looks like that of a good entry",
    happens: "waits, and the owner sees the name as it is",
    play: async (stage) => {
      const id = await stage.waits(() => stage.save("bi11ing", poison, web));
      expect((await stage.runtime.upkeep.showPending(owner, id)).files[0]?.path).toBe("bi11ing.md");
    },
  },
  {
    attack: "a path of the own store climbs out of it",
    happens: "is refused",
    play: async (stage) => {
      for (const path of ["/memories/../page.md", "/memories/a/../../page.md", "/memories/./page.md"]) {
        const create = { command: "create", path, content: poison };
        await stage.refused("INPUT_INVALID", () => stage.runtime.call("memory", create, web));
      }
    },
  },
  {
    attack: "a path of the own store is that of its index, or of what another user has created there",
    happens: "waits, as an entry under another path",
    play: async (stage) => {
      for (const path of ["_.index/000001.txt", `_.by/${await stage.storeId("bob")}/page.md`]) {
        const create = { command: "create", path: `/memories/${path}`, content: poison };
        const id = await stage.waits(() => stage.runtime.call("memory", create, web));
        expect((await stage.runtime.upkeep.showPending(owner, id)).files[0]?.path).toMatch(/^_\.5f\.(?:index|by)\//);
      }
    },
  },
]);
