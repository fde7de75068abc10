/** What a guest, a caller and anyone with access to the workspace can do to a mounted folder, and what happens then. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import type { ToolResult } from "memcell";
import { expect, test } from "vitest";

import { writeUserFiles } from "../support/user-files.ts";
import { list, mountedStage, play, read, write } from "./mounted-stage.ts";
import type { MountedStage } from "./mounted-stage.ts";

function expectSilent(result: ToolResult, stage: MountedStage): void {
  const text = JSON.stringify(result);
  for (const secret of ["a secret", stage.path, "agent"]) expect(text).not.toContain(secret);
}

const upwards = ["../secret.md", "a/../../secret.md", "/etc/passwd", "..", "a\\b.md"];
const hidden = [".memcell/owner", ".MEMCELL/owner", ".gitignore"];

test("a guest cannot read or write outside a mounted folder, nor the host's own files in it", async () => {
  using stage = mountedStage();
  stage.put("a/a.md", "of alice");
  writeFileSync(join(stage.dir, "..", "secret.md"), "a secret");
  await using runtime = await stage.open();
  await play(runtime, [write("own.md", "so that .memcell is there")]);
  for (const path of [...upwards, ...hidden]) {
    for (const step of [read(path), write(path, "x")]) {
      const result = await play(runtime, [step]);
      expect({ path, result }).toMatchObject({ path, result: { ok: false, error: { code: "CAPABILITY_DENIED" } } });
      expectSilent(result, stage);
    }
  }
  // No listing shows them either.
  const entries = [{ path: "a/a.md" }, { path: "own.md" }];
  expect(await play(runtime, [list()])).toMatchObject({ data: [{ entries }] });
  expect(readFileSync(join(stage.dir, ".memcell/owner"), "utf8")).toBe("alice");
  expect(readFileSync(join(stage.dir, "..", "secret.md"), "utf8")).toBe("a secret");
});

test("a guest cannot name another scope, and so cannot reach the data folder next to the mount", async () => {
  using stage = mountedStage();
  stage.put("a.md", "");
  writeUserFiles(stage.dataDir, { alice: { "memory/a.md": "a secret" }, bob: { "journal/a.md": "a secret" } });
  await using runtime = await stage.open();
  for (const scope of ["memory", "users", "bob/journal", "../bob/journal", "journal/../memory", "."]) {
    const result = await play(runtime, [read("a.md", scope)]);
    expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expectSilent(result, stage);
  }
});

/** What lies at `trap.md`. The folder outside is beside the mounted one. */
const traps: Readonly<Record<string, (trap: string) => void>> = {
  "a link to a file outside": (trap) => symlinkSync("../outside/s.md", trap),
  "a broken link": (trap) => symlinkSync("../absent.md", trap),
  "a second name of a file outside": (trap) => linkSync(join(trap, "../../outside/s.md"), trap),
  "a pipe": (trap) => void execFileSync("mkfifo", [trap]),
  "a folder": (trap) => mkdirSync(trap),
  "a link to a folder outside": (trap) => symlinkSync("../outside", trap),
};

test("reads and writes through nothing that is no plain file, and still shows the other files", async () => {
  using stage = mountedStage();
  stage.put("a.md", "of alice");
  const outside = join(stage.dir, "../outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "s.md"), "a secret");
  await using runtime = await stage.open();
  const trap = join(stage.dir, "trap.md");
  for (const [name, set] of Object.entries(traps)) {
    set(trap);
    for (const step of [read("trap.md"), write("trap.md", "x"), read("trap.md/s.md"), write("trap.md/new.md", "x")]) {
      const result = await play(runtime, [step]);
      if (name !== "a folder")
        expect(JSON.stringify(result)).toMatch(/STORAGE_UNSAFE|QUOTA_EXCEEDED|CAPABILITY_DENIED/);
      expectSilent(result, stage);
    }
    expect(await play(runtime, [read("a.md")])).toMatchObject({ data: [{ content: "of alice" }] });
    rmSync(trap, { recursive: true });
  }
  expect(readdirSync(outside)).toEqual(["s.md"]);
  expect(readFileSync(join(outside, "s.md"), "utf8")).toBe("a secret");
});

test("follows a link that is the folder when the runtime starts, once", async () => {
  using stage = mountedStage();
  mkdirSync(join(stage.path, "real"));
  mkdirSync(join(stage.path, "other"));
  mkdirSync(join(stage.dir, ".."), { recursive: true });
  symlinkSync(join(stage.path, "real"), stage.dir);
  await using runtime = await stage.open();
  expect(await play(runtime, [write("a.md", "one")])).toMatchObject({ ok: true });
  rmSync(stage.dir);
  symlinkSync(join(stage.path, "other"), stage.dir);
  expect(await play(runtime, [read("a.md"), write("a.md", "two")])).toMatchObject({ data: [{ content: "one" }, {}] });
  expect(readdirSync(join(stage.path, "other"))).toEqual([]);
  expect(readFileSync(join(stage.path, "real/a.md"), "utf8")).toBe("two");
});

const swapped: readonly { name: string; of: readonly string[] }[] = [
  { name: "the folder", of: ["ws", ".agent", "memory"] },
  { name: "a folder that leads to it", of: ["ws", ".agent"] },
  { name: "the workspace", of: ["ws"] },
];

test.for(swapped)(
  "$name is swapped for a link between two calls: nothing behind the link is read or written",
  async ({ of }) => {
    using stage = mountedStage();
    stage.put("a.md", "of alice");
    const trap = join(stage.path, "trap", ...["ws", ".agent", "memory"].slice(of.length));
    mkdirSync(trap, { recursive: true });
    writeFileSync(join(trap, "a.md"), "a secret");
    await using runtime = await stage.open();
    expect(await play(runtime, [write("b.md", "before")])).toMatchObject({ ok: true });
    renameSync(join(stage.path, ...of), join(stage.path, "away"));
    symlinkSync(join(stage.path, "trap"), join(stage.path, ...of));
    for (const step of [read("a.md"), list(), write("c.md", "x")]) {
      const result = await play(runtime, [step]);
      expect(JSON.stringify(result)).toContain("STORAGE_UNSAFE");
      expectSilent(result, stage);
    }
    expect(readdirSync(trap)).toEqual(["a.md"]);
  },
);

const ownTraps: readonly { name: string; set: (own: string, stage: MountedStage) => void }[] = [
  { name: "a link to another folder", set: (own, { path }) => symlinkSync(join(path, "outside"), own) },
  { name: "a file", set: (own) => writeFileSync(own, "") },
  {
    name: "a folder with a link in its journal's place",
    set: (own, { path }) => {
      mkdirSync(own);
      symlinkSync(join(path, "outside/s.md"), join(own, "journal"));
    },
  },
];

test.for(ownTraps)("if .memcell is $name, refuses a write and leaves everything outside unchanged", async ({ set }) => {
  using stage = mountedStage();
  stage.put("a.md", "of alice");
  mkdirSync(join(stage.path, "outside"));
  writeFileSync(join(stage.path, "outside/s.md"), "a secret");
  set(join(stage.dir, ".memcell"), stage);
  await using runtime = await stage.open();
  const result = await play(runtime, [write("a.md", "x")]);
  expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE" } });
  expectSilent(result, stage);
  expect(stage.files()).toMatchObject({ "a.md": "of alice" });
  expect(readdirSync(join(stage.path, "outside"))).toEqual(["s.md"]);
  expect(readFileSync(join(stage.path, "outside/s.md"), "utf8")).toBe("a secret");
});

test("reads a folder removed during use as empty, and creates it again", async () => {
  using stage = mountedStage();
  await using runtime = await stage.open();
  expect(await play(runtime, [write("a.md", "one"), write("b.md", "two")])).toMatchObject({ ok: true });
  rmSync(join(stage.path, "ws"), { recursive: true });
  expect(await play(runtime, [read("a.md"), list()])).toMatchObject({ data: [{ content: null }, { entries: [] }] });
  expect(existsSync(stage.dir)).toBe(false);
  expect(await play(runtime, [write("a.md", "three")])).toMatchObject({ ok: true });
  expect(stage.files()).toEqual({ "a.md": "three" });
});

test("loses nothing acknowledged when the folder is moved away during a call", async () => {
  using stage = mountedStage();
  stage.put("a.md", "old");
  let isMoved = false;
  const onLog = (): void => {
    if (!isMoved) renameSync(stage.dir, join(stage.path, "away"));
    isMoved = true;
  };
  await using runtime = await stage.open({ onLog });
  await play(runtime, [write("a.md", "one")]);
  const result = await play(runtime, [{ log: "x", times: 1 }, write("a.md", "two")]);
  expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_FAILED" } });
  expectSilent(result, stage);
  expect(existsSync(stage.dir)).toBe(false);
});
