/** A poisoned text goes out of memory, and into that of the same user, of another one, or of another machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { readZip } from "../../stage/archive.ts";
import { zippedBytes } from "../../support/zipped-bytes.ts";
import { AttackStage, entry, Ground, poison } from "../attack-stage.ts";
import { attacksOf, onFiles } from "../attack.ts";

/** The entries that are poisoned, in each scope. */
const pages = [
  ["page.md", "memory"],
  ["page.md", "store"],
] as const;

export const transfers = attacksOf("an export", {
  "an export has what waits": async (stage) => {
    await stage.wait("page", poison);
    const files = await stage.exported();
    expect(files.map(({ content }) => Buffer.from(content).toString()).join("\n")).not.toContain("POISON");
  },
  "the poisoned memory is exported and imported again, with one byte changed": async (stage) => {
    await stage.poisonAll();
    const files = await stage.exported();
    const changed = files.map(({ scope, path, content }) => {
      const text = Buffer.from(content).toString().replace("POISON", "poison");
      return { scope, path, content: Buffer.from(text) };
    });
    await stage.runtime.upkeep.import(stage.owner, changed, { replace: true });
    expect(await stage.trustOf("page.md")).toBe("tool_external");
    expect(await stage.trustOf("page.md", "store")).toBe("tool_external");
  },
  "the poisoned memory is imported for another user": async (stage) => {
    await stage.poisonAll();
    const files = await stage.exported();
    await stage.runtime.upkeep.import(stage.from("direct_user", "r", stage.bob), files);
    for (const [path, scope] of pages) expect(await stage.trustOf(path, scope, stage.bob)).toBe("tool_external");
    expect(await stage.trustOf("billing.md", "memory", stage.bob)).toBe("unstated");
    const carol = `${stage.bob}-carol`;
    await stage.runtime.upkeep.import({ ...stage.web, userId: carol }, files);
    expect(await stage.trustOf("billing.md", "memory", carol)).toBe("tool_external");
  },
  "the poisoned memory goes through a zip file to a machine that knows nothing of it, and a run there reads it": async (
    stage,
  ) => {
    await stage.poisonAll();
    const ofDocument = stage.from("untrusted_document", "web");
    await (await stage.lax()).call("UpdateUserMemory", entry("document", poison), ofDocument);
    const files = await readZip(await zippedBytes(await stage.exported()));
    await using elsewhere = new Ground("files");
    await using there = await AttackStage.begin(elsewhere);
    await there.runtime.upkeep.import({ userId: there.bob }, files);
    for (const [path, scope] of pages) expect(await there.trustOf(path, scope, there.bob)).toBe("tool_external");
    expect(await there.trustOf("document.md", "memory", there.bob)).toBe("untrusted_document");
    expect(await there.trustOf("billing.md", "memory", there.bob)).toBe("unstated");
    await there.readPage("r", there.bob);
    expect(await there.summarize("r", there.bob)).toMatchObject({ pending: {} });
  },
  "the same, and the entry was copied by hand to another name, or put back by hand over a good one, before": onFiles(
    async (stage) => {
      await stage.poisonAll();
      const page = readFileSync(join(stage.home(), "memory/page.md"));
      for (const name of ["billing.md", "copy.md"]) writeFileSync(join(stage.home(), "memory", name), page);
      const files = await stage.exported();
      await stage.runtime.upkeep.import({ userId: stage.bob }, files);
      for (const name of ["billing.md", "copy.md"]) {
        expect(await stage.trustOf(name, "memory", stage.bob)).toBe("tool_external");
      }
    },
  ),
  "the poisoned entry is in the trash, is exported with it, and the other user restores it": async (stage) => {
    await stage.poisonAll();
    await stage.trashPage();
    const files = await stage.exported();
    await stage.runtime.upkeep.import({ userId: stage.bob }, files);
    await stage.runtime.upkeep.restore({ userId: stage.bob }, "page");
    expect(await stage.trustOf("page.md", "memory", stage.bob)).toBe("tool_external");
  },
  "a zip file is made by hand: it says nothing of trust, or that its files are the user's own words": async (stage) => {
    await stage.poisonAll();
    const files = await stage.exported();
    const silent = await readZip(
      await zippedBytes(files.map(({ scope, path, content }) => ({ scope, path, content }))),
    );
    await stage.runtime.upkeep.import(stage.from("direct_user", "r", stage.bob), silent);
    expect(await stage.trustOf("page.md", "memory", stage.bob)).toBe("unstated");
    const high = silent.map((file) => Object.assign({ trust: "owner_edit" as const }, file));
    const carol = `${stage.bob}-carol`;
    await stage.runtime.upkeep.import({ userId: carol }, high);
    expect(await stage.trustOf("page.md", "memory", carol)).toBe("unstated");
    const told = (await zippedBytes(files)).toString("latin1").replace('"tool_external"', '"direct_user!!"');
    await expect(readZip(Buffer.from(told, "latin1"))).rejects.toMatchObject({ code: "INPUT_INVALID" });
  },
  "an import brings records of the host's own: a write that waits, and trusted runs": async (stage) => {
    await stage.unchanged(async () => {
      for (const [scope, path] of [
        [".memcell", "runs/trust.json"],
        ["memory", "../.memcell/runs/trust.json"],
      ] as const) {
        const file = { scope, path, content: Buffer.from("[]") };
        await expect((async () => await stage.runtime.upkeep.import(stage.owner, [file]))()).rejects.toThrow();
      }
    });
    expect(await stage.runtime.upkeep.pending(stage.owner)).toEqual([]);
  },
});
