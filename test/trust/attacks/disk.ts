/** Somebody who can write to the disk changes what the host keeps about trust. */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { expect } from "vitest";

import type { PendingWrite } from "../../../host/gate/pending-write.ts";
import { model, owner, poison, user } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import { attacksOf } from "../attack.ts";

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
const launder = async (stage: AttackStage, run = "r"): Promise<string | undefined> => {
  await stage.runtime.call("ReadUserMemory", { name: "page" }, model(run));
  const answer = await stage.save("summary", "In short: pay", model(run));
  return answer.ok ? "active" : answer.error.code;
};

const decide = ({ runtime }: AttackStage, id: string): Promise<string> =>
  runtime.upkeep.approve(owner, id).then(
    ({ applied }) => (applied ? "applied" : "shown again"),
    ({ code }: { code: string }) => code,
  );

export const disk = attacksOf("records on the disk", [
  {
    attack: `${Object.keys(obstacles).join(", ")} in the place of a write that waits`,
    happens: "nothing is applied, and others can still write and wait",
    on: "files",
    play: async (stage) => {
      for (const place of Object.values(obstacles)) {
        const id = await stage.wait("page", poison);
        const { path } = stage.record("pending", id);
        inPlaceOf(path, place);
        expect(["STORAGE_UNSAFE", "ENTRY_NOT_FOUND"]).toContain(await stage.unchanged(() => decide(stage, id)));
        expect(await stage.save("note", "Fine", user)).toMatchObject({ ok: true });
        await stage.wait("page", poison);
        inPlaceOf(path, () => {});
      }
    },
  },
  {
    attack:
      "the record of a write that waits is changed after the owner has looked: the call with its text, or its trust",
    happens: "no such write waits any more: an id stands for what was shown under it",
    on: "files",
    play: async (stage) => {
      for (const [said, other] of [
        ["Soup", poison],
        ["tool_external", "direct_user"],
        ['"web"', "null"],
      ] as const) {
        const id = await stage.wait("menu", "Soup");
        await stage.runtime.upkeep.showPending(owner, id);
        const record = stage.record("pending", id);
        record.write(JSON.stringify(record.read()).replaceAll(said, other));
        expect(await stage.unchanged(() => decide(stage, id))).toBe("ENTRY_NOT_FOUND");
      }
      expect(await stage.runtime.upkeep.pending(owner)).toEqual([]);
    },
  },
  {
    attack: "the shown text of a write that waits is made harmless, and the call stays",
    happens: "nothing is applied: what the call writes is shown",
    on: "files",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      const { changes, ...call } = stage.record("pending", id).read() as PendingWrite;
      const harmless = JSON.parse(JSON.stringify(changes).replaceAll(poison, "Soup")) as PendingWrite["changes"];
      const forged = stage.forge({ ...call, changes: harmless });
      expect(await stage.unchanged(() => decide(stage, forged))).toBe("shown again");
      expect(JSON.stringify(await stage.runtime.upkeep.pending(owner))).toContain("POISON");
    },
  },
  {
    attack: "the call of a write that waits is poisoned, and the shown text stays",
    happens: "nothing is applied: what the call writes is shown",
    on: "files",
    play: async (stage) => {
      const id = await stage.wait("menu", "Soup");
      const write = stage.record("pending", id).read() as PendingWrite;
      const forged = stage.forge({ ...write, input: write.input.replace("Soup", poison) });
      expect(await stage.unchanged(() => decide(stage, forged))).toBe("shown again");
    },
  },
  {
    attack: "the call of a write that waits is another one, that shows no file: a grant",
    happens: "is refused: what is not shown cannot be approved",
    on: "files",
    play: async (stage) => {
      const create = { command: "create", path: "/memories/menu.md", file_text: "Soup" };
      const answer = await stage.claude(create, { userId: "alice", origin: { class: "tool_external" } });
      const { pending } = answer as { pending?: { id: string } };
      const write = stage.record("pending", pending?.id ?? "").read() as PendingWrite;
      const input = JSON.stringify({ command: "share", agent: await stage.storeId("bob"), level: "readwrite" });
      const forged = stage.forge({ ...write, tool: "memory", input, changes: [] });
      expect(await stage.unchanged(() => decide(stage, forged))).toBe("WRITE_REFUSED");
      expect(await stage.runtime.call("memory", { command: "stores" }, { userId: "bob" })).toMatchObject({
        data: { stores: [{ source: "self" }] },
      });
    },
  },
  {
    attack: "a record is made by hand, as that of a call of the host's own that moves files away",
    happens: "nothing is applied but what the record shows: it shows nothing",
    on: "files",
    play: async (stage) => {
      const id = await stage.wait("menu", "Soup");
      const write = { ...(stage.record("pending", id).read() as PendingWrite), changes: [] };
      const forged = stage.forge({ ...write, input: JSON.stringify({ action: "delete", name: "billing" }) });
      expect(await stage.unchanged(() => decide(stage, forged))).toBe("shown again");
      const odd = stage.forge({ ...write, tool: "NoTool", input: "{" });
      expect(["TOOL_UNKNOWN", "INTERNAL"]).toContain(await stage.unchanged(() => decide(stage, odd)));
    },
  },
  {
    attack: "the record of a write that waits has another id, or lies in the folder of another user",
    happens: "no such write waits, or it waits for that user, who sees what it is",
    on: "files",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      const write = stage.record("pending", id).read() as PendingWrite;
      const other = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
      stage.record("pending", other).write(write);
      expect(await stage.unchanged(() => decide(stage, other))).toBe("ENTRY_NOT_FOUND");
      await stage.save("mine", "Fine", { ...user, userId: "bob" });
      await stage.unchanged(async () => stage.record("pending", id, "bob").write(write), "bob");
      expect(JSON.stringify(await stage.runtime.upkeep.pending({ userId: "bob" }))).toContain("POISON");
    },
  },
  {
    attack: `${Object.keys(obstacles).slice(0, 4).join(", ")} in the place of what runs have read`,
    happens: "no run writes, or what it writes waits",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      for (const place of Object.values(obstacles).slice(0, 4)) {
        const { path } = stage.record("runs", "trust");
        mkdirSync(dirname(path), { recursive: true });
        inPlaceOf(path, place);
        expect(["STORAGE_UNSAFE", "WRITE_PENDING"]).toContain(await stage.unchanged(() => launder(stage)));
      }
    },
  },
  {
    attack: "the record of what runs have read names a class that there is not, or a field too much",
    happens: "waits: what cannot be read is trusted least",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      for (const odd of [{ trust: "trusted" }, { note: "x" }, { atMs: "now" }, { run: 7 }]) {
        stage.record("runs", "trust").write([{ run: "r", trust: "owner_edit", atMs: 1, ...odd }]);
        await stage.waits(() => stage.save("summary", "In short: pay", model("new")));
      }
    },
  },
  {
    attack: "the history is removed",
    happens: "waits: files whose history is lost are trusted least",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      await stage.restart();
      rmSync(join(stage.home(), ".memcell/history"), { recursive: true });
      expect(await stage.unchanged(() => launder(stage))).toBe("WRITE_PENDING");
    },
  },
  {
    attack: "an old copy of the whole folder is put back, in which the poison is active",
    happens: "it has the trust that it had: who reads it waits",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      await stage.restart();
      const copy = `${stage.home()}-copy`;
      cpSync(stage.home(), copy, { recursive: true });
      const lax = await stage.lax();
      await lax.call("UpdateUserMemory", { action: "delete", name: "page" }, user);
      await stage.restart();
      rmSync(stage.home(), { recursive: true });
      renameSync(copy, stage.home());
      expect(await stage.unchanged(() => launder(stage))).toBe("WRITE_PENDING");
    },
  },
  {
    attack: "an old poisoned file is put back, or moved to another name, and a call then edits it",
    happens: "the edit has the trust of the page",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      const page = join(stage.home(), "memory/page.md");
      renameSync(page, join(stage.home(), "memory/note.md"));
      const lax = await stage.lax();
      await lax.call(
        "UpdateUserMemory",
        { action: "upsert", name: "note", type: "user", description: "x", body: "y" },
        user,
      );
      expect(await stage.trustOf("note.md")).toBe("tool_external");
    },
  },
  {
    attack: "somebody changes the trust of a version in the history",
    happens: "waits: the versions do not follow each other any more, so no file has any trust, and the doctor tells",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      await stage.save("note", "Fine", user);
      await stage.restart();
      const folder = join(stage.home(), ".memcell/history");
      const file = join(folder, readdirSync(folder).find((name) => name.startsWith("versions-")) ?? "");
      writeFileSync(file, readFileSync(file, "utf8").replaceAll("tool_external", "owner_edit"));
      expect(JSON.stringify(await stage.runtime.upkeep.inspect(owner))).toContain("history");
      expect(await stage.unchanged(() => launder(stage))).toBe("WRITE_PENDING");
    },
  },
]);
