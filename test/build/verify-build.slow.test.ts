/** `npm run verify-build`: its output for a reviewer with a clone, and that it does not change the clone. */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { readBounded } from "../../build/verify-build/bounded-file.ts";
import { lockText, parseLock } from "../../shared/plugin-lock.ts";
import { copyClone, copyFromProject } from "../support/copied-clone.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import type { TreeFingerprint } from "../support/tree-fingerprint.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose](), 120_000);
const clone = join(folder.path, "clone");

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function verifyBuild(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Outcome {
  const command = [join(clone, "dist", "build", "verify-build", "main.js"), ...args];
  // Runs outside the clone: the place of the command, not the working directory, selects the clone.
  return spawnSync(process.execPath, command, { cwd: folder.path, encoding: "utf8", env: { ...process.env, ...env } });
}

beforeAll(() => {
  copyClone(clone);
  copyFromProject(clone, ["dist/build", "dist/host", "dist/shared", "dist/plugins", "dist/sbom.json"]);
}, 120_000);

test("prints PASS if the files match the sources, whatever the environment", { timeout: 240_000 }, () => {
  const before = fingerprint();
  const { status, stdout, stderr } = verifyBuild([], { ESBUILD_BINARY_PATH: "/bin/false", LC_ALL: "tr_TR.UTF-8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const lock = readFileSync(join(clone, "build", "plugins.lock.json"), "utf8");
  expect(stdout).toContain(/"sha256": "(\w+)"/.exec(lock)?.[1]);
  expect(stdout).toContain("user-memory 0.1.0");
  expect(stdout).toContain("\nPASS  ");
  expect(fingerprint()).toEqual(before);
});

test("reports sources that do not compile with the compiler's output", { timeout: 240_000 }, () => {
  const source = join(clone, "shared", "path.ts");
  const original = readFileSync(source, "utf8");
  appendFileSync(source, "\nexport const wrong: number = 'text';\n");
  const { status, stdout, stderr } = verifyBuild();
  writeFileSync(source, original);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("The compiler failed on the clone's sources:\n");
  expect(stderr).toContain("shared/path.ts");
  expect(stderr).not.toContain(folder.path);
  expect(readdirSync(join(clone, "dist")).filter((name) => name.startsWith("rebuild-"))).toEqual([]);
});

test(
  "prints FAIL and names a changed source, an altered plugin file, an unknown file and another list",
  { timeout: 240_000 },
  () => {
    keepOnly("user-memory");
    const source = join(clone, "plugin", "user-memory", "family.ts");
    writeFileSync(source, readFileSync(source, "utf8").replace('version: "0.1.0"', 'version: "0.1.9"'));
    const wasm = join(clone, "dist", "plugins", "user-memory.wasm");
    const bytes = readFileSync(wasm);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(wasm, bytes);
    writeFileSync(join(clone, "dist", "plugins", "stranger.wasm"), "\0asm");
    const before = fingerprint();
    const { status, stdout } = verifyBuild(["--json"]);
    expect(status).toBe(1);
    const { verdict, deviations } = JSON.parse(stdout) as { verdict: string; deviations: string[] };
    expect(verdict).toBe("FAIL");
    const both =
      /built SHA-256 \w{64} \(version 0\.1\.9, \d+ bytes\), locked SHA-256 \w{64} \(version 0\.1\.0, \d+ bytes\)$/;
    expect(deviations).toEqual([
      expect.stringMatching(both),
      expect.stringMatching(
        /^Plugin file "stranger\.wasm" \(SHA-256 \w{64}\) belongs to no plugin that the sources give$/,
      ),
      expect.stringMatching(/^Plugin file "user-memory\.wasm" is not what the sources give: it is SHA-256 \w{64} \(/),
      "The list of components, dist/sbom.json, is not the one that the build writes",
    ]);
    expect(fingerprint()).toEqual(before);
  },
);

test("says how to install missing packages", () => {
  rmSync(join(clone, "node_modules", "binaryen"));
  const { status, stderr } = verifyBuild();
  expect(status).toBe(1);
  expect(stderr).toContain('The packages that the build needs are not installed: "npm ci" in the clone brings them\n');
});

test("names anything but a file of the right size, without reading it or waiting for it", async () => {
  const at = (name: string): string => join(folder.path, name);
  execFileSync("mkfifo", [at("pipe")]);
  writeFileSync(at("large"), "");
  truncateSync(at("large"), 2 ** 40);
  expect(await readBounded(at("pipe"), 10)).toBe("cannot be read: it is not a regular file");
  expect(await readBounded(folder.path, 10)).toBe("cannot be read: it is not a regular file");
  expect(await readBounded(at("large"), 10)).toBe(`cannot be read: it is ${2 ** 40} bytes, at most 10 allowed`);
  expect(await readBounded(at("absent"), 10)).toBe("cannot be read");
  writeFileSync(at("whole"), "0123456789");
  expect(await readBounded(at("whole"), 10)).toEqual(Buffer.from("0123456789"));
});

test("an invalid command line is exit code 2", () => {
  expect(verifyBuild(["--rebuild"])).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining("Usage") });
});

/** Removes the other families, and the tests, which know them: one shows what a report says, and builds in less time. */
function keepOnly(name: string): void {
  const lockFile = join(clone, "build", "plugins.lock.json");
  const { [name]: kept, ...others } = parseLock(readFileSync(lockFile, "utf8")) ?? {};
  if (!kept) throw new Error("The lock does not name the plugin");
  for (const other of Object.keys(others)) {
    rmSync(join(clone, "plugin", other), { recursive: true });
    rmSync(join(clone, "dist", "plugins", `${other}.wasm`));
  }
  rmSync(join(clone, "test"), { recursive: true });
  writeFileSync(lockFile, lockText({ [name]: kept }));
}

/** The whole clone except the time of its folder dist, in which a rebuild was created and removed. */
function fingerprint(): TreeFingerprint[] {
  const parts = ["build", "host", "plugin", "shared", "dist/build", "dist/host", "dist/plugins"];
  expect(readdirSync(join(clone, "dist")).toSorted()).toEqual(["build", "host", "plugins", "sbom.json", "shared"]);
  return parts.map((part) => treeFingerprint(join(clone, part)));
}
