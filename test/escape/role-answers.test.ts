/** Plugins that answer a host's calls falsely: no user's text is lost, and other plugins' calls still work. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";
import { expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import type { Script } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const name = "x.20240101T000000000Z.md";
const trashed = { [`notes/trash/${name}`]: "precious \u00fc" };

async function withPlugin(
  scripts: Readonly<Record<string, Script>>,
  work: (runtime: Runtime, dataDir: string) => Promise<void>,
  { plugins: others = [], ...options }: Partial<RuntimeOptions> = {},
): Promise<void> {
  using folder = temporaryFolder();
  const plugins = [writeScriptedPlugin(folder.path, "hostile", scripts), ...others];
  const dataDir = join(folder.path, "data");
  await using runtime = await createRuntime({
    dataDir,
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
    ...options,
  });
  await work(runtime, dataDir);
}

const write = (path: string, content: string) => ["store_write", { scope: "notes", path, content }] as const;
const writes = { role: "restore", rights: ["write"] } as const;
const trashes = { role: "restore", rights: ["write", "trash"] } as const;

test.for<readonly [name: string, script: Script]>([
  ["puts nothing back", { ...writes, answer: { path: "x.md" } }],
  ["answers without a path", { ...writes, requests: [write("x.md", "precious \u00fc")], answer: { nope: 1 } }],
  [
    "names another path than it writes",
    { ...writes, requests: [write("y.md", "precious \u00fc")], answer: { path: "x.md" } },
  ],
  ["names another user's path", { ...writes, answer: { path: "../../bob/notes/x.md" } }],
  ["names the trash", { ...writes, answer: { path: `trash/${name}` } }],
  ["writes something else", { ...writes, requests: [write("x.md", "precious")], answer: { path: "x.md" } }],
  [
    "overwrites the file that it has put back",
    {
      ...writes,
      requests: [write("x.md", "precious \u00fc"), write("x.md", "")],
      answer: { path: "x.md" },
    },
  ],
  [
    "overwrites it by a name that differs by case",
    {
      ...writes,
      requests: [write("x.md", "precious \u00fc"), write("X.md", "")],
      answer: { path: "x.md" },
    },
  ],
  [
    "moves it to the trash again",
    {
      ...trashes,
      requests: [write("x.md", "precious \u00fc"), ["store_trash", { scope: "notes", path: "x.md" }]],
      answer: { path: "x.md" },
    },
  ],
])("a restorer that %s is OUTPUT_INVALID, and the file stays in the trash", async ([, script]) => {
  await withPlugin({ Restore: script }, async (runtime, dataDir) => {
    writeUserFiles(dataDir, { alice: trashed });
    await expect(runtime.upkeep.restore(alice, name)).rejects.toMatchObject({ code: "OUTPUT_INVALID", blame: "guest" });
    expect(readUserFiles(dataDir, "alice")).toEqual(trashed);
  });
});

test("control: a restorer that puts the same bytes back takes the file out of the trash", async () => {
  const script = { ...writes, requests: [write("back/x.md", "precious \u00fc")], answer: { path: "back/x.md" } };
  await withPlugin({ Restore: script }, async (runtime, dataDir) => {
    writeUserFiles(dataDir, { alice: trashed });
    expect(await runtime.upkeep.restore(alice, name)).toMatchObject({ name });
    expect(readUserFiles(dataDir, "alice")).toEqual({ "notes/back/x.md": "precious \u00fc" });
  });
});

const stamp = "20240101T000000000Z";
/** The trash beside the file, and a file in the place of some of it. */
const more = {
  ...trashed,
  [`notes/trash/y.${stamp}.md`]: "of y",
  [`notes/trash/live.${stamp}.md`]: "was live",
  [`memory/trash/other.${stamp}.md`]: "another scope's",
  "notes/live.md": "live",
};

const y = { trashed: `trash/y.${stamp}.md`, path: "y.md" };
const backWith = (...others: readonly object[]): Script => ({
  ...writes,
  requests: [write("x.md", "precious \u00fc")],
  answer: { path: "x.md", others },
});

// `restored-others.test.ts` has more of them, without a guest.
test.for<readonly [name: string, code: string, script: Script]>([
  ["to another place", "OUTPUT_INVALID", backWith(y, { ...y, path: "z.md" })],
  ["of another scope", "OUTPUT_INVALID", backWith(y, { trashed: `trash/other.${stamp}.md`, path: "other.md" })],
  ["without a path", "OUTPUT_INVALID", backWith({ trashed: y.trashed })],
  ["over a file", "NAME_CONFLICT", backWith(y, { trashed: `trash/live.${stamp}.md`, path: "live.md" })],
  [
    "over what it has written",
    "OUTPUT_INVALID",
    { ...backWith(y), requests: [write("x.md", "precious \u00fc"), write("y.md", "mine")] },
  ],
])("a restorer that moves a further file %s changes nothing: %s", async ([, code, script]) => {
  await withPlugin({ Restore: script }, async (runtime, dataDir) => {
    writeUserFiles(dataDir, { alice: more });
    await expect(runtime.upkeep.restore(alice, name)).rejects.toMatchObject({ code });
    expect(readUserFiles(dataDir, "alice")).toEqual(more);
  });
});

test("control: a restorer that names further files has them moved to where they were, whatever their bytes", async () => {
  const deep = { trashed: `trash/deep/b.${stamp}.bin`, path: "deep/b.bin" };
  await withPlugin({ Restore: backWith(y, deep) }, async (runtime, dataDir) => {
    writeUserFiles(dataDir, { alice: { ...more, [`notes/${deep.trashed}`]: "" } });
    const notes = join(userFolder(dataDir, "alice"), "notes");
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    writeFileSync(join(notes, deep.trashed), bytes);
    await runtime.upkeep.restore(alice, name);
    expect(readFileSync(join(notes, deep.path))).toEqual(bytes);
    const stayed = Object.entries(more).filter(([path]) => !/trash.[xy]/.test(path));
    const restored = { "notes/x.md": "precious \u00fc", "notes/y.md": "of y", "notes/deep/b.bin": bytes.toString() };
    expect(readUserFiles(dataDir, "alice")).toEqual({ ...Object.fromEntries(stayed), ...restored });
  });
});

const finding = { problem: "odd", path: "a.md", message: "it is odd", remedy: null };
const refusal = { path: "a.md", code: "INPUT_INVALID", reason: "it is odd" };
const told = { findings: [finding], findingsHidden: 0 };
const many = Array.from({ length: 1001 }, () => refusal);

test.for<readonly [name: string, answer: unknown]>([
  ["another form", { nope: 1 }],
  ["a negative number of findings", { ...told, findingsHidden: -1 }],
  ["a finding outside the scope", { ...told, findings: [{ ...finding, path: "../../bob/a.md" }] }],
  ["an invalid problem", { ...told, findings: [{ ...finding, problem: "\u001b[2J" }] }],
  ["a code of the host's", { ...told, refused: [{ ...refusal, code: "STORAGE_FULL" }] }],
  ["a code of the caller's", { ...told, unfit: [{ ...refusal, code: "USER_INVALID" }] }],
  ["too many findings", { ...told, findings: many.map(() => finding) }],
  ["too many refusals", { ...told, refused: many }],
  ["too many unfit paths", { ...told, unfit: many }],
])("an inspector that answers with %s becomes a finding, and other families are mended", async ([, answer]) => {
  const plugins = [shippedPlugin("user-memory")];
  await withPlugin({ Inspect: { role: "inspect", answer } }, expectOthersMended, { plugins });
});

async function expectOthersMended({ upkeep }: Runtime, dataDir: string): Promise<void> {
  writeUserFiles(dataDir, { alice: { "memory/a.md": "no entry", "notes/a.md": "x" } });
  const notInspected = {
    problem: "not-inspected",
    path: "notes",
    message: 'Cannot use the answer of Inspect: it is none of the role "inspect"',
    remedy: null,
  };
  expect(await upkeep.inspect(alice)).toContainEqual(notInspected);
  expect(await upkeep.mend(alice)).toMatchObject([{ problem: "index-missing" }, { problem: "entry-incomplete" }]);
  expect(await upkeep.inspect(alice)).toEqual([notInspected]);
}

test("a finding about all files names the scope; hidden findings have a remedy only if a shown one has", async () => {
  for (const [remedy, hidden] of [
    [null, null],
    ["mend it", "mend the others first"],
  ] as const) {
    const answer = { findings: [{ ...finding, path: "", remedy }], findingsHidden: 3 };
    await withPlugin({ Inspect: { role: "inspect", answer } }, async (runtime) => {
      expect(await runtime.upkeep.inspect(alice)).toMatchObject([
        { path: "notes", remedy },
        { path: "notes", message: "3 more findings are not shown", remedy: hidden },
      ]);
    });
  }
});

test("an inspection that is cancelled while a plugin runs rejects and makes no finding", async () => {
  const cancelling = new AbortController();
  // The host reads the clock right before a guest runs.
  const clock = (): number => {
    cancelling.abort();
    return 0;
  };
  const scripts = { Inspect: { role: "inspect", answer: told } } as const;
  const work = async (runtime: Runtime): Promise<void> => {
    for (const operation of ["inspect", "mend"] as const) {
      const cancelled = runtime.upkeep[operation]({ ...alice, signal: cancelling.signal });
      await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
    }
  };
  await withPlugin(scripts, work, { clock });
});
