/** Plugins that answer a host's calls falsely: no user's text is lost, and other plugins' calls still work. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin } from "../support/reseal-plugin.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import type { Script } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/**
 * A plugin for each scope, with the scope's name and its script. All have the same code, because assembling it is a
 * process: each gives the role to another of its tools.
 */
function writePlugins(scripts: Readonly<Record<string, Script>>): string[] {
  const scopes = Object.keys(scripts);
  const code = Object.fromEntries(scopes.map((scope, at) => [`Tool${at}`, scripts[scope] as Script]));
  const wasm = readFileSync(writeScriptedPlugin(folder.path, "all", code));
  const manifest = manifestOf(wasm);
  return scopes.map((scope, at) => {
    const tools = manifest.tools.map((tool, index) =>
      Object.assign(
        structuredClone(tool),
        { scopes: [scope] },
        index !== at && { role: undefined, input: {}, output: {} },
      ),
    );
    const file = join(folder.path, `${scope}.wasm`);
    writeFileSync(file, resealPlugin(wasm, { ...manifest, name: scope, tools }));
    return file;
  });
}

async function openAll(plugins: readonly string[], name: string, clock?: () => number): Promise<[Runtime, string]> {
  const dataDir = join(folder.path, name);
  const options = { dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 };
  return [await createRuntime({ ...options, ...(clock && { clock }) }), dataDir];
}

const writes =
  (...files: readonly (readonly [path: string, content: string])[]) =>
  (scope: string) =>
    files.map(([path, content]) => ["store_write", { scope, path, content }] as const);

const ofScope = (scope: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${scope}/${path}`, text]));

/** What it writes, what it asks for then, and its answer. */
type Play = (scope: string) => Pick<Script, "requests" | "answer">;
const answers =
  (answer: unknown, ...files: readonly (readonly [string, string])[]): Play =>
  (scope) => ({ requests: writes(...files)(scope), answer });

describe("a restorer", () => {
  const stamp = "20240101T000000000Z";
  const name = `x.${stamp}.md`;
  const precious = "precious \u00fc";
  /** The trash beside the file, and files in the place of some of it. */
  const trash: Readonly<Record<string, string>> = {
    [`trash/${name}`]: precious,
    [`trash/y.${stamp}.md`]: "of y",
    [`trash/Y.${stamp}.md`]: "of Y",
    [`trash/deep/z.${stamp}.md`]: "of z",
    [`trash/trash/z.${stamp}.md`]: "of the trash",
    "trash/unstamped.md": "without a time",
    [`trash/sub.${stamp}`]: "a folder now",
    [`trash/live.md/a.${stamp}.md`]: "below a file now",
    [`trash/Live.${stamp}.md`]: "was Live",
    "live.md": "live",
    "sub/a.md": "in a folder",
  };

  interface Other {
    readonly trashed: string;
    readonly path?: string;
  }
  /** It puts the file back, and names others. */
  const names = (...others: readonly Other[]): Play => answers({ path: "x.md", others }, ["x.md", precious]);
  const y = { trashed: `trash/y.${stamp}.md`, path: "y.md" };
  const z = { trashed: `trash/deep/z.${stamp}.md`, path: "deep/z.md" };
  const trashing: Play = (scope) => ({
    requests: [...writes(["x.md", precious])(scope), ["store_trash", { scope, path: "x.md" }]],
    answer: { path: "x.md" },
  });

  const rows: readonly (readonly [what: string, code: "OUTPUT_INVALID" | "NAME_CONFLICT", play: Play])[] = [
    ["puts nothing back", "OUTPUT_INVALID", answers({ path: "x.md" })],
    ["answers without a path", "OUTPUT_INVALID", answers({ nope: 1 }, ["x.md", precious])],
    ["names another user's path", "OUTPUT_INVALID", answers({ path: "../../bob/notes/x.md" })],
    ["writes something else", "OUTPUT_INVALID", answers({ path: "x.md" }, ["x.md", "precious"])],
    ["overwrites what it has put back", "OUTPUT_INVALID", answers({ path: "x.md" }, ["x.md", precious], ["x.md", ""])],
    ["overwrites it by another case", "OUTPUT_INVALID", answers({ path: "x.md" }, ["x.md", precious], ["X.md", ""])],
    ["moves it to the trash again", "OUTPUT_INVALID", trashing],
    ["moves another to another user", "OUTPUT_INVALID", names(z, { ...y, path: "../../bob/notes/y.md" })],
    [
      "leaves another in the trash",
      "OUTPUT_INVALID",
      names({ trashed: `trash/trash/z.${stamp}.md`, path: "trash/z.md" }),
    ],
    ["moves one without a path", "OUTPUT_INVALID", names(z, { trashed: y.trashed })],
    ["moves one by a path that climbs", "OUTPUT_INVALID", names(z, { ...y, trashed: `../memory/trash/y.${stamp}.md` })],
    ["moves one that is not there", "OUTPUT_INVALID", names(z, { trashed: `trash/none.${stamp}.md`, path: "none.md" })],
    ["moves one without a stamp", "OUTPUT_INVALID", names(z, { trashed: "trash/unstamped.md", path: "unstamped.md" })],
    ["moves one by another case", "OUTPUT_INVALID", names(z, { ...y, trashed: `TRASH/y.${stamp}.md` })],
    ["moves what it has written", "OUTPUT_INVALID", names(z, { trashed: `trash/${name}`, path: "x.md" })],
    ["moves one twice", "OUTPUT_INVALID", names(z, z)],
    ["moves two to one but for case", "OUTPUT_INVALID", names(y, { trashed: `trash/Y.${stamp}.md`, path: "Y.md" })],
    [
      "moves one over what it has written",
      "OUTPUT_INVALID",
      answers({ path: "x.md", others: [y] }, ["x.md", precious], ["y.md", "mine"]),
    ],
    [
      "moves one over a file but for case",
      "NAME_CONFLICT",
      names({ trashed: `trash/Live.${stamp}.md`, path: "Live.md" }),
    ],
    ["moves one over a folder", "NAME_CONFLICT", names(z, { trashed: `trash/sub.${stamp}`, path: "sub" })],
    [
      "moves one below a file",
      "NAME_CONFLICT",
      names({ trashed: `trash/live.md/a.${stamp}.md`, path: "live.md/a.md" }),
    ],
  ];
  const many = Array.from({ length: 2501 }, (_, at) => ({ trashed: `trash/${at}.${stamp}`, path: `${at}` }));
  const controls = {
    same: answers({ path: "back/x.md" }, ["back/x.md", precious]),
    others: names(y, z),
    many: names(...many),
  };

  let runtime: Runtime;
  let dataDir: string;
  beforeAll(async () => {
    const all = [...rows.map(([, , play], at) => [`notes-${at}`, play] as const), ...Object.entries(controls)];
    const rights = ["write", "trash"] as const;
    const scripts = all.map(([scope, play]) => [scope, { role: "restore", rights, ...play(scope) }] as const);
    const plugins = writePlugins(Object.fromEntries(scripts));
    [runtime, dataDir] = await openAll(plugins, "restoring");
    for (const [scope] of all) writeUserFiles(dataDir, { [scope]: ofScope(scope, trash) });
  }, 60_000);
  afterAll(() => runtime.close());

  test.for(rows.map(([what, code], at) => [what, code, `notes-${at}`] as const))(
    "that %s is %s, and all files stay where they are",
    async ([, code, scope]) => {
      const restoring = runtime.upkeep.restore({ userId: scope }, name, { scope });
      await expect(restoring).rejects.toMatchObject({ code });
      expect(readUserFiles(dataDir, scope)).toEqual(ofScope(scope, trash));
    },
  );

  test("that names more further files than one call can delete is refused", async () => {
    await expect(runtime.upkeep.restore({ userId: "many" }, name, { scope: "many" })).rejects.toMatchObject({
      code: "OUTPUT_INVALID",
      message: `Cannot restore "${name}": the plugin names 2501 further files, at most 2500 allowed`,
    });
  });

  test("control: that puts the same bytes back takes the file out of the trash", async () => {
    expect(await runtime.upkeep.restore({ userId: "same" }, name, { scope: "same" })).toMatchObject({ name });
    const { [`trash/${name}`]: text = "", ...left } = trash;
    expect(readUserFiles(dataDir, "same")).toEqual(ofScope("same", { ...left, "back/x.md": text }));
  });

  test("control: that names further files has them moved to where they were, whatever their bytes", async () => {
    const home = join(userFolder(dataDir, "others"), "others");
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    writeFileSync(join(home, z.trashed), bytes);
    await runtime.upkeep.restore({ userId: "others" }, name, { scope: "others" });
    expect(readFileSync(join(home, z.path))).toEqual(bytes);
    const { [`trash/${name}`]: x = "", [y.trashed]: ofY = "", [z.trashed]: _, ...left } = trash;
    const restored = { "x.md": x, "y.md": ofY, "deep/z.md": bytes.toString() };
    expect(readUserFiles(dataDir, "others")).toEqual(ofScope("others", { ...left, ...restored }));
  });
});

describe("an inspector", () => {
  const finding = { problem: "odd", path: "a.md", message: "it is odd", remedy: null };
  const refusal = { path: "a.md", code: "INPUT_INVALID", reason: "it is odd" };
  const told = { findings: [finding], findingsHidden: 0 };
  const many = Array.from({ length: 1001 }, () => refusal);

  /** Answers that cannot be used, each of a plugin with a scope of its own. */
  const unusable: Readonly<Record<string, unknown>> = {
    "another-form": { nope: 1 },
    "a-path-outside": { ...told, findings: [{ ...finding, path: "../../bob/a.md" }] },
    "an-invalid-problem": { ...told, findings: [{ ...finding, problem: "\u001b[2J" }] },
    "a-code-of-the-host": { ...told, refused: [{ ...refusal, code: "STORAGE_FULL" }] },
    "a-code-of-the-caller": { ...told, unfit: [{ ...refusal, code: "USER_INVALID" }] },
    "too-many-findings": { ...told, findings: many.map(() => finding) },
    "too-many-unfit": { ...told, unfit: many },
  };

  test("that answers falsely becomes a finding, and other families are mended", async () => {
    const scripts = Object.entries(unusable).map(([scope, answer]) => [scope, { role: "inspect", answer }] as const);
    const plugins = writePlugins(Object.fromEntries(scripts));
    const [runtime, dataDir] = await openAll([...plugins, shippedPlugin("user-memory")], "inspecting");
    await using _ = runtime;
    const scopes = Object.keys(unusable).toSorted();
    const files = scopes.map((scope) => [`${scope}/a.md`, "x"] as const);
    writeUserFiles(dataDir, { alice: { "memory/a.md": "no entry", ...Object.fromEntries(files) } });
    const notInspected = scopes.map((path) => ({
      problem: "not-inspected",
      path,
      message: expect.stringContaining(': it is none of the role "inspect"') as string,
      remedy: null,
    }));
    expect(await runtime.upkeep.inspect(alice)).toEqual(expect.arrayContaining(notInspected));
    const mended = await runtime.upkeep.mend(alice);
    expect(mended).toMatchObject([{ problem: "index-missing" }, { problem: "entry-incomplete" }]);
    const left = await runtime.upkeep.inspect(alice);
    expect(left.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual(notInspected);
  });

  const hiding = (remedy: string | null): Script => {
    return { role: "inspect", answer: { findings: [{ ...finding, path: "", remedy }], findingsHidden: 3 } };
  };

  test("of all files names the scope; what it hides has a remedy only if what it shows has", async () => {
    const plugins = writePlugins({ helpless: hiding(null), mendable: hiding("mend it") });
    const [runtime] = await openAll(plugins, "hiding");
    await using _ = runtime;
    const hidden = "3 more findings are not shown";
    expect(await runtime.upkeep.inspect(alice)).toMatchObject([
      { path: "helpless", remedy: null },
      { path: "helpless", message: hidden, remedy: null },
      { path: "mendable", remedy: "mend it" },
      { path: "mendable", message: hidden, remedy: "mend the others first" },
    ]);
  });

  test("that is cancelled while it runs makes no finding", async () => {
    const cancelling = new AbortController();
    // The host reads the clock right before a guest runs.
    const clock = (): number => {
      cancelling.abort();
      return 0;
    };
    const [runtime] = await openAll(writePlugins({ notes: { role: "inspect", answer: told } }), "cancelled", clock);
    await using _ = runtime;
    for (const operation of ["inspect", "mend"] as const) {
      const cancelled = runtime.upkeep[operation]({ ...alice, signal: cancelling.signal });
      await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
    }
  });
});
