/** `memcell export`: a file of its owner's alone, which replaces nothing and says nothing of a user. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { commandStage, errorOf } from "./command-stage.ts";

const memory = { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a"), "memory/trash/x.md": "x" };
const bytes = Object.values(memory).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
const user = ["--user", "alice"];

test("writes a file with access for its owner only, without a user's name, and with the same bytes in every time zone", async () => {
  using at = commandStage({ alice: memory });
  const shown = { status: 0, stdout: `3 files, ${bytes} bytes written\n`, stderr: "" };
  for (const [name, zone] of [
    ["one.zip", "Pacific/Apia"],
    ["two.zip", "America/Lima"],
  ] as const) {
    vi.stubEnv("TZ", zone);
    expect(await at.memcell("export", ...user, name)).toEqual(shown);
  }
  vi.unstubAllEnvs();
  const written = readFileSync(at.place("one.zip"));
  expect(readFileSync(at.place("two.zip"))).toEqual(written);
  expect(statSync(at.place("one.zip")).mode & 0o777).toBe(0o600);
  const text = written.toString("latin1");
  for (const name of ["alice", ".memcell/"]) expect(text).not.toContain(name);
  expect(text.startsWith("PK\x03\x04")).toBe(true);
  expect(text.indexOf("memcell-export.json")).toBe(30);
  expect(text).toContain('{"version":1,"scope":"memory","files":3}\n');
  expect(readdirSync(at.path).toSorted()).toEqual(["data", "one.zip", "two.zip"]);
});

test("does not replace a file, a folder, or a link to nothing, and makes no folder", async () => {
  using at = commandStage({ alice: memory });
  writeFileSync(at.place("there.zip"), "mine");
  mkdirSync(at.place("folder.zip"));
  symlinkSync(at.place("elsewhere"), at.place("link.zip"));
  for (const name of ["there.zip", "folder.zip", "link.zip"]) {
    const { code, message } = errorOf(await at.memcell("export", ...user, at.place(name)));
    expect(code).toBe("NAME_CONFLICT");
    expect(message).not.toContain(at.path);
  }
  expect(readFileSync(at.place("there.zip"), "utf8")).toBe("mine");
  expect(errorOf(await at.memcell("export", ...user, "nowhere/a.zip"))).toMatchObject({
    code: "STORAGE_FAILED",
    message: "Cannot write the export: its folder is not there",
  });
  expect(readdirSync(at.path).toSorted()).toEqual(["data", "folder.zip", "link.zip", "there.zip"]);
});

test("--scope names scopes; an unknown one is an error that writes nothing", async () => {
  using at = commandStage({ alice: { ...memory, "journal/2025/01/01.md": "### k\n\nv\n\n", "journal/x.txt": "x" } });
  const named = async (file: string, ...scopes: readonly string[]) =>
    at.memcell("export", ...user, ...scopes.flatMap((scope) => ["--scope", scope]), file);
  expect((await named("all.zip")).stdout).toMatch(/^5 files, /);
  expect((await named("both.zip", "memory", "journal")).stdout).toMatch(/^5 files, /);
  expect(readFileSync(at.place("both.zip"))).toEqual(readFileSync(at.place("all.zip")));
  expect((await named("one.zip", "journal")).stdout).toMatch(/^2 files, /);
  expect(errorOf(await named("none.zip", "notes")).code).toBe("INPUT_INVALID");
  expect(existsSync(at.place("none.zip"))).toBe(false);
});

test("files that are left out are named without control characters", async () => {
  using at = commandStage({ alice: memory });
  writeFileSync(join(at.home("alice"), "memory/\u001b[2Jtwo\nlines.md"), "x");
  const { status, stdout } = await at.memcell("export", ...user, "a.zip");
  expect(status).toBe(0);
  const [first] = stdout.split("\n");
  expect(first).toBe("left out: memory/\\u001b[2Jtwo\\u000alines.md: its name is not a valid memory path");
});
