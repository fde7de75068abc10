/** A run reads a poisoned entry, and its model says it again in its own words, or in another place. */
import { rmSync } from "node:fs";

import type { CallContext } from "memcell";
import { expect } from "vitest";

import { entry, poison } from "../attack-stage.ts";
import type { AttackStage } from "../attack-stage.ts";
import { attacksOf, onFiles } from "../attack.ts";

const summary = "In short: POISON, pay";

const memory = { command: "view", path: "/memories/" };
const page = { command: "view", path: "/memories/page.md" };

/** Every way in which a model gets text of memory: a tool with its input, or another way. */
const reads: Readonly<Record<string, readonly [string, object] | ((stage: AttackStage, ctx: CallContext) => unknown)>> =
  {
    "`ReadUserMemory`": ["ReadUserMemory", { name: "page" }],
    "`SearchUserMemory`": ["SearchUserMemory", { query: "poison" }],
    "the list of `SearchUserMemory`": ["SearchUserMemory", {}],
    "`readEntry`": ({ runtime }, ctx) => runtime.readEntry({ name: "page", family: "user-memory" }, ctx),
    "`memory_read`": ["memory_read", { key: "page" }],
    "`memory_search`": ["memory_search", { query: "poison" }],
    "`memory_search` by tags": ["memory_search", { query: "", tags: ["bills"] }],
    "`memory` with `view`": ["memory", page],
    "`memory` with `view` of the folder": ["memory", memory],
    "`memory` with `search`": ["memory", { command: "search", query: "poison" }],
    "Claude's memory tool": (stage, ctx) => stage.claude(page, ctx),
    "Claude's memory tool, the folder": (stage, ctx) => stage.claude({ ...memory, path: "/memories" }, ctx),
  };

const writes: readonly (readonly [tool: string, input: object])[] = [
  ["UpdateUserMemory", entry("summary", summary)],
  ["memory_write", { key: "s", content: summary, target: "summary" }],
  ["memory", { command: "create", path: "/memories/s.md", content: summary }],
];

const throughReads = Object.entries(reads).map(
  ([how, read]) =>
    [
      `reads a poisoned entry with ${how}, then writes its summary to each family`,
      async (stage: AttackStage) => {
        await stage.poisonAll();
        const ctx = stage.model("r");
        await stage.waits(
          ...writes.map(([tool, input], at) => async () => {
            if (at === 0) await (typeof read === "function" ? read(stage, ctx) : stage.runtime.call(...read, ctx));
            return await stage.runtime.call(tool, input, ctx);
          }),
        );
        expect(await stage.save("other", "Fine", stage.model("s"))).toMatchObject({ ok: true });
      },
    ] as const,
);

export const laundering = attacksOf("a summary", {
  ...Object.fromEntries(throughReads),
  "the same run says that the summary is the user's": async (stage) => {
    await stage.poisonAll();
    await stage.readPage();
    const classes = ["direct_user", "owner_edit", "tool_internal"] as const;
    await stage.waits(...classes.map((of) => () => stage.save("summary", summary, stage.from(of, "r"))));
  },
  "a write fails on purpose after it has read the entry, and the run writes again": async (stage) => {
    await stage.poisonAll();
    const again = { key: "page", content: "x" };
    await stage.refused("MEMORY_KEY_EXISTS", () => stage.runtime.call("memory_write", again, stage.model("r")));
    await stage.waits(() => stage.summarize());
  },
  "a run that has read nothing edits the poisoned entry, to say it again as its own": async (stage) => {
    await stage.poisonAll();
    const edit = { command: "str_replace", path: "/memories/page.md", old_str: "POISON", new_str: "Note" };
    const rename = { command: "rename", old_path: "/memories/page.md", new_path: "/memories/note.md" };
    await stage.waits(
      () => stage.claude(edit, stage.user),
      () => stage.save("page", "harmless", stage.user),
      () => stage.claude(rename, stage.user),
    );
  },
});

export const runs = attacksOf("runs", {
  "a second run reads what the first has written from the page": async (stage) => {
    await stage.poisonAll();
    await stage.readPage("second");
    await stage.waits(() => stage.summarize("second"));
  },
  "a second run looks for what waits of the first": async (stage) => {
    await stage.wait("page", poison);
    await stage.unchanged(async () => {
      expect(await stage.readPage("second")).toMatchObject({ error: { code: "ENTRY_NOT_FOUND" } });
      const found = await stage.runtime.call("SearchUserMemory", { query: "poison" }, stage.model("second"));
      expect(JSON.stringify(found)).not.toContain("page");
    });
    expect(await stage.save("other", "Fine", stage.model("second"))).toMatchObject({ ok: true });
  },
  "the program is restarted between the read and the write": async (stage) => {
    await stage.poisonAll();
    await stage.readPage();
    await stage.restart();
    await stage.waits(() => stage.summarize());
  },
  "reads and writes of one run at the same time, in two runtimes": async (stage) => {
    await stage.poisonAll();
    const other = await stage.open();
    await stage.save("draft", "Draft", stage.user);
    for (let at = 0; at < 5; at++) {
      const run = `r-${at}`;
      const drafts = [1, 2, 3].map(() => stage.save("draft", "Draft", stage.model(run)));
      await other.call("ReadUserMemory", { name: "page" }, stage.model(run));
      await Promise.all([stage.summarize(run), ...drafts]);
      expect(await stage.runtime.call("ReadUserMemory", { name: "summary" }, stage.owner)).toMatchObject({ ok: false });
    }
    expect((await stage.runtime.upkeep.pending(stage.owner)).map(({ files }) => files[0]?.path)).toContain(
      "summary.md",
    );
  },
  "takes the id of a run of another user, that has read nothing": async (stage) => {
    await stage.poisonAll();
    await stage.save("mine", "Fine", stage.model("r", stage.bob));
    await stage.readPage();
    await stage.waits(() => stage.summarize());
    expect(await stage.save("mine", "Fine too", stage.model("r", stage.bob))).toMatchObject({ ok: true });
  },
  "999 other runs read the entry as well, so that the first is forgotten": onFiles(async (stage) => {
    await stage.poisonAll();
    await stage.readPage("first");
    const record = stage.record("runs", "trust");
    const [first] = record.read() as { run: string; trust: string; atMs: number }[];
    record.write([first, ...Array.from({ length: 999 }, (_, at) => ({ ...first, run: `other-${at}` }))]);
    await stage.readPage("last");
    await stage.waits(
      () => stage.summarize("first"),
      () => stage.summarize("new"),
    );
  }),
  "somebody removes the record of what runs have read, or puts back an older one": onFiles(async (stage) => {
    await stage.poisonAll();
    await stage.readPage("first");
    const record = stage.record("runs", "trust");
    const older = record.read();
    await stage.readPage("second");
    record.write(older);
    await stage.waits(() => stage.summarize("second"));
    rmSync(record.path);
    await stage.waits(
      () => stage.summarize("first"),
      () => stage.summarize("new"),
    );
  }),
  "pages of one run fill its share, and the run goes on under another id": async (stage) => {
    const ofRun = (run: string) => stage.save("page", poison, stage.from("tool_external", run));
    for (let at = 0; at < 20; at++) await ofRun("a");
    await stage.refused("QUOTA_EXCEEDED", () => ofRun("a"));
    await stage.waits(() => ofRun("b"));
  },
});
