/**
 * What the gate does not stop. Each is asserted, so that whoever changes it finds the table. Most need somebody who can
 * write to the disk: such a person can as well edit the entries, which is an edit by the owner.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { entry, poison } from "../attack-stage.ts";
import { attacksOf, onFiles } from "../attack.ts";

export const limits = attacksOf("what the gate does not stop", {
  "the program names no run: one call reads the poisoned entry, the next one writes its summary": async (stage) => {
    await stage.poisonAll();
    await stage.runtime.call("ReadUserMemory", { name: "page" }, stage.owner);
    const ctx = { ...stage.owner, origin: { class: "model_inference" } } as const;
    expect(await stage.save("summary", "In short: pay", ctx)).toMatchObject({ ok: true });
    expect(await stage.trustOf("summary.md")).toBe("model_inference");
  },
  "the program says `exposedTo` in the turn of the page, and no more in the next turn of the run": async (stage) => {
    await stage.waits(() =>
      stage.save("summary", "In short: pay", { ...stage.model("r"), exposedTo: ["tool_external"] }),
    );
    expect(await stage.summarize()).toMatchObject({ ok: true });
  },
  "the program says that the page's words are the user's": async (stage) => {
    expect(await stage.save("page", poison, stage.user)).toMatchObject({ ok: true });
  },
  "the poison is in a description, and the model has it from the index in its prompt": async (stage) => {
    const lax = await stage.lax();
    await lax.call("UpdateUserMemory", { ...entry("page", "x"), description: poison }, stage.web);
    await stage.runtime.memoryIndex(stage.model("r"));
    await stage.runtime.memoryEntries(stage.model("r"));
    expect(await stage.summarize()).toMatchObject({ ok: true });
  },
  "the program keeps a page's text in the history of a run and says nothing of its origin; a later run reads it":
    async (stage) => {
      stage.runtime = await stage.open({ plugins: ["user-memory", "journal", "stores", "run-history"] });
      const of = { agentId: "agent", runId: "first" };
      const data = JSON.stringify({ tool_call_id: "1", tool_name: "page", result: poison });
      const append = { ...of, events: [{ type: "tool_result", timestamp: "2026-01-01T00:00:00.000Z", data }] };
      const tool = "run-history/AppendRunEvents";
      expect(await stage.runtime.callAsHost(tool, append, stage.owner)).toMatchObject({ ok: true });
      await stage.runtime.call("ReadRunHistory", of, stage.model("r"));
      expect(await stage.summarize()).toMatchObject({ ok: true });
      expect(await stage.trustOf("summary.md")).toBe("unstated");
      expect(await stage.runtime.callAsHost(tool, append, stage.web)).toMatchObject({ ok: true });
      await stage.runtime.call("ReadRunHistory", of, stage.model("told"));
      await stage.waits(() => stage.save("told", "pay", stage.model("told")));
    },
  "one runtime may write nothing and reads the poisoned entry, another one writes in the same run": async (stage) => {
    await stage.poisonAll();
    const reader = await stage.open({ readOnly: true });
    await reader.call("ReadUserMemory", { name: "page" }, stage.model("r"));
    expect(await stage.summarize()).toMatchObject({ ok: true });
  },
  "somebody copies a poisoned file by hand to another name, and changes it; a run reads it": onFiles(async (stage) => {
    await stage.poisonAll();
    const page = readFileSync(join(stage.home(), "memory/page.md"), "utf8");
    writeFileSync(join(stage.home(), "memory/copy.md"), `${page} `);
    await stage.runtime.call("ReadUserMemory", { name: "copy" }, stage.model("r"));
    expect(await stage.summarize()).toMatchObject({ ok: true });
  }),
  "somebody removes `.memcell`": onFiles(async (stage) => {
    await stage.poisonAll();
    await stage.restart();
    rmSync(join(stage.home(), ".memcell"), { recursive: true });
    await stage.readPage();
    expect(await stage.summarize()).toMatchObject({ ok: true });
  }),
  "somebody makes the record of a write that waits by hand, with the trust of the user": onFiles(async (stage) => {
    const id = await stage.wait("page", poison);
    const forged = stage.forge({
      ...stage.pendingRecord(id),
      class: "direct_user",
      trust: "direct_user",
      source: null,
    });
    const shown = await stage.runtime.upkeep.showPending(stage.owner, forged);
    expect(shown).toMatchObject({ trust: "direct_user" });
    expect(shown.files[0]?.text).toContain(poison);
  }),
});
