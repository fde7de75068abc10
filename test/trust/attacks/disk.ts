/** Somebody who can write to the disk changes what the host keeps about trust. */
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { storeIdOf } from "memcell";
import { expect } from "vitest";

import { lastSegment } from "../../stage/journal.ts";
import type { PendingWrite } from "../../stage/pending.ts";
import { waitingId } from "../../support/waiting-id.ts";
import { entry, poison } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import { attacksOf, onFiles } from "../attack.ts";

type Place = (path: string) => void;

/** What can be in the place of a record. */
const obstacles: Readonly<Record<string, Place>> = {
  "a link": (path) => symlinkSync("/etc/hostname", path),
  "a folder": (path) => mkdirSync(path),
  "a file of 17 MiB": (path) => {
    writeFileSync(path, "");
    truncateSync(path, 17 * 2 ** 20);
  },
  "half a record": (path) => writeFileSync(path, '{"id":"w-'),
  nothing: () => {},
};

const inPlaceOf = (path: string, place: Place): void => {
  rmSync(path, { recursive: true, force: true });
  place(path);
};

/** A run reads the poisoned entry of user memory, and writes. */
const launder = async (stage: AttackStage): Promise<string> => {
  await stage.readPage();
  const answer = await stage.summarize();
  return answer.ok ? "active" : answer.error.code;
};

export const disk = attacksOf("records on the disk", {
  [`${Object.keys(obstacles).join(", ")} in the place of a write that waits`]: onFiles(async (stage) => {
    for (const place of Object.values(obstacles)) {
      const id = await stage.wait("page", poison);
      const { path } = stage.record("pending", id);
      inPlaceOf(path, place);
      expect(["STORAGE_UNSAFE", "ENTRY_NOT_FOUND"]).toContain(await stage.unchanged(() => stage.decide(id)));
      expect(await stage.save("note", "Fine", stage.user)).toMatchObject({ ok: true });
      await stage.wait("page", poison);
      inPlaceOf(path, () => {});
    }
  }),
  "the record of a write that waits is changed after the owner has looked: the call with its text, or its trust":
    onFiles(async (stage) => {
      for (const [said, other] of [
        ["Soup", poison],
        ["tool_external", "direct_user"],
        ['"web"', "null"],
      ] as const) {
        const id = await stage.wait("menu", "Soup");
        await stage.runtime.upkeep.showPending(stage.owner, id);
        const record = stage.record("pending", id);
        record.write(JSON.stringify(record.read()).replaceAll(said, other));
        expect(await stage.unchanged(() => stage.decide(id))).toBe("ENTRY_NOT_FOUND");
      }
      expect(await stage.runtime.upkeep.pending(stage.owner)).toEqual([]);
    }),
  "the shown text of a write that waits is made harmless, and the call stays": onFiles(async (stage) => {
    const id = await stage.wait("page", poison);
    const { changes, ...call } = stage.pendingRecord(id);
    const harmless = JSON.parse(JSON.stringify(changes).replaceAll(poison, "Soup")) as PendingWrite["changes"];
    const forged = stage.forge({ ...call, changes: harmless });
    expect(await stage.unchanged(() => stage.decide(forged))).toBe("shown again");
    expect(JSON.stringify(await stage.runtime.upkeep.pending(stage.owner))).toContain("POISON");
  }),
  "the call of a write that waits is poisoned, and the shown text stays": onFiles(async (stage) => {
    const id = await stage.wait("menu", "Soup");
    const write = stage.pendingRecord(id);
    const forged = stage.forge({ ...write, input: write.input.replace("Soup", poison) });
    expect(await stage.unchanged(() => stage.decide(forged))).toBe("shown again");
  }),
  "the call of a write that waits is another one, that shows no file: a grant": onFiles(async (stage) => {
    const create = { command: "create", path: "/memories/menu.md", file_text: "Soup" };
    const answer = await stage.claude(create, { userId: stage.alice, origin: { class: "tool_external" } });
    const write = stage.pendingRecord(waitingId(answer));
    const input = JSON.stringify({ command: "share", agent: storeIdOf(stage.bob), level: "readwrite" });
    const forged = stage.forge({ ...write, tool: "memory", input, changes: [] });
    expect(await stage.unchanged(() => stage.decide(forged))).toBe("WRITE_REFUSED");
    expect(await stage.runtime.call("memory", { command: "stores" }, { userId: stage.bob })).toMatchObject({
      data: { stores: [{ source: "self" }] },
    });
  }),
  "a record is made by hand, as that of a call of the host's own that moves files away": onFiles(async (stage) => {
    const id = await stage.wait("menu", "Soup");
    const write = { ...stage.pendingRecord(id), changes: [] };
    const forged = stage.forge({ ...write, input: JSON.stringify({ action: "delete", name: "billing" }) });
    expect(await stage.unchanged(() => stage.decide(forged))).toBe("shown again");
    const odd = stage.forge({ ...write, tool: "NoTool", input: "{" });
    expect(["TOOL_UNKNOWN", "INTERNAL"]).toContain(await stage.unchanged(() => stage.decide(odd)));
  }),
  "the record of a write that waits has another id, or lies in the folder of another user": onFiles(async (stage) => {
    const id = await stage.wait("page", poison);
    const write = stage.pendingRecord(id);
    const other = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    stage.record("pending", other).write(write);
    expect(await stage.unchanged(() => stage.decide(other))).toBe("ENTRY_NOT_FOUND");
    await stage.save("mine", "Fine", { ...stage.user, userId: stage.bob });
    await stage.unchanged(async () => stage.record("pending", id, stage.bob).write(write), stage.bob);
    expect(JSON.stringify(await stage.runtime.upkeep.pending({ userId: stage.bob }))).toContain("POISON");
  }),
  [`${Object.keys(obstacles).slice(0, 4).join(", ")} in the place of what runs have read`]: onFiles(async (stage) => {
    await stage.poisonAll();
    for (const place of Object.values(obstacles).slice(0, 4)) {
      const { path } = stage.record("runs", "trust");
      mkdirSync(dirname(path), { recursive: true });
      inPlaceOf(path, place);
      expect(["STORAGE_UNSAFE", "WRITE_PENDING"]).toContain(await stage.unchanged(() => launder(stage)));
    }
  }),
  "the record of what runs have read names a class that there is not, or a field too much": onFiles(async (stage) => {
    await stage.poisonAll();
    for (const odd of [{ trust: "trusted" }, { note: "x" }, { atMs: "now" }, { run: 7 }]) {
      stage.record("runs", "trust").write([{ run: "r", trust: "owner_edit", atMs: 1, ...odd }]);
      await stage.waits(() => stage.summarize("new"));
    }
  }),
  "the history is removed": onFiles(async (stage) => {
    await stage.poisonAll();
    await stage.restart();
    rmSync(join(stage.home(), ".memcell/journal"), { recursive: true });
    expect(await stage.unchanged(() => launder(stage))).toBe("WRITE_PENDING");
  }),
  "an old copy of the whole folder is put back, in which the poison is active": onFiles(async (stage) => {
    await stage.poisonAll();
    await stage.restart();
    const copy = `${stage.home()}-copy`;
    cpSync(stage.home(), copy, { recursive: true });
    const lax = await stage.lax();
    await lax.call("UpdateUserMemory", { action: "delete", name: "page" }, stage.user);
    await stage.restart();
    rmSync(stage.home(), { recursive: true });
    renameSync(copy, stage.home());
    expect(await stage.unchanged(() => launder(stage))).toBe("WRITE_PENDING");
  }),
  "an old poisoned file is put back, or moved to another name, and a call then edits it": onFiles(async (stage) => {
    await stage.poisonAll();
    const page = join(stage.home(), "memory/page.md");
    renameSync(page, join(stage.home(), "memory/note.md"));
    const lax = await stage.lax();
    await lax.call("UpdateUserMemory", entry("note", "y"), stage.user);
    expect(await stage.trustOf("note.md")).toBe("tool_external");
  }),
  "somebody changes the trust of a version in the history": onFiles(async (stage) => {
    await stage.poisonAll();
    await stage.save("note", "Fine", stage.user);
    await stage.restart();
    const file = lastSegment(join(stage.home(), ".memcell"));
    writeFileSync(file, readFileSync(file, "latin1").replaceAll("tool_external", "owner_edit   "), "latin1");
    expect(JSON.stringify(await stage.runtime.upkeep.inspect(stage.owner))).toContain("history");
    expect(await stage.unchanged(() => launder(stage))).toBe("WRITE_PENDING");
  }),
});
