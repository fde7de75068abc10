/** A poisoned text is moved: by a name, through the trash, to another user. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import { expect } from "vitest";

import { poison } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import { attacksOf, onFiles } from "../attack.ts";

/** Where a policy lets it take effect. */
const laxCall = async (stage: AttackStage, command: object): Promise<void> => {
  const lax = await stage.lax();
  expect(await lax.callAsHost("stores/AnthropicMemory", command, stage.user)).toMatchObject({ ok: true });
};

export const moves = attacksOf("a move", {
  "the poisoned entry is renamed, edited and copied back where a policy lets all take effect": async (stage) => {
    await stage.poisonAll();
    await laxCall(stage, { command: "str_replace", path: "/memories/page.md", old_str: "POISON", new_str: "Note" });
    await laxCall(stage, { command: "rename", old_path: "/memories/page.md", new_path: "/memories/note.md" });
    await laxCall(stage, { command: "insert", path: "/memories/note.md", insert_line: 0, insert_text: "By me" });
    expect(await stage.trustOf("note.md", "store")).toBe("tool_external");
  },
  "the poisoned entry goes to the trash, and the owner restores it": async (stage) => {
    await stage.poisonAll();
    await stage.trashPage();
    await stage.runtime.upkeep.restore(stage.owner, "page");
    expect(await stage.trustOf("page.md")).toBe("tool_external");
    await stage.readPage();
    await stage.waits(() => stage.summarize());
  },
  "the poisoned entry is broken, and the doctor writes it anew": onFiles(async (stage) => {
    await stage.poisonAll();
    writeFileSync(join(stage.home(), "memory/page.md"), `---\nbroken: [\n---\n${poison}`);
    expect(await stage.runtime.upkeep.mend(stage.owner)).toMatchObject([
      { problem: "line-differs" },
      { problem: "entry-unreadable" },
    ]);
    expect(await stage.trustOf("page.md")).toBe("tool_external");
  }),
  "the owner's operations run in a call that comes from a page": async (stage) => {
    const content = Buffer.from("---\nname: menu\ndescription: Menu\ntype: reference\n---\nSoup\n");
    await stage.runtime.upkeep.import(stage.web, [{ scope: "memory", path: "menu.md", content }]);
    expect(await stage.trustOf("menu.md")).toBe("tool_external");
    await stage.runtime.call("ReadUserMemory", { name: "menu" }, stage.model("r"));
    await stage.waits(() => stage.save("summary", "Soup", stage.model("r")));
  },
});

/** A path in Alice's store, for Bob. */
const shared = (stage: AttackStage, name: string): string => `/memories/shared/${storeIdOf(stage.alice)}/${name}`;

export const grants = attacksOf("a shared store", {
  "a page's text is written to a store that another user has shared": async (stage) => {
    await stage.shareWithBob();
    const create = { command: "create", path: shared(stage, "page.md"), content: poison };
    await stage.refused("WRITE_REFUSED", () =>
      stage.runtime.call("memory", create, { ...stage.web, userId: stage.bob }),
    );
  },
  "Alice's entry is poisoned; Bob's run reads it in her store, and writes to his own memory": async (stage) => {
    await stage.poisonAll();
    await stage.shareWithBob();
    const view = { command: "view", path: shared(stage, "page.md") };
    expect(JSON.stringify(await stage.runtime.call("memory", view, stage.model("r", stage.bob)))).toContain("POISON");
    await stage.unchanged(async () => {
      expect(await stage.summarize("r", stage.bob)).toMatchObject({ pending: {} });
    }, stage.bob);
  },
  "the same, and Bob's run writes it back to her store, to be read by her": async (stage) => {
    await stage.poisonAll();
    await stage.shareWithBob();
    await stage.runtime.call("memory", { command: "search", query: "poison" }, stage.model("r", stage.bob));
    const create = { command: "create", path: shared(stage, "s.md"), content: "In short: pay" };
    await stage.refused("WRITE_REFUSED", () => stage.runtime.call("memory", create, stage.model("r", stage.bob)));
  },
  "Alice is the attacker: her own words are in the store that she shares, and Bob's run remembers them": async (
    stage,
  ) => {
    await stage.runtime.call("memory", { command: "create", path: "/memories/tip.md", content: poison }, stage.user);
    await stage.shareWithBob();
    await stage.runtime.call("memory", { command: "view", path: shared(stage, "tip.md") }, stage.model("r", stage.bob));
    expect(await stage.summarize("r", stage.bob)).toMatchObject({ ok: true });
    expect(await stage.trustOf("summary.md", "memory", stage.bob)).toBe("unstated");
  },
  "Bob is the attacker: he writes his own words to Alice's store": async (stage) => {
    await stage.shareWithBob();
    const create = { command: "create", path: shared(stage, "tip.md"), content: poison };
    expect(await stage.runtime.call("memory", create, { ...stage.user, userId: stage.bob })).toMatchObject({
      ok: true,
    });
    await stage.runtime.call("memory", { command: "search", query: "poison" }, stage.model("r"));
    await stage.summarize();
    expect(await stage.trustOf("summary.md")).toBe("unstated");
  },
});
