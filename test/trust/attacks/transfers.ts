/** A poisoned text goes out of memory, and into that of the same user, of another one, or of another machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { readZip } from "../../stage/archive.ts";
import { zippedBytes } from "../../support/zipped-bytes.ts";
import { AttackStage, from, model, owner, poison, user, web } from "../attack-stage.ts";
import { attacksOf } from "../attack.ts";

const bob = { userId: "bob" };

/** The entries that are poisoned, in each scope. */
const pages = [
  ["page.md", "memory"],
  ["page.md", "store"],
] as const;

export const transfers = attacksOf("an export", [
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
]);
