/**
 * What the gate does not stop. Each is asserted, so that whoever changes it finds the table. Most need somebody who can
 * write to the disk: such a person can as well edit the entries, which is an edit by the owner.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import type { PendingWrite } from "../../../host/gate/pending-write.ts";
import { model, owner, poison, user, web } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import { attacksOf } from "../attack.ts";

const summarize = (stage: AttackStage, run = "r") => stage.save("summary", "In short: pay", model(run));

/** Asserts that a run's summary of the page takes effect. */
const isLaundered = async (stage: AttackStage): Promise<void> => {
  await stage.runtime.call("ReadUserMemory", { name: "page" }, model("r"));
  expect(await summarize(stage)).toMatchObject({ ok: true });
};

export const limits = attacksOf("what the gate does not stop", [
  {
    attack: "the program names no run: one call reads the poisoned entry, the next one writes its summary",
    happens: "takes effect, with the trust of the model's words. The program must name the run, or say `exposedTo`",
    play: async (stage) => {
      await stage.poisonAll();
      await stage.runtime.call("ReadUserMemory", { name: "page" }, owner);
      expect(
        await stage.save("summary", "In short: pay", { ...owner, origin: { class: "model_inference" } }),
      ).toMatchObject({ ok: true });
      expect(await stage.trustOf("summary.md")).toBe("model_inference");
    },
  },
  {
    attack: "the program says `exposedTo` in the turn of the page, and no more in the next turn of the run",
    happens: "takes effect. The program must say it for as long as the model has the page",
    play: async (stage) => {
      await stage.waits(() => stage.save("summary", "In short: pay", { ...model("r"), exposedTo: ["tool_external"] }));
      expect(await summarize(stage)).toMatchObject({ ok: true });
    },
  },
  {
    attack: "the program says that the page's words are the user's",
    happens: "takes effect: no text is judged by what it says",
    play: async (stage) => {
      expect(await stage.save("page", poison, user)).toMatchObject({ ok: true });
    },
  },
  {
    attack: "the poison is in a description, and the model has it from the index in its prompt",
    happens: "takes effect: an index lowers no run. The policy can keep such entries out of prompts",
    play: async (stage) => {
      const lax = await stage.lax();
      const entry = { action: "upsert", name: "page", type: "user", description: poison, body: "x" };
      await lax.call("UpdateUserMemory", entry, web);
      await stage.runtime.memoryIndex(model("r"));
      await stage.runtime.memoryEntries(model("r"));
      expect(await summarize(stage)).toMatchObject({ ok: true });
    },
  },
  {
    attack:
      "the program keeps a page's text in the history of a run and says nothing of its origin; a later run reads it",
    happens: "takes effect, as unstated. If the program says the origin, whoever has read the history waits",
    play: async (stage) => {
      await stage.restart({ plugins: ["user-memory", "journal", "stores", "run-history"] });
      const of = { agentId: "agent", runId: "first" };
      const data = JSON.stringify({ tool_call_id: "1", tool_name: "page", result: poison });
      const append = { ...of, events: [{ type: "tool_result", timestamp: "2026-01-01T00:00:00.000Z", data }] };
      const tool = "run-history/AppendRunEvents";
      expect(await stage.runtime.callAsHost(tool, append, owner)).toMatchObject({ ok: true });
      await stage.runtime.call("ReadRunHistory", of, model("r"));
      expect(await summarize(stage)).toMatchObject({ ok: true });
      expect(await stage.trustOf("summary.md")).toBe("unstated");
      expect(await stage.runtime.callAsHost(tool, append, web)).toMatchObject({ ok: true });
      await stage.runtime.call("ReadRunHistory", of, model("told"));
      await stage.waits(() => stage.save("told", "pay", model("told")));
    },
  },
  {
    attack: "one runtime may write nothing and reads the poisoned entry, another one writes in the same run",
    happens: "takes effect: what reads may not write cannot put the run on record",
    play: async (stage) => {
      await stage.poisonAll();
      const reader = await stage.open({ readOnly: true });
      await reader.call("ReadUserMemory", { name: "page" }, model("r"));
      expect(await summarize(stage)).toMatchObject({ ok: true });
    },
  },
  {
    attack: "somebody copies a poisoned file by hand to another name, and changes it; a run reads it",
    happens: "takes effect: a file made by hand is the owner's",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      const page = readFileSync(join(stage.home(), "memory/page.md"), "utf8");
      writeFileSync(join(stage.home(), "memory/copy.md"), `${page} `);
      await stage.runtime.call("ReadUserMemory", { name: "copy" }, model("r"));
      expect(await summarize(stage)).toMatchObject({ ok: true });
    },
  },
  {
    attack: "somebody removes `.memcell`",
    happens: "takes effect: all files count as made by hand, and all runs as new",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      await stage.restart();
      rmSync(join(stage.home(), ".memcell"), { recursive: true });
      await isLaundered(stage);
    },
  },
  {
    attack: "somebody makes the record of a write that waits by hand, with the trust of the user",
    happens: "the owner is shown that trust, with the text as it is",
    on: "files",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      const write = stage.record("pending", id).read() as PendingWrite;
      const forged = stage.forge({ ...write, class: "direct_user", trust: "direct_user", source: null });
      const shown = await stage.runtime.upkeep.showPending(owner, forged);
      expect(shown).toMatchObject({ trust: "direct_user" });
      expect(shown.files[0]?.text).toContain(poison);
    },
  },
]);
