/** A poisoned text is written under the name of another entry, or one that looks like it. */
import { storeIdOf } from "memcell";
import { expect } from "vitest";

import { poison } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import { attacksOf } from "../attack.ts";

const saving = (stage: AttackStage, names: readonly string[]) =>
  names.map((name) => () => stage.save(name, poison, stage.web));
const creating = (stage: AttackStage, paths: readonly string[]) =>
  paths.map((path) => () => stage.runtime.call("memory", { command: "create", path, content: poison }, stage.web));

export const names = attacksOf("a name", {
  "differs from that of a good entry in case only": (stage) =>
    stage.refused("NAME_CONFLICT", ...saving(stage, ["Billing", "BILLING"])),
  "has dots, spaces, an extension, a path, or letters that look like others or cannot be seen": async (stage) => {
    const odd = ["billing.", "billing ", " billing", "billing.md", "../billing"];
    const unseen = ["b\u0131lling", "billing\u200b", "b\u0456lling", "billing\0"];
    await stage.refused("INPUT_INVALID", ...saving(stage, [...odd, ...unseen]));
  },
  "is that of the index": (stage) => stage.refused("NAME_RESERVED", ...saving(stage, ["MEMORY", "memory"])),
  "is allowed, and looks like that of a good entry": async (stage) => {
    const id = await stage.waits(() => stage.save("bi11ing", poison, stage.web));
    expect((await stage.runtime.upkeep.showPending(stage.owner, id)).files[0]?.path).toBe("bi11ing.md");
  },
  "a path of the own store climbs out of it": (stage) => {
    const paths = ["/memories/../page.md", "/memories/a/../../page.md", "/memories/./page.md"];
    return stage.refused("INPUT_INVALID", ...creating(stage, paths));
  },
  "a path of the own store is that of its index, or of what another user has created there": async (stage) => {
    const paths = ["/memories/_.index/000001.txt", `/memories/_.by/${storeIdOf(stage.bob)}/page.md`];
    for (const write of creating(stage, paths)) {
      const id = await stage.waits(write);
      expect((await stage.runtime.upkeep.showPending(stage.owner, id)).files[0]?.path).toMatch(
        /^_\.5f\.(?:index|by)\//,
      );
    }
  },
});
