/**
 * A memory folder under git, with real repositories: what `host/owner/GIT-AND-SYNC.md` says of commits, clones, merges,
 * conflicts and checkouts. Each machine is a data folder of its own.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { cellsIn, commandStage } from "../cli/command-stage.ts";
import type { CommandStage } from "../cli/command-stage.ts";
import { entry, ServeLines } from "../stage/serve-lines.ts";

const settings = ["user.name=Alice", "user.email=alice@example.com", "init.defaultBranch=main", "core.autocrlf=false"];
const config = settings.flatMap((each) => ["-c", each]);
/** Nothing of the person who runs the tests. */
const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

const open: Disposable[] = [];
afterAll(() => open.forEach((each) => each[Symbol.dispose]()));

/** One of alice's machines: memcell and git on the same folder. */
class Machine {
  readonly #at: CommandStage = commandStage({ alice: {} });

  constructor() {
    open.push(this.#at);
  }

  /** A machine with three notes, all of them committed. */
  static async first(attributes = "MEMORY.md merge=union\n"): Promise<Machine> {
    const machine = new Machine();
    for (const name of ["editor", "tea", "garden"]) await machine.saves(name, `The ${name}`);
    machine.writes(".gitignore", "trash/\n");
    machine.writes(".gitattributes", attributes);
    machine.git("init", "--quiet");
    machine.commits();
    return machine;
  }

  static cloneOf(other: Machine, ...options: readonly string[]): Machine {
    const machine = new Machine();
    execFileSync("git", [...config, ...options, "clone", "--quiet", other.folder, machine.folder], { env });
    return machine;
  }

  get dataDir(): string {
    return this.#at.dataDir;
  }

  get folder(): string {
    return join(this.#at.home("alice"), "memory");
  }

  git(...args: readonly string[]): string {
    return execFileSync("git", [...config, "-C", this.folder, ...args], { env, encoding: "utf8", stdio: "pipe" });
  }

  commits(): void {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", "Notes");
  }

  /** Returns whether it merged without a conflict. */
  pulls(from: Machine): boolean {
    const args = [...config, "-C", this.folder, "pull", "--quiet", "--no-rebase", "--no-edit", from.folder, "main"];
    return spawnSync("git", args, { env }).status === 0;
  }

  /** An agent does it. */
  async saves(name: string, body: string): Promise<string> {
    const input = JSON.stringify({ ...entry(name, body), description: body });
    return (await this.#at.memcell("call", "UpdateUserMemory", "--user", "alice", "--input", input)).stdout;
  }

  async reads(name: string): Promise<string> {
    const input = JSON.stringify({ name });
    return (await this.#at.memcell("call", "ReadUserMemory", "--user", "alice", "--input", input)).stdout;
  }

  async says(...args: readonly string[]): Promise<string> {
    return (await this.#at.memcell(...args)).stdout;
  }

  async names(): Promise<string[]> {
    return cellsIn(await this.says("list"))
      .slice(1)
      .map(([name = ""]) => name)
      .toSorted();
  }

  text(file: string): string {
    return readFileSync(join(this.folder, file), "utf8");
  }

  writes(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }
}

const clean = "1 user checked\n";
const linesOf = (index: string): string[] => Array.from(index.matchAll(/^- \[(.*?)\]/gm), ([, name = ""]) => name);

test("a clone has every note and the index, nothing of what memcell keeps beside them, and works at once", async () => {
  const first = await Machine.first();
  expect(first.git("ls-files").trim().split("\n")).toEqual([
    ".gitattributes",
    ".gitignore",
    "MEMORY.md",
    "editor.md",
    "garden.md",
    "tea.md",
  ]);
  const second = Machine.cloneOf(first);
  expect(await second.says("doctor")).toBe(clean);
  expect(cellsIn(await second.says("list")).slice(1)).toEqual([
    ["editor", "edited by hand", "The editor"],
    ["tea", "edited by hand", "The tea"],
    ["garden", "edited by hand", "The garden"],
  ]);
  expect(second.git("status", "--short")).toBe("");
});

test("line ends that git makes on Windows are read, and a note that nobody changes keeps them", async () => {
  const second = Machine.cloneOf(await Machine.first(""), "-c", "core.autocrlf=true");
  expect(second.text("tea.md")).toContain("\r\n");
  await second.saves("editor", "Vim");
  expect(await second.says("doctor")).toBe(clean);
  expect(second.text("tea.md")).toContain("\r\n");
  expect(second.text("MEMORY.md").split("\n").slice(0, -1)).toEqual([
    "- [editor](editor.md) — Vim\r",
    "- [tea](tea.md) — The tea\r",
    "- [garden](garden.md) — The garden\r",
  ]);
});

test("with merge=union, notes of two machines come together, and the doctor leaves one line of each", async () => {
  const first = await Machine.first();
  const second = Machine.cloneOf(first);
  await first.saves("coffee", "Black");
  await first.saves("editor", "Vim");
  await first.says("forget", "garden");
  first.commits();
  await second.saves("beer", "None");
  second.commits();
  expect(second.pulls(first)).toBe(true);
  expect(await second.names()).toEqual(["beer", "coffee", "editor", "tea"]);
  expect(await second.reads("editor")).toContain('"body": "Vim"');
  await second.says("doctor", "--fix");
  expect(linesOf(second.text("MEMORY.md")).toSorted()).toEqual(["beer", "coffee", "editor", "tea"]);
  expect(second.text("MEMORY.md")).toContain("— Vim\n");
  expect(await second.says("doctor")).toBe(clean);
});

describe("without merge=union, two machines that add notes get a conflict in MEMORY.md", async () => {
  const first = await Machine.first("");
  const second = Machine.cloneOf(first);
  await first.saves("coffee", "Black");
  first.commits();
  await second.saves("beer", "None");
  second.commits();
  const isMerged = second.pulls(first);

  test("the notes of both are listed and read meanwhile, and agents can write", async () => {
    expect({ isMerged, status: second.git("status", "--short") }).toEqual({
      isMerged: false,
      status: "UU MEMORY.md\nA  coffee.md\n",
    });
    expect(await second.names()).toEqual(["beer", "coffee", "editor", "garden", "tea"]);
    expect(await second.reads("coffee")).toContain('"body": "Black"');
    await second.saves("wine", "Red");
    expect(await second.names()).toContain("wine");
    expect(second.text("MEMORY.md")).toMatch(/^<{7} HEAD$[^]*^={7}$[^]*^>{7} [0-9a-f]+$/m);
  });

  test("prompts leave the marks out; the doctor leaves them in the file", async () => {
    const shown = await second.says("index", "--user", "alice");
    expect(shown).toContain("coffee");
    expect(shown).toContain("beer");
    expect(shown).not.toMatch(/&lt;{1,7}|={7}|>{7}|HEAD/);
    expect(await second.says("doctor", "--fix")).toBe(clean);
    expect(second.text("MEMORY.md")).toContain("<<<<<<< HEAD");
  });

  test("either side will do: the doctor adds the lines that are missing", async () => {
    second.git("checkout", "--theirs", "MEMORY.md");
    expect(linesOf(second.text("MEMORY.md"))).toEqual(["editor", "tea", "garden", "coffee"]);
    await second.says("doctor", "--fix");
    expect(linesOf(second.text("MEMORY.md")).toSorted()).toEqual(await second.names());
    second.commits();
    expect(await second.says("doctor")).toBe(clean);
  });
});

describe("a note that both machines have changed", async () => {
  const first = await Machine.first();
  const second = Machine.cloneOf(first);
  await first.saves("editor", "Vim");
  first.commits();
  await second.saves("editor", "Helix");
  second.commits();
  const isMerged = second.pulls(first);
  const conflict = second.text("editor.md");

  test("is shown to a person with the marks, and no agent reads it", async () => {
    expect({ isMerged, status: second.git("status", "--short") }).toMatchObject({ isMerged: false });
    expect(await second.says("show", "editor")).toMatch(/ {2}<{7} HEAD\n[^]*Helix[^]*Vim[^]* {2}>{7} /);
    expect(await second.reads("editor")).toContain("ENTRY_UNREADABLE");
    expect(await second.names()).toEqual(["editor", "garden", "tea"]);
    expect(await second.says("doctor")).toContain("memory/editor.md: its front matter is wrong in line 4");
  });

  test("goes to the trash with both texts if an agent writes it, and is merged by hand otherwise", async () => {
    expect(await second.saves("editor", "Emacs")).toContain("the previous file could not be read and is now trash/");
    const [, name = ""] = /(editor\.\S+\.md)$/m.exec(await second.says("trash", "list")) ?? [];
    expect(second.text(`trash/${name}`)).toBe(conflict);
    second.writes("editor.md", conflict.replace(/^<{7}.*\n([^]*?)^={7}\n[^]*?^>{7}.*\n?/m, "$1"));
    expect(await second.reads("editor")).toContain('"body": "Helix\\n"');
    await second.says("doctor", "--fix");
    second.commits();
    expect(await second.says("doctor")).toBe(clean);
  });
});

test("notes that git renames, removes and brings back are renamed, removed and back, with what they were before", async () => {
  const machine = await Machine.first();
  machine.git("mv", "tea.md", "drinks.md");
  machine.git("rm", "--quiet", "garden.md");
  expect(await machine.names()).toEqual(["drinks", "editor"]);
  expect(await machine.reads("drinks")).toContain('"body": "The tea"');
  await machine.says("doctor", "--fix");
  expect(linesOf(machine.text("MEMORY.md"))).toEqual(["editor", "drinks"]);
  machine.git("reset", "--quiet", "--hard");
  expect(await machine.names()).toEqual(["editor", "garden", "tea"]);
  expect(await machine.says("doctor")).toBe(clean);
  expect(await machine.says("history", "garden")).toContain("saved by an assistant");
});

test("a running server reads what git has put there at its next call, and its next write keeps that", async () => {
  const first = await Machine.first();
  const second = Machine.cloneOf(first);
  await using served = await ServeLines.open(["--user", "alice", "--data", second.dataDir]);
  const read = async (name: string) =>
    (await served.call("ReadUserMemory", { name })).result?.content?.at(-1)?.text ?? "none";
  expect(await read("editor")).toContain("The editor");
  await first.saves("editor", "Vim");
  await first.saves("coffee", "Black");
  first.commits();
  expect(second.pulls(first)).toBe(true);
  expect(await read("editor")).toContain("Vim");
  expect(await read("coffee")).toContain("Black");
  await served.call("UpdateUserMemory", entry("beer", "None"));
  expect(linesOf(second.text("MEMORY.md"))).toEqual(["editor", "tea", "garden", "coffee", "beer"]);
  second.git("checkout", "--quiet", ".");
  second.git("clean", "--quiet", "--force");
  expect(await read("beer")).toContain("ENTRY_NOT_FOUND");
});

test("with its own state in the repository, a merge breaks the history, and the notes stay", async () => {
  const first = await Machine.first();
  const [one, other] = [Machine.cloneOf(first), Machine.cloneOf(first)];
  await one.saves("coffee", "Black");
  await other.saves("beer", "None");
  const head = "../.memcell/journal-head";
  // What git leaves in a text of both machines. A segment is none to git: it keeps that of one of them.
  appendFileSync(join(one.folder, head), `=======\n${other.text(head)}>>>>>>> main\n`);
  expect(await one.says("doctor")).toMatch(/ {2}\.memcell\/journal: .*no file has any trust\n/);
  expect(await one.names()).toEqual(["coffee", "editor", "garden", "tea"]);
  expect(await one.saves("wine", "Red")).toContain('"ok": true');
});
