/**
 * Hostile texts at each border: a guest's paths, prefixes and scopes, the names that a model chooses, and user ids. What
 * does not fit the grammar is refused with a code before any disk access. Three trees have the same names in them, so that
 * an escape finds something to read: the user's own, another user's, and one outside the data folder.
 *
 * The texts have escaped from a folder in other software: the case lists of openat2's selftest, cap-std, Go's os.Root, the
 * WASI test suites, Node's permission fixtures, and advisories on similar servers.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";

/** How each border answers a text. By default it refuses. */
interface HostileText {
  readonly text: string;
  /** As a capability's path, and as a prefix. `fits`: it is inside the scope, and no file is there. */
  readonly path: "denied" | "fits";
  readonly prefix: "denied" | "fits";
  /** As an entry's name. `ENTRY_NOT_FOUND`: it is a valid name. */
  readonly name: "INPUT_INVALID" | "NAME_RESERVED" | "ENTRY_NOT_FOUND";
  /** As a user's id. `fits`: it is a valid id, but nobody has it. */
  readonly user: "USER_INVALID" | "fits";
}

const refused = { path: "denied", prefix: "denied", name: "INPUT_INVALID", user: "USER_INVALID" } as const;

const rows = (texts: readonly string[], answers: Partial<Omit<HostileText, "text">> = {}): HostileText[] =>
  texts.map((text) => Object.assign({}, refused, answers, { text }));

/** Words between spaces, of which each can have escapes as JSON has them. */
const words = (text: string): string[] =>
  text
    .trim()
    .split(/\s+/)
    .map((word) => JSON.parse(`"${word}"`) as string);

/** Prefixes that lead out of a folder on some system, after some decoding, or through some bug. */
const climbs = words(String.raw`
    ../ ../../ ../../../ ./../ /../ ..// ....// ..././ x/../../ trash/../../ x.md/../../ / // /./
    ..\\ ..\\..\\ .\\..\\ ..\\/ ../\\ x\\..\\..\\ \\ \\\\ \\\\?\\ \\\\.\\ \\\\server\\share\\ //server/share/
    \\\\?\\UNC\\h\\s\\ C:\\ C:/ C: c:..\\ file:/// file://localhost/ ~/ ~bob/ $HOME/ %USERPROFILE%\\
    %2e%2e/ ..%2f %2e%2e%2f %252e%252e%252f ..%5c ..%c0%af %c0%ae%c0%ae/ %u002e%u002e/ ..%00/ ..;/
    ．．/ ..／ ．．／ ‥/ ..∕ ..⁄ ..⧸ \u2024\u2024/ ..\u0000/ ../\u0000 .\u0000./ .\u200b./ .\u00ad./ \u202e../
    ..\n/ ..\u0020/ \u0020../ ..\t/ \ufeff../ ..\ud800/
    /proc/self/root/ /proc/self/cwd/ /proc/self/fd/3/ /dev/fd/3/ proc/self/root/../`);

/** Paths to another user's file, which exists, and to a file of the machine. */
const climbing = climbs.flatMap((climb) => rows([`${climb}bob/memory/x.md`, `${climb}etc/passwd`]));

const stationary = rows([
  ...words(String.raw`
    . .. / // ./ ../ ./. ./.. ../. ../.. /. /.. \\ .\\ ..\\ ./x.md x.md/. x.md/.. x.md/../x.md x.md// x//x.md /x.md
    ./.memcell/owner ../alice/memory/x.md ../memory/x.md trash/../x.md trash/./old.md trash//old.md
    ../.memcell/owner .memcell/owner .memcell/journal .memcell/ ../../alice
    x.md\u0000 \u0000 x\u0000.md x.md\u0000.txt x\n.md x\r.md \n \t x\u0085.md x\u007f.md
    \u0020x.md x.md\u0020 \u0020 x.md\u00a0 \u3000x.md \ud800 x\udc00.md \udfff\ud800
    x/y\\z a/é a/．．/b a/\u0020/b a/%2e%2e/b a/.b a/..b/c\\d`),
  ...["é", "\\", "/"].map((letter) => letter.repeat(300)),
  "a".repeat(256),
  "a".repeat(100_000),
  `${"a/".repeat(128)}a`,
  `${"../".repeat(1000)}x`,
  `${"a/../".repeat(100)}x`,
]);

/** Texts that end in a slash: not paths, but prefixes. */
const foldersAsPaths = rows(words("x.md/ nobody/ bob/ memory/ CON/ a.b/"), { prefix: "fits" });

/** Valid ids, but no valid path or entry name. */
const oddIds = words(String.raw`
  ... .... .memcell .x.md ..x .git %2e%2e %2E%2E ..%2f %2e %00 % ~ ~bob ．． ‥ ․․ ..∕bob ..⁄bob bob．md x․md
  \u202ebob bob\u202e b\u200bob b\u00adob ｂｏｂ bоb böb bo\u0308b ß ﬀ İ ı \u212a bob\u0301 💥 𝒃𝒐𝒃 日本語 a\u0020b
  C: C:bob x.md:stream x.md::$DATA a|b * ? x*.md <x> \"x\" 'x' \u0060id\u0060 $(id) $HOME \u0024{HOME} %TEMP% x;y x&y x,y x=y
  x+y x@y bob@example.com # ! [x] {x} COM¹ COM¹.txt CON: NUL\u0020.txt PROGRA~1 \u00c0\u00ae\u00c0\u00ae <script>
  --';\u0020DROP\u0020TABLE\u0020users`);

const inside = { path: "fits", prefix: "fits", user: "fits" } as const;
const onWindows = words("CON con Prn AUX nul COM1 com9 LPT1 lpt9");
const devices = [
  ...rows(onWindows, { ...inside, name: "NAME_RESERVED" }),
  ...rows([...onWindows.map((device) => `${device}.md`), ...words("nul.a.b CON. x.. x.md. a..b x.MD X.md")], inside),
];

/** Names with a meaning to JavaScript, to a shell, or to the store. */
const meaningful = rows(
  words(
    `__proto__ constructor prototype toString hasOwnProperty valueOf null undefined NaN -rf --help - _ 0 00 1e3 bob
     users memory1 owner journal lock`,
  ),
  { ...inside, name: "ENTRY_NOT_FOUND" },
);
const indexNames = rows(words("MEMORY memory Memory mEmOrY"), { ...inside, name: "NAME_RESERVED" });

const hostileTexts: readonly HostileText[] = [
  ...climbing,
  ...stationary,
  ...foldersAsPaths,
  ...rows(oddIds, { user: "fits" }),
  ...devices,
  ...meaningful,
  ...indexNames,
];

/** Values where a text is expected. */
const notTexts: readonly unknown[] = JSON.parse(
  `[null, true, 0, -1, 1e21, [], ["x.md"], ["..", "x"], {}, {"toString":"x.md"}, {"length":4}, {"0":"x"},
    {"path":"x.md"}, {"type":"Buffer","data":[46,46,47]}, {"__proto__":null,"constructor":"x"}]`,
) as unknown[];

/** How a test's title shows a text. */
function titleOf(text: unknown): string {
  const json = JSON.stringify(text) ?? "undefined";
  const visible = json.replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return visible.length > 60 ? `${visible.slice(0, 40)}… of ${String(text).length}` : visible;
}

const secret = "secret of bob";
/** A denial shows only a part of the requested path. */
const messageCharsMax = 1000;
const denied = "CAPABILITY_DENIED";
const alice = { userId: "alice" };
const takenOver = { type: "user", description: "taken over", body: "taken over" };

const folder = temporaryFolder();
let runtime: Runtime;
let before: ReturnType<typeof treeFingerprint>;
beforeAll(async () => {
  const dataDir = join(folder.path, "data");
  const plugins = [testPlugin("puppet"), shippedPlugin("user-memory")];
  runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  for (const [userId, text] of Object.entries({ alice: "of alice", bob: secret })) {
    const fact = (name: string) => ({ action: "upsert", name, type: "user", description: text, body: text });
    for (const name of ["x", "old"]) await runtime.call("UpdateUserMemory", fact(name), { userId });
    await runtime.call("UpdateUserMemory", { action: "delete", name: "old" }, { userId });
  }
  await runtime.close();
  cpSync(userFolder(dataDir, "bob"), join(folder.path, "outside"), { recursive: true });
  runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  // The whole tree, so that a new file is noticed wherever it is.
  before = treeFingerprint(folder.path);
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const expectUntouched = (): void => expect(treeFingerprint(folder.path)).toEqual(before);

/** Fails unless a result has this code, or succeeds, and reveals nothing of the other user or the machine. */
function expectCode(result: ToolResult, code: string): void {
  expect(result.ok ? "ok" : result.error.code).toBe(code);
  const shown = JSON.stringify(result);
  expect(shown).not.toContain(secret);
  expect(shown).not.toContain(folder.path);
  expect(shown.length).toBeLessThan(messageCharsMax);
}

/** One capability request from a guest that has every right. */
const ask = (of: string, request: object): Promise<ToolResult> =>
  runtime.call("Puppet", [{ of, request: JSON.stringify(request) }], alice);
const read = (name: unknown, ctx = alice): Promise<ToolResult> => runtime.call("ReadUserMemory", { name }, ctx);
const remove = (name: unknown, ctx = alice): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "delete", name }, ctx);
const upsert = (name: unknown, ctx = alice): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "upsert", name, ...takenOver }, ctx);
const indexOf = (userId: unknown): Promise<string> =>
  runtime.memoryIndex({ userId: userId as string }).catch(({ code }: { readonly code: string }) => code);

/** Each capability with a scope. */
async function expectScopeDenied(scope: unknown): Promise<void> {
  expectCode(await ask("store_read", { scope, path: "x.md" }), denied);
  expectCode(await ask("store_list", { scope, prefix: "" }), denied);
  expectCode(await ask("store_write", { scope, path: "x.md", content: "taken over" }), denied);
  expectCode(await ask("store_trash", { scope, path: "x.md" }), denied);
}

describe.for(hostileTexts.map((row) => Object.assign({ title: titleOf(row.text) }, row)))("$title", (row) => {
  const { text } = row;
  afterAll(expectUntouched);

  test("as a path, a prefix and a scope", async () => {
    const request = { scope: "memory", path: text };
    const found = await ask("store_read", request);
    expectCode(found, row.path === "denied" ? denied : "ok");
    if (found.ok) expect(found.data).toEqual(['{"ok":true,"content":null}']);
    else expectCode(await ask("store_write", { ...request, content: "taken over" }), denied);
    expectCode(await ask("store_trash", request), denied);
    const list = await ask("store_list", { scope: "memory", prefix: text });
    expectCode(list, row.prefix === "denied" ? denied : "ok");
    if (list.ok) expect((list.data as string[])[0]).not.toMatch(/bob|"x\.md"|owner|journal/);
    if (text !== "memory") await expectScopeDenied(text);
  });

  test("as the name of an entry", async () => {
    expectCode(await read(text), row.name);
    expectCode(await remove(text), row.name);
    if (row.name !== "ENTRY_NOT_FOUND") expectCode(await upsert(text), row.name);
  });

  // Bob has a memory.
  test.skipIf(text === "bob")("as a user id", async () => {
    const ctx = { userId: text };
    const code = row.user === "fits" ? "ENTRY_NOT_FOUND" : row.user;
    expectCode(await read("x", ctx), code);
    expectCode(await remove("x", ctx), code);
    if (row.user !== "fits") expectCode(await upsert("x", ctx), code);
    expect(await indexOf(text)).toBe(row.user === "fits" ? "" : row.user);
  });
});

test.for(notTexts.map((value) => ({ value, title: titleOf(value) })))("$title, which is no text", async ({ value }) => {
  for (const of of ["store_read", "store_trash"]) expectCode(await ask(of, { scope: "memory", path: value }), denied);
  expectCode(await ask("store_list", { scope: "memory", prefix: value }), denied);
  expectCode(await ask("store_write", { scope: "memory", path: "y.md", content: value }), denied);
  expectCode(await ask("clock_now", { userId: value }), denied);
  await expectScopeDenied(value);
  for (const call of [read, remove, upsert]) expectCode(await call(value), "INPUT_INVALID");
  const code = value === null ? "USER_REQUIRED" : "USER_INVALID";
  for (const call of [read, upsert]) expectCode(await call("x", { userId: value as string }), code);
  expect(await indexOf(value)).toBe(code);
  expectUntouched();
});

test.for(["userId", "user", "ctx", "scope", "path", "dataDir", "__proto__", "constructor"])(
  "a field %s beside the name is refused and does not change the user",
  async (key) => {
    const input = JSON.parse(`{"name":"x","${key}":"bob"}`) as object;
    expectCode(await runtime.call("ReadUserMemory", input, alice), "INPUT_INVALID");
  },
);

test("an id that is a prefix, a suffix, or another case of a user's id is another user", async () => {
  for (const userId of ["bo", "bobb", "ob", "Bob", "BOB", "bob_", "alice@", "alic"]) {
    expectCode(await read("x", { userId }), "ENTRY_NOT_FOUND");
  }
  expectUntouched();
});

test.for(["", "../bob/memory", "MEMORY", "memory/"])("no capability opens the scope %j", expectScopeDenied);

test.for(["trash", "trash/", "trash/y.md", "Trash/y.md", "TRASH/y.md", "tRaSh", "trash/old.md"])(
  "a guest cannot write or move %s",
  async (path) => {
    expectCode(await ask("store_write", { scope: "memory", path, content: "x" }), denied);
    expectCode(await ask("store_trash", { scope: "memory", path }), denied);
    expectUntouched();
  },
);

test("control: files inside are read and listed, and the clock answers", async () => {
  const found = await ask("store_read", { scope: "memory", path: "x.md" });
  expect(found.ok && (found.data as string[])[0]).toContain("of alice");
  const list = await ask("store_list", { scope: "memory", prefix: "" });
  expect(list.ok && (list.data as string[])[0]).toContain('"MEMORY.md"');
  expect(await ask("clock_now", {})).toMatchObject({ ok: true, data: [expect.stringContaining("epochMs")] });
  expectUntouched();
});
