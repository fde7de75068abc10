/** A poisoned text is moved: by a name, through the trash, to another user. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { entry, model, owner, poison, user, web } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import { attacksOf } from "../attack.ts";

const laxCall = async (stage: AttackStage, command: object): Promise<void> => {
  const lax = await stage.lax();
  expect(await lax.callAsHost("stores/AnthropicMemory", command, user)).toMatchObject({ ok: true });
};

export const moves = attacksOf("a move", [
  {
    attack: "the poisoned entry is renamed, edited and copied back where a policy lets all take effect",
    happens: "its trust stays that of the page, under each name",
    play: async (stage) => {
      await stage.poisonAll();
      await laxCall(stage, { command: "str_replace", path: "/memories/page.md", old_str: "POISON", new_str: "Note" });
      await laxCall(stage, { command: "rename", old_path: "/memories/page.md", new_path: "/memories/note.md" });
      await laxCall(stage, { command: "insert", path: "/memories/note.md", insert_line: 0, insert_text: "By me" });
      expect(await stage.trustOf("note.md", "store")).toBe("tool_external");
    },
  },
  {
    attack: "the poisoned entry goes to the trash, and the owner restores it",
    happens: "its trust stays, and who reads it waits",
    play: async (stage) => {
      await stage.poisonAll();
      const lax = await stage.lax();
      expect(await lax.call("UpdateUserMemory", { action: "delete", name: "page" }, user)).toMatchObject({ ok: true });
      await stage.runtime.upkeep.restore(owner, "page");
      expect(await stage.trustOf("page.md")).toBe("tool_external");
      await stage.runtime.call("ReadUserMemory", { name: "page" }, model("r"));
      await stage.waits(() => stage.save("summary", "In short: pay", model("r")));
    },
  },
  {
    attack: "the poisoned entry is broken, and the doctor writes it anew",
    happens: "its trust stays",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      writeFileSync(join(stage.home(), "memory/page.md"), `---\nbroken: [\n---\n${poison}`);
      expect(await stage.runtime.upkeep.mend(owner)).toMatchObject([
        { problem: "line-differs" },
        { problem: "entry-unreadable" },
      ]);
      expect(await stage.trustOf("page.md")).toBe("tool_external");
    },
  },
  {
    attack: "the user is erased, and comes back: what waited is approved",
    happens: "no such write waits: it is erased with the user",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      await stage.runtime.upkeep.erase(owner);
      await stage.save("billing", "Fine", user);
      await stage.unchanged(() =>
        expect(stage.runtime.upkeep.approve(owner, id)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" }),
      );
    },
  },
  {
    attack: "the owner's operations run in a call that comes from a page",
    happens: "what they write is trusted as the page",
    play: async (stage) => {
      const content = Buffer.from("---\nname: menu\ndescription: Menu\ntype: reference\n---\nSoup\n");
      await stage.runtime.upkeep.import(web, [{ scope: "memory", path: "menu.md", content }]);
      expect(await stage.trustOf("menu.md")).toBe("tool_external");
      await stage.runtime.call("ReadUserMemory", { name: "menu" }, model("r"));
      await stage.waits(() => stage.save("summary", "Soup", model("r")));
    },
  },
  {
    attack: "a run reads the poisoned entry and writes its text under the name of a good one",
    happens: "waits, and the good one stays",
    play: async (stage) => {
      await stage.poisonAll();
      await stage.runtime.call("ReadUserMemory", { name: "page" }, model("r"));
      await stage.waits(() => stage.runtime.call("UpdateUserMemory", entry("billing", poison), model("r")));
    },
  },
]);

const shared = (store: string, name: string): string => `/memories/shared/${store}/${name}`;

export const grants = attacksOf("a shared store", [
  {
    attack: "a page's text is written to a store that another user has shared",
    happens: "is refused: its owner is not there to approve",
    play: async (stage) => {
      const store = await stage.shareWithBob();
      const create = { command: "create", path: shared(store, "page.md"), content: poison };
      await stage.refused("WRITE_REFUSED", () => stage.runtime.call("memory", create, { ...web, userId: "bob" }));
    },
  },
  {
    attack: "Alice's entry is poisoned; Bob's run reads it in her store, and writes to his own memory",
    happens: "waits for Bob",
    play: async (stage) => {
      await stage.poisonAll();
      const store = await stage.shareWithBob();
      const view = { command: "view", path: shared(store, "page.md") };
      expect(JSON.stringify(await stage.runtime.call("memory", view, model("r", "bob")))).toContain("POISON");
      await stage.unchanged(async () => {
        expect(await stage.save("summary", "In short: pay", model("r", "bob"))).toMatchObject({ pending: {} });
      }, "bob");
    },
  },
  {
    attack: "the same, and Bob's run writes it back to her store, to be read by her",
    happens: "is refused",
    play: async (stage) => {
      await stage.poisonAll();
      const store = await stage.shareWithBob();
      await stage.runtime.call("memory", { command: "search", query: "poison" }, model("r", "bob"));
      const create = { command: "create", path: shared(store, "s.md"), content: "In short: pay" };
      await stage.refused("WRITE_REFUSED", () => stage.runtime.call("memory", create, model("r", "bob")));
    },
  },
  {
    attack: "Alice is the attacker: her own words are in the store that she shares, and Bob's run remembers them",
    happens: "what Bob's run writes is unstated: her word is not his",
    play: async (stage) => {
      await stage.runtime.call("memory", { command: "create", path: "/memories/tip.md", content: poison }, user);
      const store = await stage.shareWithBob();
      await stage.runtime.call("memory", { command: "view", path: shared(store, "tip.md") }, model("r", "bob"));
      expect(await stage.save("summary", "In short: pay", model("r", "bob"))).toMatchObject({ ok: true });
      expect(await stage.trustOf("summary.md", "memory", "bob")).toBe("unstated");
    },
  },
  {
    attack: "Bob is the attacker: he writes his own words to Alice's store",
    happens: "they are unstated there, and so is what a run of hers writes that has read them",
    play: async (stage) => {
      const store = await stage.shareWithBob();
      const create = { command: "create", path: shared(store, "tip.md"), content: poison };
      expect(await stage.runtime.call("memory", create, { ...user, userId: "bob" })).toMatchObject({ ok: true });
      await stage.runtime.call("memory", { command: "search", query: "poison" }, model("r"));
      await stage.save("summary", "In short: pay", model("r"));
      expect(await stage.trustOf("summary.md")).toBe("unstated");
    },
  },
]);
