/** A poisoned text is moved: by a name, through the trash, out and in again, to another user. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { readZip } from "../../../host/archive/read-zip.ts";
import { zippedBytes } from "../../support/zipped-bytes.ts";
import { AttackStage, entry, from, model, owner, poison, user, web } from "../attack-stage.ts";
import { attacksOf } from "../attack.ts";

const bob = { userId: "bob" };

/** The entries that are poisoned, in each scope. */
const pages = [
  ["page.md", "memory"],
  ["page.md", "store"],
] as const;

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
      expect(await stage.runtime.upkeep.mend(owner)).toMatchObject([{ problem: "entry-unreadable" }]);
      expect(await stage.trustOf("page.md")).toBe("tool_external");
    },
  },
  {
    attack: "an export has what waits",
    happens: "it has not: only what is active",
    play: async (stage) => {
      await stage.wait("page", poison);
      const { files } = await stage.runtime.upkeep.export(owner);
      expect(files.map(({ content }) => Buffer.from(content).toString()).join("\n")).not.toContain("POISON");
    },
  },
  {
    attack: "the poisoned memory is exported and imported again, with one byte changed",
    happens: "its trust stays: no replaced file is trusted more",
    play: async (stage) => {
      await stage.poisonAll();
      const { files } = await stage.runtime.upkeep.export(owner);
      const changed = files.map(({ scope, path, content }) => {
        const text = Buffer.from(content).toString().replace("POISON", "poison");
        return { scope, path, content: Buffer.from(text) };
      });
      await stage.runtime.upkeep.import(owner, changed, { replace: true });
      expect(await stage.trustOf("page.md")).toBe("tool_external");
      expect(await stage.trustOf("page.md", "store")).toBe("tool_external");
    },
  },
  {
    attack: "the poisoned memory is imported for another user",
    happens: "its trust stays that of the page, all else is unstated at most, and less if the program says so",
    play: async (stage) => {
      await stage.poisonAll();
      const { files } = await stage.runtime.upkeep.export(owner);
      await stage.runtime.upkeep.import(from("direct_user", "r", "bob"), files);
      for (const [path, scope] of pages) expect(await stage.trustOf(path, scope, "bob")).toBe("tool_external");
      expect(await stage.trustOf("billing.md", "memory", "bob")).toBe("unstated");
      await stage.runtime.upkeep.import({ ...web, userId: "carol" }, files);
      expect(await stage.trustOf("billing.md", "memory", "carol")).toBe("tool_external");
    },
  },
  {
    attack:
      "the poisoned memory goes through a zip file to a machine that knows nothing of it, and a run there reads it",
    happens: "its trust stays that of the page, and the run waits",
    play: async (stage) => {
      await stage.poisonAll();
      const files = await readZip(await zippedBytes((await stage.runtime.upkeep.export(owner)).files));
      await using there = new AttackStage("files");
      await there.begin();
      await there.runtime.upkeep.import(bob, files);
      for (const [path, scope] of pages) expect(await there.trustOf(path, scope, "bob")).toBe("tool_external");
      await there.runtime.call("ReadUserMemory", { name: "page" }, model("r", "bob"));
      await there.unchanged(async () => {
        expect(await there.save("summary", "In short: pay", model("r", "bob"))).toMatchObject({ pending: {} });
      }, "bob");
    },
  },
  {
    attack: "the same, and the entry was copied by hand to another name, or put back by hand over a good one, before",
    happens: "the copies have the trust of the page as well",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      const page = readFileSync(join(stage.home(), "memory/page.md"));
      for (const name of ["billing.md", "copy.md"]) writeFileSync(join(stage.home(), "memory", name), page);
      const { files } = await stage.runtime.upkeep.export(owner);
      await stage.runtime.upkeep.import(bob, files);
      for (const name of ["billing.md", "copy.md"]) {
        expect(await stage.trustOf(name, "memory", "bob")).toBe("tool_external");
      }
    },
  },
  {
    attack: "the poisoned entry is in the trash, is exported with it, and the other user restores it",
    happens: "its trust stays that of the page",
    play: async (stage) => {
      await stage.poisonAll();
      const lax = await stage.lax();
      expect(await lax.call("UpdateUserMemory", { action: "delete", name: "page" }, user)).toMatchObject({ ok: true });
      const { files } = await stage.runtime.upkeep.export(owner);
      await stage.runtime.upkeep.import(bob, files);
      await stage.runtime.upkeep.restore(bob, "page");
      expect(await stage.trustOf("page.md", "memory", "bob")).toBe("tool_external");
    },
  },
  {
    attack: "a zip file is made by hand: it says nothing of trust, or that its files are the user's own words",
    happens: "they are unstated at most, or the zip file is refused",
    play: async (stage) => {
      await stage.poisonAll();
      const { files } = await stage.runtime.upkeep.export(owner);
      const silent = await readZip(
        await zippedBytes(files.map(({ scope, path, content }) => ({ scope, path, content }))),
      );
      await stage.runtime.upkeep.import(from("direct_user", "r", "bob"), silent);
      expect(await stage.trustOf("page.md", "memory", "bob")).toBe("unstated");
      const high = silent.map((file) => Object.assign({ trust: "owner_edit" as const }, file));
      await stage.runtime.upkeep.import({ userId: "carol" }, high);
      expect(await stage.trustOf("page.md", "memory", "carol")).toBe("unstated");
      const told = (await zippedBytes(files)).toString("latin1").replace('"tool_external"', '"direct_user!!"');
      await expect(readZip(Buffer.from(told, "latin1"))).rejects.toMatchObject({ code: "INPUT_INVALID" });
    },
  },
  {
    attack: "an import brings records of the host's own: a write that waits, and trusted runs",
    happens: "the import is refused",
    play: async (stage) => {
      await stage.unchanged(async () => {
        for (const [scope, path] of [
          [".memcell", "runs/trust.json"],
          ["memory", "../.memcell/runs/trust.json"],
        ] as const) {
          const file = { scope, path, content: Buffer.from("[]") };
          await expect((async () => await stage.runtime.upkeep.import(owner, [file]))()).rejects.toThrow();
        }
      });
      expect(await stage.runtime.upkeep.pending(owner)).toEqual([]);
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
