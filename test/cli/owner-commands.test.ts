/**
 * The commands of a memory's owner: trash, pending, history, diff, restore, undo and stores. What they add to the operations:
 * tables, exit codes, and changes that only --yes makes.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { CallContext, Runtime } from "memcell";
import { expect, test } from "vitest";

import { shownTime } from "../../host/owner/told.ts";
import { memcell } from "../stage/command.ts";
import { entryText, indexLine } from "../support/memory-files.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { waitingId } from "../support/waiting-id.ts";
import { cellsIn, commandStage, errorOf } from "./command-stage.ts";
import type { CommandStage } from "./command-stage.ts";

const startMs = Date.now();
const time = shownTime(new Date(startMs));
const source = "https://example.com/%1b[31mred";
/** Where that is from, in a person's words. */
const outside = "not approved: from a web page (example.com)";
const good: CallContext = { userId: "alice", origin: { class: "direct_user", run: "good" } };
const bad: CallContext = { userId: "alice", origin: { class: "tool_external", run: "bad", source } };

function stage(files: Readonly<Record<string, string>> = {}) {
  const at = commandStage({ alice: files });
  return Object.assign(at, { run: (name: string, ...args: string[]) => at.memcell(name, "--user", "alice", ...args) });
}

/** What programs do before the commands. */
async function withRuntime({ dataDir }: CommandStage, policy: ReturnType<typeof trustingPolicy>) {
  const runtime: Runtime = await createRuntime({ dataDir, policy, threadsMax: 1, clock: () => startMs });
  const save = (name: string, body: string, ctx: CallContext) =>
    runtime.call(
      "UpdateUserMemory",
      { action: "upsert", name, type: "user", description: body.split("\n")[0], body },
      ctx,
    );
  return { save, [Symbol.asyncDispose]: () => runtime.close() };
}

test("trash lists and restores; without --yes a purge only says what would go", async () => {
  const [old, late] = ["20200102T030405678Z", "29990102T030405678Z"];
  const trashed = { [`memory/trash/a.${old}.md`]: "x", [`memory/trash/b.${late}.md`]: entryText("b") };
  using at = stage({ ...trashed, "memory/MEMORY.md": "" });
  const row = [expect.stringMatching(/^2 Jan 2020/) as string, "1", "memory", `a.${old}.md`];
  expect(cellsIn((await at.run("trash", "list")).stdout)).toContainEqual(row);
  const purge = ["purge", "--older-than", "30d"];
  const nothing = "Nothing was changed; use --yes to purge\n";
  for (const more of [[], ["--dry-run"]]) {
    const { status, stdout, stderr } = await at.run("trash", ...purge, ...more);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.endsWith(nothing)).toBe(true);
    expect(cellsIn(stdout).slice(1, -1)).toEqual([row]);
  }
  const asJson = await at.run("trash", ...purge, "--json");
  expect(JSON.parse(asJson.stdout)).toHaveLength(1);
  expect(asJson.stderr).toBe(nothing);
  expect(await at.run("trash", "restore", "b")).toMatchObject({ status: 0 });
  expect(cellsIn((await at.run("trash", ...purge, "--yes")).stdout).slice(1)).toEqual([row]);
  expect(at.files("alice")).toEqual({ "memory/MEMORY.md": indexLine("b"), "memory/b.md": entryText("b") });
});

test("pending lists and shows what waits, applies exactly that, shows again what has changed, and drops what is rejected", async () => {
  using at = stage();
  let id: string;
  {
    await using programs = await withRuntime(at, trustingPolicy({}));
    await programs.save("menu", "Bread\nand wine", good);
    id = waitingId(await programs.save("menu", "Soup\nand wine", bad));
  }
  expect(cellsIn((await at.run("waiting")).stdout)).toEqual([
    [id.slice(-32, -16)],
    ["", time, "memory/menu.md"],
    ["", `${outside}, run bad`],
    ["1 suggestion; to decide on a page:"],
    ["", expect.stringMatching(/^memcell open /)],
  ]);
  expect(await at.run("pending", "list")).toEqual(await at.run("waiting"));
  const { stdout } = await at.run("pending", "show", id.slice(-32, -16));
  expect(stdout).toContain(`id       ${id}\n`);
  expect(stdout).toContain(`origin   ${outside}, run bad\n`);
  expect(stdout).toContain("\nreplace memory/menu.md\n@@ ");
  expect(stdout).toMatch(/\n-Bread\n\+Soup\n and wine\n/);
  expect(stdout).not.toContain("MEMORY.md");
  {
    await using programs = await withRuntime(at, trustingPolicy({}));
    await programs.save("menu", "Cake\nand wine", good);
  }
  const shown = await at.run("approve", id);
  expect(shown).toMatchObject({ status: 1, stdout: expect.stringMatching(/^Nothing was applied: .*It waits as w-/) });
  expect(shown.stdout).toMatch(/\n-Cake\n\+Soup\n/);
  const [again] = JSON.parse((await at.run("pending", "list", "--json")).stdout) as [{ id: string }];
  expect(await at.run("pending", "approve", again.id)).toMatchObject({
    status: 0,
    stdout: `Applied ${again.id}: memory/menu.md\n`,
  });
  expect((await at.run("pending", "list")).stdout).toBe("Nothing waits\n");
  expect((await at.run("sources")).stdout).toMatch(/^source .*\n {2}.*, approved by you$/m);
  const { stderr } = await at.run("diff", "menu", "999");
  expect(stderr).toMatch(/: version 999 is none of this file; its versions: 1, \d+, \d+\n$/);
  expect(errorOf(await at.run("pending", "reject", id, "--json")).code).toBe("ENTRY_NOT_FOUND");
});

test("approve --edit applies what the person has written in place of a suggestion's text, or nothing", async () => {
  using at = stage();
  await using programs = await withRuntime(at, trustingPolicy({}));
  const approve = (id: string, stdin: string, ...more: string[]) =>
    memcell(["approve", id, "--edit", "--data", at.dataDir, ...more], { stdin });
  const wait = async (name: string) => waitingId(await programs.save(name, "Soup", bad));
  const id = await wait("menu");
  const [{ files }] = JSON.parse((await at.memcell("waiting", "--json")).stdout) as [
    { files: { isDerived: boolean; text: string }[] },
  ];
  const shown = files.find(({ isDerived }) => !isDerived)?.text ?? "";
  const text = shown.replaceAll("Soup", "Bread");
  const empty = "memcell approve: the text is empty, so nothing is applied; memcell reject ID drops the suggestion\n";
  expect(await approve(id, " \n")).toMatchObject({ status: 2, stderr: expect.stringContaining(empty) as string });
  expect(errorOf(await approve(id, "---\nname: [\n---\n", "--json")).code).toBe("ENTRY_UNREADABLE");
  expect(errorOf(await approve(id, text, "--read-only", "--json")).code).toBe("READ_ONLY");
  expect((await at.memcell("waiting")).stdout).toContain(id.slice(-32, -16));
  const applied = { status: 0, stderr: "", stdout: `Applied ${id} as you have corrected it: memory/menu.md\n` };
  expect(await approve(id, text)).toEqual(applied);
  expect(at.files("alice")["memory/menu.md"]).toBe(text);
  // The command has a clock of its own, in which a minute can have ended.
  const row = ["1", "corrected", "menu", "from a web page (example.com), corrected, run bad"];
  expect(cellsIn((await at.memcell("history", "menu")).stdout)[1]?.slice(1)).toEqual(row);
  for (const typed of [id, id.slice(-32, -16)])
    expect(errorOf(await approve(typed, text, "--json")).message).toContain(`"${id}" was approved at`);
  const same = await wait("same");
  const unchanged = await approve(same, shown.replaceAll("menu", "same"));
  expect(unchanged).toMatchObject({ status: 0, stdout: `Applied ${same}: memory/same.md\n` });
});

test("history, diff and restore show an entry's versions and put one back", async () => {
  using at = stage();
  {
    await using programs = await withRuntime(at, trustingPolicy({ active: "tool_external" }));
    await programs.save("editor", "Helix", good);
    await programs.save("editor", "Vim", bad);
  }
  const rows = [
    ["when", "version", "change", "what", "where it comes from"],
    [time, "2", "changed", "editor", `${outside}, run bad`],
    [time, "1", "new", "editor", "told by you, run good"],
  ];
  expect(cellsIn((await at.run("history", "editor")).stdout)).toEqual(rows);
  // The index is in no list for a person.
  expect(cellsIn((await at.run("history")).stdout)).toEqual(rows);
  const all = JSON.parse((await at.run("history", "--json")).stdout) as { path: string; callId: string }[];
  expect(new Set(all.map(({ path }) => path))).toEqual(new Set(["editor.md", "MEMORY.md"]));
  const changed = await at.run("diff", "editor", "before", "2");
  expect(changed.stdout.split("\n").filter((line) => /^[-+]/.test(line))).toEqual([
    "--- memory/editor.md (before version 2)",
    "+++ memory/editor.md (version 2)",
    "-description: Helix",
    "+description: Vim",
    "-Helix",
    "+Vim",
  ]);
  expect(await at.run("restore", "editor", "--version", "1")).toMatchObject({
    status: 0,
    stdout: "memory/editor.md: replaced, as in version 1\n",
  });
  const same = await at.run("diff", "editor", "1", "--json");
  expect(JSON.parse(same.stdout)).toMatchObject({ path: "editor.md", lines: [] });
  for (const [name = "", ...args] of [
    ["history", "none"],
    ["diff", "none", "1"],
    ["restore", "editor", "--version", "9"],
    ["undo", "--run", "none", "--yes"],
  ]) {
    expect(errorOf(await at.run(name, ...args, "--json")).code).toBe("ENTRY_NOT_FOUND");
  }
  expect(errorOf(await at.run("history", "--scope", "x", "--json")).code).toBe("INPUT_INVALID");
});

const planned =
  "restore memory/editor.md\n" +
  "trash memory/new.md\n" +
  "update memory/MEMORY.md\n" +
  "keep memory/shared.md: changed since by version 6\n" +
  "1 restored, 1 to the trash, 1 kept\n";

test("undo shows its plan and changes nothing, does it with --yes, and then has nothing left to do", async () => {
  using at = stage();
  {
    await using programs = await withRuntime(at, trustingPolicy({ active: "tool_external" }));
    for (const name of ["editor", "shared"]) await programs.save(name, "Helix", good);
    for (const name of ["editor", "shared", "new"]) await programs.save(name, "Vim", bad);
    await programs.save("shared", "Emacs", good);
  }
  const before = treeFingerprint(at.dataDir);
  const stdout = `${planned}Nothing was changed; use --yes to undo\n`;
  expect(await at.run("undo", "--run", "bad")).toEqual({ status: 0, stderr: "", stdout });
  const json = await at.run("undo", "--source", source, "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ restored: ["memory/editor.md"], trashed: ["memory/new.md"] });
  expect(treeFingerprint(at.dataDir)).toEqual(before);
  // Others have built on one of the files, so not all of it is gone.
  expect(await at.run("undo", "--run", "bad", "--yes")).toMatchObject({ status: 1, stdout: `${planned}Undone\n` });
  const index = readFileSync(join(at.home("alice"), "memory/MEMORY.md"), "utf8");
  expect(index).toBe("- [editor](editor.md) — Helix\n- [shared](shared.md) — Emacs\n");
  const again = await at.run("undo", "--run", "bad", "--yes", "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({ restored: [], trashed: [], derived: [], left: [] });
  expect(await at.run("undo", "--since", "2h", "--yes")).toMatchObject({ status: 0 });
  expect(Object.keys(at.files("alice")).filter((path) => path === "memory/editor.md")).toEqual([]);
});

test("stores grants until it is revoked, lists and shows it, and a grantee leaves and rejoins", async () => {
  using at = stage();
  const [alices, planners, critics] = [storeIdOf("alice"), storeIdOf("planner"), storeIdOf("critic")];
  const stores = (user: string, ...args: string[]) => at.memcell("stores", ...args, "--user", user);
  const said = async (...args: [string, ...string[]]): Promise<string> => (await stores(...args)).stdout;
  expect(await said("alice", "grant", "planner")).toBe(`Granted to the user with the store ${planners}\n`);
  const longer = ["grant", critics, "--level", "search", "--expires-in", "30d"];
  expect(await said("alice", ...longer)).toBe(`Granted to the user with the store ${critics}\n`);
  expect(cellsIn(await said("planner", "list"))).toEqual([
    ["store", "level", "why"],
    [planners, "readwrite", "self"],
    [alices, "read", "grant"],
  ]);
  const [store, heading, ...grants] = cellsIn(await said("alice", "show"));
  expect([store, heading]).toEqual([[`Store ${alices}`], ["grantee", "level", "granted", "expires"]]);
  const day = expect.stringMatching(/^\d+ \w+ 20\d\d, \d\d:\d\d$/) as string;
  expect(grants).toHaveLength(2);
  expect(grants).toContainEqual([planners, "read", day, "never"]);
  expect(grants).toContainEqual([critics, "search", day, day]);
  expect(JSON.parse(await said("critic", "list", "--json"))).toMatchObject([{}, { id: alices, source: "grant" }]);
  expect(await said("planner", "leave", alices)).toBe("Left\n");
  expect(await said("planner", "list")).not.toContain(alices);
  expect(await said("planner", "leave", alices)).toBe("There was no grant, or the store is left already\n");
  expect(await said("planner", "rejoin", alices)).toBe("Rejoined\n");
  expect(await said("planner", "list")).toContain(alices);
  expect(await said("planner", "rejoin", alices)).toBe("The store was not left\n");
  expect(await said("alice", "revoke", planners)).toBe("Revoked\n");
  // A user can be called as a command is.
  await stores("clear", "grant", "alice");
  const ofClear = await at.memcell("stores", "--user", "clear", "revoke", "alice");
  expect(ofClear.stdout).toBe("Revoked\n");
  expect(await said("alice", "revoke", "planner")).toBe("There was no grant\n");
  expect(await said("planner", "list")).not.toContain(alices);
  expect(JSON.parse(await said("bob", "show", "--json"))).toEqual([]);
  expect(errorOf(await stores("alice", "grant", "alice", "--json")).code).toBe("INPUT_INVALID");
});

test("a person lists, shows, edits, confirms and forgets by the names that people type, without naming the only user", async () => {
  using at = commandStage();
  {
    await using programs = await withRuntime(at, trustingPolicy({ active: "tool_external" }));
    await programs.save("preferred-editor", "Vim", bad);
    await programs.save("menu", "Bread", good);
  }
  const day = time.slice(0, time.indexOf(","));
  expect(cellsIn((await at.memcell("list")).stdout)).toEqual([
    ["name", "written", "where it comes from", "what it is about"],
    ["preferred-editor", day, outside, "Vim"],
    ["menu", day, "told by you", "Bread"],
  ]);
  for (const name of ["preferred-editor", "Preferred editor", "PREFERRED_EDITOR", "memory/preferred-editor.md"]) {
    const { stdout } = await at.memcell("show", name);
    expect(stdout).toContain(`preferred-editor: ${outside}, ${time}, run bad\n\n  ---\n`);
  }
  const misspelt = await at.memcell("show", "prefered-editor");
  expect(misspelt).toEqual({
    status: 1,
    stdout: "",
    stderr: 'memcell show: Cannot show "prefered-editor": there is no such entry; did you mean "preferred-editor"?\n',
  });
  expect((await at.memcell("sources")).stdout.split("\n")).toEqual([
    "run bad",
    `  ${time}: 1 change in 1 file, not approved: from outside`,
    `source ${source}`,
    `  ${time}: 1 change in 1 file, not approved: from outside`,
    "run good",
    `  ${time}: 1 change in 1 file, told by you`,
    "",
  ]);
  const before = treeFingerprint(at.dataDir);
  const shown = (await at.memcell("confirm", "preferred-editor")).stdout;
  expect(shown).toContain("Nothing was changed; use --yes to confirm");
  expect(treeFingerprint(at.dataDir)).toEqual(before);
  // What has not been read cannot be confirmed.
  expect(errorOf(await at.memcell("confirm", "preferred-editor", "--yes", "--json")).code).toBe("INPUT_INVALID");
  const other = ["--if-sha256", "0".repeat(16), "--yes"];
  expect(errorOf(await at.memcell("confirm", "preferred-editor", ...other, "--json")).code).toBe("VERSION_CONFLICT");
  expect(treeFingerprint(at.dataDir)).toEqual(before);
  const [, hash = ""] =
    /^If it is right:\n {2}memcell confirm --if-sha256 (\w{16}) --yes --data \S+ preferred-editor$/m.exec(shown) ?? [];
  const confirmed = await at.memcell("confirm", "preferred-editor", "--if-sha256", hash, "--yes");
  expect(confirmed.stdout).toBe("Confirmed preferred-editor\n");
  expect(cellsIn((await at.memcell("history", "preferred-editor")).stdout)[1]?.slice(2)).toEqual([
    "confirmed",
    "preferred-editor",
    "by you",
  ]);
  const text = entryText("menu").replace("description: d", "description: Soup");
  expect(await memcell(["edit", "menu", "--data", at.dataDir], { stdin: text })).toMatchObject({
    status: 0,
    stdout: "menu: saved\n",
  });
  expect(at.files("alice")["memory/menu.md"]).toBe(text);
  const empty = await memcell(["edit", "menu", "--data", at.dataDir], { stdin: " \n" });
  expect(empty).toMatchObject({ status: 2, stderr: expect.stringContaining("the text is empty, so nothing is saved") });
  expect((await at.memcell("forget", "menu")).stdout).toMatch(/\n {2}memcell trash restore --data \S+ menu\n$/);
  expect(cellsIn((await at.memcell("list")).stdout).map(([name]) => name)).toEqual(["name", "preferred-editor"]);
  // Also what is gone, and versions, by the names that people type.
  expect(cellsIn((await at.memcell("history", "Menu")).stdout)[1]?.slice(2, 4)).toEqual(["gone", "menu"]);
  expect(errorOf(await at.memcell("diff", "menus", "1", "--json")).message).toContain('did you mean "menu"?');
  expect((await at.memcell("trash", "restore", "MENU")).stdout).toBe("Restored memory/menu.md\n");
  expect((await at.memcell("users")).stdout).toBe("alice\n");
  await at.memcell("stores", "grant", "alice", "--user", "bob");
  const several = await at.memcell("list");
  expect(several).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(
      '2 users are stored here; expected --user with one of them, such as "alice", "bob"',
    ),
  });
  const env = { ...process.env, MEMCELL_SERVE_USER: "alice" };
  expect((await memcell(["list", "--data", at.dataDir], { env })).stdout).toContain("preferred-editor");
});

test("a note is named as its owner has named it, and found however that is typed", async () => {
  const path = "Projekte/Über mich.md";
  using at = stage({ [`memory/${path}`]: "# Ich\n", "memory/MEMORY.md": "" });
  const ways = [path, path.normalize("NFD"), "Projekte/%C3%9Cber%20mich.md", `memory/${path}`];
  for (const typed of ways)
    expect(await at.run("show", typed)).toMatchObject({ status: 0, stdout: expect.stringMatching(`^${path}: `) });
  for (const typed of ways.slice(0, 3)) {
    expect((await at.run("forget", typed)).stdout).toContain(`Moved ${path} to the trash; `);
    expect(cellsIn((await at.run("trash", "list")).stdout)[1]?.[3]).toMatch(/^Projekte\/Über mich\.\d{8}T\d{9}Z\.md$/);
    expect((await at.run("trash", "restore", typed)).stdout).toBe(`Restored memory/${path}\n`);
    expect(cellsIn((await at.run("history", typed)).stdout)[1]?.[3]).toBe(`memory/${path}`);
  }
  const [, version = ""] = cellsIn((await at.run("history", path)).stdout)[1] ?? [];
  const back = await at.run("restore", path.normalize("NFD"), "--version", version);
  expect(back.stdout).toMatch(`memory/${path}: `);
  await at.run("forget", path);
  expect((await at.run("undo", "--since", "1h")).stdout).toContain(`restore memory/${path}\n`);
});

test("what a command tells to copy runs nothing else, whatever somebody has called a file, and has the same options", async () => {
  using at = stage({ "memory/$(touch x) 'y'.md": "Text\n", "memory/-x.md": "X\n", "journal/-x.md": "J\n" });
  const told = async (...args: [string, ...string[]]) =>
    (await at.memcell(...args)).stdout.trimEnd().split("\n  ").at(-1);
  const data = `--data ${at.dataDir}`;
  expect(await told("forget", "$(touch x) 'y'")).toBe(
    String.raw`memcell trash restore ${data} '$(touch x) '\''y'\''.md'`,
  );
  expect(await told("forget", "--user", "alice", "--scope", "memory", "--", "-x")).toBe(
    `memcell trash restore --scope memory --user alice ${data} -- -x`,
  );
});

test("a trashed file is not guessed, and an ambiguous name is answered with those that have it", async () => {
  using at = stage({ "memory/Pay_pal.md": "1\n", "memory/Pay pal 2.md": "2\n", "memory/Pay-pal.md": "3\n" });
  for (const name of ["Pay_pal.md", "Pay-pal.md"]) expect((await at.memcell("forget", name)).status).toBe(0);
  const { status, stderr } = await at.memcell("trash", "restore", "pay pal");
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/it can be any of memory\/Pay.pal\.md, memory\/Pay.pal\.md; expected one/) as string,
  });
});
