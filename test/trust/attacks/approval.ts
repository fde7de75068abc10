/** The owner approves one thing, and another one gets into memory. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import type { PendingWrite } from "../../../host/gate/pending-write.ts";
import { from, model, owner, poison, user, web } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import { attacksOf } from "../attack.ts";

const bodyOf = async ({ runtime }: AttackStage, name: string): Promise<unknown> => {
  const answer = await runtime.call("ReadUserMemory", { name }, owner);
  return answer.ok ? (answer.data as { body: string }).body : answer.error.code;
};

const approve = ({ runtime }: AttackStage, id: string, ctx = owner) => runtime.upkeep.approve(ctx, id);

const refused = (code: string) => ({ code }) as unknown as Error;

export const approval = attacksOf("an approval", [
  {
    attack: "the entry is changed after the owner has looked",
    happens: "nothing is applied: it is shown again, under another id",
    play: async (stage) => {
      const id = await stage.wait("billing", "Bills are paid on Tuesdays");
      await stage.runtime.upkeep.showPending(owner, id);
      await stage.save("billing", "Bills are not paid", user);
      const again = await stage.unchanged(() => approve(stage, id));
      expect(again).toMatchObject({ applied: false, write: { isCurrent: true } });
      await expect(approve(stage, id)).rejects.toMatchObject(refused("ENTRY_NOT_FOUND"));
    },
  },
  {
    attack: "two writes to one entry wait, a harmless one and a poisoned one, and the harmless one is approved",
    happens: "the poisoned one waits, and is shown beside the new text",
    play: async (stage) => {
      const [harmless, other] = [await stage.wait("menu", "Soup"), await stage.wait("menu", poison)];
      expect(await approve(stage, harmless)).toMatchObject({ applied: true });
      expect(await bodyOf(stage, "menu")).toBe("Soup");
      const again = await stage.unchanged(() => approve(stage, other));
      expect(again).toMatchObject({ applied: false });
      expect(JSON.stringify(again)).toContain("Soup");
    },
  },
  {
    attack: "the id is approved several times: at once, in two runtimes, and later",
    happens: "it is applied once",
    play: async (stage) => {
      const id = await stage.wait("menu", "Soup");
      const other = await stage.open();
      const answers = await Promise.allSettled([
        approve(stage, id),
        approve(stage, id),
        other.upkeep.approve(owner, id),
        other.upkeep.approve(owner, id),
      ]);
      expect(answers.filter((each) => each.status === "fulfilled" && each.value.applied)).not.toEqual([]);
      const versions = await stage.runtime.upkeep.history(owner, { path: "menu.md" });
      expect(versions).toHaveLength(1);
      await stage.unchanged(() => expect(approve(stage, id)).rejects.toMatchObject(refused("ENTRY_NOT_FOUND")));
    },
  },
  {
    attack: "a crash, or somebody, leaves the record of an approved write, and the owner has changed the entry since",
    happens: "a second approval changes nothing",
    on: "files",
    play: async (stage) => {
      const id = await stage.wait("menu", "Soup");
      const record = stage.record("pending", id);
      const kept = record.read() as PendingWrite;
      expect(await approve(stage, id)).toMatchObject({ applied: true });
      const again = () => expect(approve(stage, id)).rejects.toMatchObject(refused("ENTRY_NOT_FOUND"));
      record.write(kept);
      await stage.unchanged(again);
      await stage.save("menu", "Cake", user);
      record.write(kept);
      await stage.unchanged(again);
      const other = stage.forge({ ...kept, callId: "another" });
      expect(await stage.unchanged(() => approve(stage, other))).toMatchObject({ applied: false });
    },
  },
  {
    attack: "the write of another user is approved, shown or rejected",
    happens: "no such write waits",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      const mallory = { userId: "mallory" };
      for (const decide of ["approve", "reject", "showPending"] as const) {
        await stage.unchanged(() =>
          expect(stage.runtime.upkeep[decide](mallory, id)).rejects.toMatchObject(refused("ENTRY_NOT_FOUND")),
        );
      }
      expect(await stage.runtime.upkeep.pending(owner)).toHaveLength(1);
      expect(await stage.runtime.memoryEntries(mallory)).toEqual([]);
    },
  },
  {
    attack: "ids that name other files",
    happens: "no such write waits",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      for (const odd of [`../pending/${id}`, `${id}.json`, id.toUpperCase(), `${id}\0`, "", "*", "../runs/trust"]) {
        await stage.unchanged(() => expect(approve(stage, odd)).rejects.toMatchObject(refused("ENTRY_NOT_FOUND")));
      }
    },
  },
  {
    attack: "the program approves in a call that it says is the model's, or comes from a page",
    happens: "is refused, and the write waits on",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      for (const ctx of [web, model("r"), { ...owner, exposedTo: ["tool_external"] as const }]) {
        await stage.unchanged(() => expect(approve(stage, id, ctx)).rejects.toMatchObject(refused("WRITE_REFUSED")));
      }
      expect(await stage.runtime.upkeep.pending(owner)).toMatchObject([{ id }]);
      expect(await approve(stage, id, from("direct_user", "chat"))).toMatchObject({ applied: true });
    },
  },
  {
    attack: "the plugin is not loaded any more",
    happens: "nothing is applied, and the write waits on",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      const other = await stage.open({ plugins: ["journal"] });
      await stage.unchanged(() =>
        expect(other.upkeep.approve(owner, id)).rejects.toMatchObject(refused("TOOL_UNKNOWN")),
      );
      expect(await stage.runtime.upkeep.pending(owner)).toHaveLength(1);
    },
  },
  {
    attack: "an update of the plugin writes another text for the same call",
    happens: "nothing is applied: what it writes now is shown",
    on: "files",
    play: async (stage) => {
      const id = await stage.wait("menu", "Soup");
      // As if the earlier plugin had written its entries in another form.
      const { changes, ...call } = stage.record("pending", id).read() as PendingWrite;
      const earlier = JSON.parse(JSON.stringify(changes).replace("Soup", "SOUP")) as PendingWrite["changes"];
      const forged = stage.forge({ ...call, changes: earlier });
      expect(await stage.unchanged(() => approve(stage, forged))).toMatchObject({ applied: false });
      const [again] = await stage.runtime.upkeep.pending(owner);
      expect(again?.files[0]?.text).toContain("Soup");
    },
  },
  {
    attack: "somebody puts poison into the index before the approval",
    happens: "the entry is as it was shown, and no line of the index is added but its own",
    on: "files",
    play: async (stage) => {
      const id = await stage.wait("menu", "Soup");
      const index = join(stage.home(), "memory/MEMORY.md");
      writeFileSync(index, `${readFileSync(index, "utf8")}- [ghost](ghost.md) — ${poison}\n`);
      const before = readFileSync(index, "utf8");
      const shown = (await stage.runtime.upkeep.showPending(owner, id)).files[0]?.text;
      expect(await approve(stage, id)).toMatchObject({ applied: true });
      expect(readFileSync(join(stage.home(), "memory/menu.md"), "utf8")).toBe(shown);
      expect(readFileSync(index, "utf8").replace("- [menu](menu.md) — About menu\n", "")).toBe(before);
      expect(await stage.runtime.memoryIndex(owner)).not.toContain("POISON");
    },
  },
  {
    attack: "a block is added to a poisoned day of the journal, and the owner approves it",
    happens: "the whole day is shown, with the poison in it, and all of it is approved",
    play: async (stage) => {
      await stage.poisonAll();
      const answer = await stage.runtime.call("memory_write", { key: "fine", content: "Fine" }, user);
      const { pending } = answer as { pending?: { id: string } };
      const shown = await stage.runtime.upkeep.showPending(owner, pending?.id ?? "");
      expect(shown.files[0]?.text).toContain(poison);
      await approve(stage, shown.id);
      expect(await stage.trustOf(shown.files[0]?.path ?? "", "journal")).toBe("owner_edit");
    },
  },
  {
    attack: "a runtime that may write nothing approves",
    happens: "is refused",
    play: async (stage) => {
      const id = await stage.wait("page", poison);
      const other = await stage.open({ readOnly: true });
      await stage.unchanged(() => expect(other.upkeep.approve(owner, id)).rejects.toMatchObject(refused("READ_ONLY")));
    },
  },
]);

type Hook = (write: { files: { length: number }[]; trust: string }) => unknown;

/** Answers of a hook that are no "ok". */
const junk: Readonly<Record<string, Hook>> = {
  "a truthy value": () => true,
  "a list": () => ["ok"],
  "a text object": () => Object("ok"),
  "a promise of another word": async () => "OK",
  "a proxy that throws": () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    ),
  "an error": () => {
    throw new Error("no");
  },
  "no answer in 5 s": () => new Promise(() => {}),
};

const agrees: Hook = () => "ok";

const forges: Hook = (write) => {
  Object.assign(write, { trust: "owner_edit" });
  write.files.length = 0;
  return "ok";
};

export const hooks = attacksOf("the hook `onWrite`", [
  {
    attack: `answers ${Object.keys(junk).join(", ")}`,
    happens: "waits, also what the user says",
    on: "memory",
    play: async (stage) => {
      let hook = agrees;
      await stage.restart({ onWrite: ((write: never) => hook(write)) as never });
      for (const answer of Object.values(junk)) {
        hook = answer;
        await stage.waits(() => stage.save("note", "Fine", user));
      }
    },
  },
  {
    attack: "says ok to what a page says, and changes what it was given",
    happens: "waits: a hook can only hold back",
    play: async (stage) => {
      await stage.restart({ onWrite: forges as never });
      const id = await stage.waits(() => stage.save("page", poison, web));
      expect(await stage.runtime.upkeep.showPending(owner, id)).toMatchObject({ trust: "tool_external" });
      expect((await stage.runtime.upkeep.showPending(owner, id)).files).toHaveLength(2);
    },
  },
]);
