/**
 * Which config file is read. A folder in which a command happens to start must decide nothing, and a file that others can
 * change must not say whose code runs and who reaches whose files.
 */
import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fileWith, mistakeOf, settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

function place(file: string, said: object, mode = 0o600): string {
  const path = join(folder.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(said));
  chmodSync(path, mode);
  return path;
}

test("a file of the working directory is not read, and the command says so", async () => {
  place("foreign/memcell.config.json", { mounts: ["journal=../private"], plugins: ["evil.wasm"], policy: "all.json" });
  const env = { ...process.env, XDG_CONFIG_HOME: join(folder.path, "none") };
  const run = (...args: readonly string[]) => memcell(args, { cwd: join(folder.path, "foreign"), env });
  const served = await run("serve", "--user", "alice", "--data", "../data");
  expect(served).toMatchObject({ status: 0, stdout: "" });
  expect(served.stderr).toContain("is not read; to read it: --config .");
  expect(JSON.parse((await run("config", "--json")).stdout)).toMatchObject({ file: null });
  const named = await run("tools", "--config", ".");
  expect(named).toMatchObject({ status: 1, stdout: expect.stringContaining("PLUGIN_REFUSED") });
});

const data = { data: "/kept" };
const inFolder = (text: string): string => (text.startsWith("--") ? text : join(folder.path, text));

test.for([
  { name: "XDG_CONFIG_HOME", at: "xdg/memcell/config.json", env: { XDG_CONFIG_HOME: "xdg" } },
  { name: "HOME", at: "home/.config/memcell/config.json", env: { HOME: "home" } },
  { name: "a folder that --config names", at: "named/memcell.config.json", args: ["--config", "named"] },
  { name: "a folder that MEMCELL_CONFIG names", at: "told/memcell.config.json", env: { MEMCELL_CONFIG: "told" } },
  { name: "a file that --config names", at: "files/mine.json", args: ["--config", "files/mine.json"] },
])("reads the file of $name", async ({ at, env = {}, args = [] }) => {
  const file = place(at, data);
  const variables = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, inFolder(text)]));
  const settings = await settingsOf(args.map(inFolder), variables);
  expect({ file: settings.file, data: settings.values["data"] }).toEqual({ file, data: "/kept" });
});

test("a relative XDG_CONFIG_HOME, a missing file and a missing home mean no file", async () => {
  place("xdg/memcell/config.json", data);
  for (const env of [
    { XDG_CONFIG_HOME: "xdg", HOME: folder.path },
    { XDG_CONFIG_HOME: join(folder.path, "gone") },
    { HOME: "" },
  ]) {
    expect((await settingsOf([], env)).file).toBe(null);
  }
});

test.for(["nowhere", "."])(
  "a user's file that is a link to %j, a missing file or a folder, is reported",
  async (target) => {
    const home = temporaryFolder(folder.path).path;
    mkdirSync(join(home, "memcell"));
    symlinkSync(target, join(home, "memcell/config.json"));
    expect(await mistakeOf([], { XDG_CONFIG_HOME: home })).toContain('cannot use "config.json"');
  },
);

const privileged: Readonly<Record<string, unknown>> = {
  mounts: ["journal=ws"],
  policy: "policy.json",
  readOnly: false,
  plugins: ["user-memory"],
  "serve.originClass": "owner_edit",
  "serve.agentKeys": "keys.json",
  "serve.auth.jwks": "keys.json",
};

test("every setting that names code, keys or other people's folders is refused in a file that others can write to", async () => {
  const isRefused: Record<string, boolean> = {};
  for (const { setting, default: preset } of (await settingsOf([])).settings) {
    const value = privileged[setting] ?? preset;
    if (value === null) continue;
    const file = join(folder.path, "open.json");
    writeFileSync(file, fileWith(setting, value));
    chmodSync(file, 0o666);
    const { stderr } = await memcell(["config", "--config", file], { env: {} });
    isRefused[setting] = stderr.includes(`"open.json": it has "${setting}", and others can write to it`);
    expect({ setting, isRefused: stderr !== "" }).toEqual({ setting, isRefused: isRefused[setting] });
    chmodSync(file, 0o600);
    await settingsOf(["--config", file]);
  }
  const names = Object.keys(isRefused);
  expect(names).toEqual(expect.arrayContaining(Object.keys(privileged)));
  const refused = names.filter((name) => Object.hasOwn(privileged, name) || name.startsWith("serve.auth."));
  expect(names.filter((name) => isRefused[name])).toEqual(refused);
});

const evil = { plugins: ["evil.wasm"] };

test.for([
  { name: "its group can write to", mode: 0o620, says: "mode 0620, allowed: 0600" },
  { name: "everybody can write to", mode: 0o602, says: "mode 0602, allowed: 0600" },
])("a file with plugins that $name is refused", async ({ mode, says }) => {
  expect(await mistakeOf(["--config", place(`mode-${mode}.json`, evil, mode)])).toContain(says);
});

test("a file with plugins in a folder that others can write to is refused, also behind a link", async () => {
  const file = place("writable/below/memcell.config.json", evil);
  chmodSync(join(folder.path, "writable"), 0o777);
  symlinkSync(file, join(folder.path, "link.json"));
  for (const each of [file, join(folder.path, "link.json")]) {
    expect(await mistakeOf(["--config", each])).toContain("others can write to a folder on the way to it");
  }
  // As /tmp: only a file's owner can replace it.
  chmodSync(join(folder.path, "writable"), 0o1777);
  expect((await settingsOf(["--config", file])).values["plugins"]).toHaveLength(1);
});

test("a file with plugins is refused if others can exchange a link on the way to it", async (context) => {
  const file = place("kept/memcell.config.json", evil);
  mkdirSync(join(folder.path, "open"));
  chmodSync(join(folder.path, "open"), 0o777);
  symlinkSync(file, join(folder.path, "open/link.json"));
  symlinkSync("open/link.json", join(folder.path, "two-links.json"));
  symlinkSync("kept", join(folder.path, "to-folder"));
  for (const each of ["open/link.json", "two-links.json", "to-folder/../open/link.json"]) {
    const said = await mistakeOf(["--config", `${folder.path}/${each}`]);
    expect(said).toContain("others can write to a folder on the way to it");
  }
  expect((await settingsOf(["--config", join(folder.path, "to-folder")])).values["plugins"]).toHaveLength(1);
  if (process.getuid?.() !== 0) skipWithReason(context, "only root can give a link away");
  chmodSync(join(folder.path, "open"), 0o1777);
  lchownSync(join(folder.path, "open/link.json"), 65_534, 65_534);
  const said = await mistakeOf(["--config", join(folder.path, "open/link.json")]);
  expect(said).toContain("a link on the way to it belongs to another user");
});

test("a file with plugins that belongs to another user is refused", async (context) => {
  if (process.getuid?.() !== 0) skipWithReason(context, "only root can give a file away");
  const file = place("theirs.json", evil);
  chownSync(file, 65_534, 65_534);
  expect(await mistakeOf(["--config", file])).toContain("it belongs to another user");
});
