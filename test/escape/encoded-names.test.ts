/** Names that people give to files reach a guest percent-encoded: no encoding climbs, hides, or is a second way to a file. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ToolResult } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";
import { ask, memory } from "./puppet-stage.ts";

const clock = (): number => 1_700_000_000_000;
let stage: RuntimeStage;
beforeAll(async () => {
  const plugins = [testPlugin("puppet")];
  stage = await openStage({ plugins, policy: policyFor(plugins), threadsMax: 1, clock });
  writeUserFiles(stage.dataDir, { bob: { "memory/a.md": "of bob" } });
});
afterAll(() => stage[Symbol.asyncDispose]());

let users = 0;
/** A user whose memory has these files. */
function userWith(files: Readonly<Record<string, string>>): { readonly userId: string; readonly place: string } {
  const userId = `user-${(users += 1)}`;
  const all = Object.entries({ "a.md": "of alice", ...files });
  writeUserFiles(stage.dataDir, { [userId]: Object.fromEntries(all.map(([path, text]) => [`memory/${path}`, text])) });
  return { userId, place: join(userFolder(stage.dataDir, userId), "memory") };
}

const play = (userId: string, ...steps: readonly unknown[]): Promise<ToolResult> =>
  stage.runtime.call("Puppet", steps, { userId });

async function replies(userId: string, ...steps: readonly unknown[]): Promise<Record<string, unknown>[]> {
  const result = (await play(userId, ...steps)) as { readonly data?: readonly string[] };
  return result.data?.map((text) => JSON.parse(text) as Record<string, unknown>) ?? expect.fail(JSON.stringify(result));
}

const listed = ({ entries }: Record<string, unknown>): string[] =>
  (entries as readonly { readonly path: string }[]).map(({ path }) => path);

const refused: readonly (readonly [why: string, name: string])[] = [
  ["a climb", "%2E%2E"],
  ["half a climb", ".%2E"],
  ["a hidden name", "%2Egit"],
  ["a slash", "x%2Fa.md"],
  ["a backslash", "..%5C..%5Cbob"],
  ["a stream of NTFS", "a.md%3A%3A%24DATA"],
  ["NUL", "a.md%00"],
  ["a line end", "a%0Ab.md"],
  ["an escape sequence", "%1B[2J"],
  ["C1 controls", "%C2%9B.md"],
  ["a line separator", "%E2%80%A8.md"],
  ["an override", "%E2%80%AEdm.a"],
  ["an isolate", "%E2%81%A6a.md"],
  ["a zero-width space", "a%E2%80%8B.md"],
  ["a byte order mark", "%EF%BB%BFa.md"],
  ["a soft hyphen", "a%C2%AD.md"],
  ["U+FFFD, which stands for bytes that are no text", "%EF%BF%BD.md"],
  ["a letter that needs no encoding", "%61.md"],
  ["a dot that needs none", "a%2Emd"],
  ["a percent sign that is alone", "100%.md"],
  ["lower case", "%c3%bc.md"],
  ["one digit", "%A.md"],
  ["bytes that are no UTF-8", "%FF.md"],
  ["an overlong slash", "%C0%AF.md"],
  ["half a pair", "%ED%A0%80.md"],
  ["a code point that is none", "%F5%80%80%80.md"],
  ["a letter and its mark (NFD)", "u%CC%88.md"],
  ["a sign that is another (NFC)", "%E2%84%AB.md"],
  ["a space at the end", "a.md%20"],
  ["a space that is all", "%20"],
  ["a device and a space", "con%20.md"],
  ["a device with another digit", "COM%C2%B9.md"],
  ["a name that is too long", `${"%C3%BC".repeat(127)}.md`],
  ["the trash in an encoding", "tr%61sh"],
  ["an encoding of an encoding", "%252E%252E"],
];

test.for(refused)("a guest cannot name %s", async ([, name]) => {
  const { userId } = userWith({});
  const before = readUserFiles(stage.dataDir, userId);
  for (const path of [name, `sub/${name}`, `${name}/a.md`]) {
    for (const step of [
      ask("store_read", memory(path)),
      ask("store_write", memory(path, "x")),
      ask("store_trash", memory(path)),
      ask("store_list", { scope: "memory", prefix: `${path}/` }),
    ]) {
      expect(await play(userId, step)).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    }
  }
  expect(readUserFiles(stage.dataDir, userId)).toEqual(before);
});

/** Each name, and the path by which a guest reaches it. */
const odd: Readonly<Record<string, string>> = {
  "Über mich.md": "%C3%9Cber%20mich.md",
  "日記.md": "%E6%97%A5%E8%A8%98.md",
  "100%.md": "100%25.md",
  "a'b(c)!~*.md": "a%27b%28c%29%21%7E%2A.md",
  "👨‍👩‍👧.md": "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7.md",
  " a.md": "%20a.md",
  "Projekte & Ideen/2026 #1.md": "Projekte%20%26%20Ideen/2026%20%231.md",
};

test("each name has one path: a guest lists, reads, replaces and removes the file, which keeps its name", async () => {
  const files = Object.fromEntries(Object.keys(odd).map((name) => [name, `of ${name}`]));
  const { userId, place } = userWith(files);
  const [list = {}] = await replies(userId, ask("store_list", { scope: "memory" }));
  expect(listed(list)).toEqual(["a.md", ...Object.values(odd)].toSorted());
  for (const [name, path] of Object.entries(odd)) {
    const steps = [ask("store_read", memory(path)), ask("store_write", memory(path, "new"))];
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    expect(await replies(userId, ...steps)).toEqual([{ ok: true, content: `of ${name}` }, { ok: true }]);
    expect(readFileSync(join(place, name), "utf8")).toBe("new");
  }
  const trashed = await replies(userId, ...Object.values(odd).map((path) => ask("store_trash", memory(path))));
  expect(trashed.map((each) => each["trashed"])).toEqual(
    Object.values(odd).map((path) => `trash/${path.slice(0, -3)}.20231114T221320000Z.md`),
  );
  expect(readdirSync(join(place, "trash")).toSorted()[0]).toBe(" a.20231114T221320000Z.md");
});

test("a guest's new file has on the disk the name that its path says", async () => {
  const { userId, place } = userWith({});
  const paths = ["%C3%BC/caf%C3%A9.md", "%C3%BC/%E6%97%A5.md"];
  await replies(userId, ...paths.map((path) => ask("store_write", memory(path, path))));
  expect(readdirSync(join(place, "ü")).toSorted()).toEqual(["café.md".normalize("NFC"), "日.md"]);
});

const nfd = (text: string): string => text.normalize("NFD");

test("a file whose name is NFD on the disk is found and listed as NFC, and a change leaves its name", async () => {
  const { userId, place } = userWith({ [nfd("é/ü.md")]: "of a person" });
  const path = "%C3%A9/%C3%BC.md";
  const found = await replies(
    userId,
    ask("store_list", { scope: "memory" }),
    ask("store_list", { scope: "memory", prefix: "%C3%A9/" }),
    ask("store_read", memory(path)),
  );
  expect(found.slice(0, 2).map(listed)).toEqual([[path, "a.md"], [path]]);
  expect(found[2]).toEqual({ ok: true, content: "of a person" });
  await replies(userId, ask("store_write", memory(path, "new")), ask("store_write", memory("%C3%A9/b.md", "b")));
  expect(readdirSync(place).toSorted()).toEqual([nfd("é"), "a.md"].toSorted());
  expect(readUserFiles(stage.dataDir, userId)).toEqual({
    "memory/a.md": "of alice",
    [`memory/${nfd("é/ü.md")}`]: "new",
    [`memory/${nfd("é")}/b.md`]: "b",
  });
});

test("of a name in both forms, NFC is the file, the other is left, and the doctor names it", async () => {
  const { userId, place } = userWith({ [nfd("ü.md")]: "decomposed", "ü.md": "composed" });
  const path = "%C3%BC.md";
  const [list = {}, read] = await replies(
    userId,
    ask("store_list", { scope: "memory" }),
    ask("store_read", memory(path)),
  );
  expect([listed(list), read]).toEqual([[path, "a.md"], { ok: true, content: "composed" }]);
  await replies(userId, ask("store_write", memory(path, "new")));
  await replies(userId, ask("store_trash", memory(path)));
  expect(readFileSync(join(place, nfd("ü.md")), "utf8")).toBe("decomposed");
  writeFileSync(join(place, "ü.md"), "again");
  const findings = await stage.runtime.upkeep.inspect({ userId });
  expect(findings).toMatchObject([
    { path: `memory/${nfd("ü.md")}`, message: expect.stringContaining("in another form of Unicode") as string },
  ]);
});

test("links, and names that are no text or that hide something, are no files", async () => {
  const { userId, place } = userWith({
    "\u202egnp.md": "x",
    "a\nb.md": "x",
    "\u200b.md": "x",
    "%2E%2E": "x",
    é: "of alice",
  });
  const bobs = join(userFolder(stage.dataDir, "bob"), "memory");
  symlinkSync(join(bobs, "a.md"), join(place, "ü.md"));
  symlinkSync(bobs, join(place, "ö"));
  mkdirSync(Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0xc3])]));
  writeFileSync(Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0x62, 0xff])]), "no text");
  const [list = {}] = await replies(userId, ask("store_list", { scope: "memory" }));
  expect(listed(list)).toEqual(["%C3%A9", "a.md"]);
  for (const path of ["%C3%BC.md", "%C3%B6/a.md"]) {
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    const result = await play(userId, ask("store_read", memory(path)));
    expect(JSON.stringify(result)).toContain("STORAGE_UNSAFE");
    expect(JSON.stringify(result)).not.toContain("of bob");
  }
  expect(readUserFiles(stage.dataDir, "bob")).toEqual({ "memory/a.md": "of bob" });
  const findings = await stage.runtime.upkeep.inspect({ userId });
  expect(findings.map(({ path }) => path).filter((path) => path.startsWith("memory/"))).toHaveLength(8);
});
