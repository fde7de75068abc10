/** A run reads a poisoned entry, and its model says it again in its own words, or in another place. */
import { rmSync } from "node:fs";

import type { Runtime } from "memcell";
import { expect } from "vitest";

import { waitingId } from "../../support/waiting-id.ts";
import { entry, from, model, owner, poison, user } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import type { Attack } from "../attack.ts";
import { attacksOf } from "../attack.ts";

const summary = "In short: POISON, pay";

type Read = (stage: AttackStage, ctx: ReturnType<typeof model>) => Promise<unknown>;

const read =
  (name: string, input: unknown): Read =>
  ({ runtime }, ctx) =>
    runtime.call(name, input, ctx);

/** Every way in which a model gets text of memory. */
const reads: readonly (readonly [how: string, read: Read])[] = [
  ["`ReadUserMemory`", read("ReadUserMemory", { name: "page" })],
  ["`SearchUserMemory`", read("SearchUserMemory", { query: "poison" })],
  ["the list of `SearchUserMemory`", read("SearchUserMemory", {})],
  ["`readEntry`", ({ runtime }, ctx) => runtime.readEntry({ name: "page", family: "user-memory" }, ctx)],
  ["`memory_read`", read("memory_read", { key: "page" })],
  ["`memory_search`", read("memory_search", { query: "poison" })],
  ["`memory_search` by tags", read("memory_search", { query: "", tags: ["bills"] })],
  ["`memory` with `view`", read("memory", { command: "view", path: "/memories/page.md" })],
  ["`memory` with `view` of the folder", read("memory", { command: "view", path: "/memories/" })],
  ["`memory` with `search`", read("memory", { command: "search", query: "poison" })],
  ["Claude's memory tool", (stage, ctx) => stage.claude({ command: "view", path: "/memories/page.md" }, ctx)],
  ["Claude's memory tool, the folder", (stage, ctx) => stage.claude({ command: "view", path: "/memories" }, ctx)],
];

const writes: readonly (readonly [
  where: string,
  write: (runtime: Runtime, run: string) => ReturnType<Runtime["call"]>,
])[] = [
  ["user memory", (runtime, run) => runtime.call("UpdateUserMemory", entry("summary", summary), model(run))],
  [
    "the journal",
    (runtime, run) => runtime.call("memory_write", { key: "s", content: summary, target: "summary" }, model(run)),
  ],
  [
    "the own store",
    (runtime, run) =>
      runtime.call("memory", { command: "create", path: "/memories/s.md", content: summary }, model(run)),
  ],
];

const throughReads = reads.map(([how, play]): Omit<Attack, "class"> => ({
  attack: `reads a poisoned entry with ${how}, then writes its summary to each family`,
  happens: "waits in each",
  play: async (stage) => {
    await stage.poisonAll();
    await stage.unchanged(() => play(stage, model("r")));
    for (const [, write] of writes) await stage.waits(() => write(stage.runtime, "r"));
    expect(await stage.save("other", "Fine", model("s"))).toMatchObject({ ok: true });
  },
}));

const readPage = (runtime: Runtime, run: string, userId = "alice"): ReturnType<Runtime["call"]> =>
  runtime.call("ReadUserMemory", { name: "page" }, model(run, userId));

export const laundering = attacksOf("a summary", [
  ...throughReads,
  {
    attack: "the same run says that the summary is the user's",
    happens: "waits: the run has read the entry, whoever speaks",
    play: async (stage) => {
      await stage.poisonAll();
      await readPage(stage.runtime, "r");
      for (const of of ["direct_user", "owner_edit", "tool_internal"] as const) {
        await stage.waits(() => stage.save("summary", summary, from(of, "r")));
      }
    },
  },
  {
    attack: "a write fails on purpose after it has read the entry, and the run writes again",
    happens: "waits",
    play: async (stage) => {
      await stage.poisonAll();
      const again = { key: "page", content: "x" };
      await stage.refused("MEMORY_KEY_EXISTS", () => stage.runtime.call("memory_write", again, model("r")));
      await stage.waits(() => stage.save("summary", summary, model("r")));
    },
  },
  {
    attack: "a run that has read nothing edits the poisoned entry, to say it again as its own",
    happens: "waits: the edit itself reads it",
    play: async (stage) => {
      await stage.poisonAll();
      const edit = { command: "str_replace", path: "/memories/page.md", old_str: "POISON", new_str: "Note" };
      await stage.waits(() => stage.claude(edit, user));
      await stage.waits(() => stage.save("page", "harmless", user));
      const rename = { command: "rename", old_path: "/memories/page.md", new_path: "/memories/note.md" };
      await stage.waits(() => stage.claude(rename, user));
    },
  },
]);

export const runs = attacksOf("runs", [
  {
    attack: "a second run reads what the first has written from the page",
    happens: "waits: the entry is as little trusted as the page",
    play: async (stage) => {
      await stage.poisonAll();
      await readPage(stage.runtime, "second");
      await stage.waits(() => stage.save("summary", summary, model("second")));
    },
  },
  {
    attack: "a second run looks for what waits of the first",
    happens: "finds nothing, and is as trusted as before",
    play: async (stage) => {
      await stage.wait("page", poison);
      await stage.unchanged(async () => {
        expect(await readPage(stage.runtime, "second")).toMatchObject({
          ok: false,
          error: { code: "ENTRY_NOT_FOUND" },
        });
        const found = await stage.runtime.call("SearchUserMemory", { query: "poison" }, model("second"));
        expect(JSON.stringify(found)).not.toContain("page");
      });
      expect(await stage.save("other", "Fine", model("second"))).toMatchObject({ ok: true });
    },
  },
  {
    attack: "the program is restarted between the read and the write",
    happens: "waits",
    play: async (stage) => {
      await stage.poisonAll();
      await readPage(stage.runtime, "r");
      await stage.restart();
      await stage.waits(() => stage.save("summary", summary, model("r")));
    },
  },
  {
    attack: "one runtime reads and another one on the same store writes",
    happens: "waits",
    play: async (stage) => {
      await stage.poisonAll();
      await readPage(await stage.open(), "r");
      await stage.waits(() => stage.save("summary", summary, model("r")));
    },
  },
  {
    attack: "reads and writes of one run at the same time, in two runtimes",
    happens: "a write that begins after the read has answered waits",
    play: async (stage) => {
      await stage.poisonAll();
      const other = await stage.open();
      await stage.save("draft", "Draft", user);
      for (let at = 0; at < 5; at++) {
        const run = `r-${at}`;
        const drafts = [1, 2, 3].map(() => stage.save("draft", "Draft", model(run)));
        await readPage(other, run);
        await Promise.all([stage.save("summary", summary, model(run)), ...drafts]);
        expect(await stage.runtime.call("ReadUserMemory", { name: "summary" }, owner)).toMatchObject({ ok: false });
      }
      expect((await stage.runtime.upkeep.pending(owner)).map(({ files }) => files[0]?.path)).toContain("summary.md");
    },
  },
  {
    attack: "takes the id of a run of another user, that has read nothing",
    happens: "waits: each user's runs are apart",
    play: async (stage) => {
      await stage.poisonAll();
      await stage.save("mine", "Fine", model("r", "bob"));
      await readPage(stage.runtime, "r");
      await stage.waits(() => stage.save("summary", summary, model("r")));
      expect(await stage.save("mine", "Fine too", model("r", "bob"))).toMatchObject({ ok: true });
    },
  },
  {
    attack: "999 other runs read the entry as well, so that the first is forgotten",
    happens: "waits: then all runs are trusted as little, for a day",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      await readPage(stage.runtime, "first");
      const record = stage.record("runs", "trust");
      const [first] = record.read() as { run: string; trust: string; atMs: number }[];
      record.write([first, ...Array.from({ length: 999 }, (_, at) => ({ ...first, run: `other-${at}` }))]);
      await readPage(stage.runtime, "last");
      await stage.waits(() => stage.save("summary", summary, model("first")));
      await stage.waits(() => stage.save("summary", summary, model("new")));
    },
  },
  {
    attack: "somebody removes the record of what runs have read, or puts back an older one",
    happens: "waits: the history says which runs have read, and a missing record counts for all",
    on: "files",
    play: async (stage) => {
      await stage.poisonAll();
      await readPage(stage.runtime, "first");
      const record = stage.record("runs", "trust");
      const older = record.read();
      await readPage(stage.runtime, "second");
      record.write(older);
      await stage.waits(() => stage.save("summary", summary, model("second")));
      rmSync(record.path);
      await stage.waits(() => stage.save("summary", summary, model("first")));
      await stage.waits(() => stage.save("summary", summary, model("new")));
    },
  },
  {
    attack: "pages of one run fill its share, and the run goes on under another id",
    happens: "waits: the page is the page in every run",
    play: async (stage) => {
      for (let at = 0; at < 20; at++) waitingId(await stage.save("page", poison, from("tool_external", "a")));
      await stage.refused("QUOTA_EXCEEDED", () => stage.save("page", poison, from("tool_external", "a")));
      await stage.waits(() => stage.save("page", poison, from("tool_external", "b")));
    },
  },
]);
