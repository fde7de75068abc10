/**
 * Texts that have escaped from a folder in other software: the case lists of openat2's selftest, cap-std, Go's os.Root,
 * the WASI test suites, Node's permission fixtures, and advisories on similar servers.
 */

import { climbs } from "./climbs.ts";
import { oddIds } from "./odd-ids.ts";

/** How each border answers a text. By default it refuses. */
export interface HostileText {
  readonly text: string;
  /** As a capability's path, and as a prefix. `fits`: it is inside the scope, and no file is there. */
  readonly path: "denied" | "fits";
  readonly prefix: "denied" | "fits";
  /** As an entry's name. `ENTRY_NOT_FOUND`: it is a valid name. */
  readonly name: "INPUT_INVALID" | "NAME_RESERVED" | "ENTRY_NOT_FOUND";
  /** As a user's id. `fits`: it is a valid id, but nobody has it. */
  readonly user: "USER_INVALID" | "fits";
}

type Answers = Partial<Omit<HostileText, "text">>;

const rows = (texts: readonly string[], answers: Answers = {}): HostileText[] =>
  texts.map((text) =>
    Object.assign({ path: "denied", prefix: "denied", name: "INPUT_INVALID", user: "USER_INVALID" } as const, answers, {
      text,
    }),
  );

/** Paths to another user's file, which exists, and to a file of the machine. */
const climbing = climbs.flatMap((climb) => rows([`${climb}bob/memory/x.md`, `${climb}etc/passwd`]));

const stationary = rows([
  ".",
  "..",
  "/",
  "//",
  "./",
  "../",
  "./.",
  "./..",
  "../.",
  "../..",
  "/.",
  "/..",
  "\\",
  ".\\",
  "..\\",
  "./x.md",
  "x.md/.",
  "x.md/..",
  "x.md/../x.md",
  "x.md//",
  "x//x.md",
  "/x.md",
  "./.memcell/owner",
  "../alice/memory/x.md",
  "../memory/x.md",
  "trash/../x.md",
  "trash/./old.md",
  "trash//old.md",
  "../.memcell/owner",
  ".memcell/owner",
  ".memcell/journal",
  ".memcell/",
  "../../alice",
  "x.md\u0000",
  "\u0000",
  "x\u0000.md",
  "x.md\u0000.txt",
  "x\n.md",
  "x\r.md",
  "\n",
  "\t",
  "x\u0085.md",
  "x\u007f.md",
  " x.md",
  "x.md ",
  " ",
  "x.md\u00a0",
  "\u3000x.md",
  "\ud800",
  "x\udc00.md",
  "\udfff\ud800",
  "x/y\\z",
  "a/é",
  "a/．．/b",
  "a/ /b",
  "a/%2e%2e/b",
  "a/.b",
  "a/..b/c\\d",
  "a".repeat(256),
  "a".repeat(500),
  "a".repeat(100_000),
  "é".repeat(200),
  `${"a/".repeat(128)}a`,
  `${"../".repeat(1000)}x`,
  `${"a/../".repeat(100)}x`,
  "/".repeat(300),
  "\\".repeat(300),
]);

/** Texts that end in a slash: not paths, but prefixes. */
const foldersAsPaths = rows(["x.md/", "nobody/", "bob/", "memory/", "CON/", "a.b/"], { prefix: "fits" });

const onWindows = ["CON", "con", "Prn", "AUX", "nul", "COM1", "com9", "LPT1", "lpt9"];
const devices = [
  ...rows(onWindows, { path: "fits", prefix: "fits", name: "NAME_RESERVED", user: "fits" }),
  ...rows(
    onWindows.map((device) => `${device}.md`),
    { path: "fits", prefix: "fits", user: "fits" },
  ),
  ...rows(["nul.a.b", "CON.", "x..", "x.md.", "a..b", "x.MD", "X.md"], { path: "fits", prefix: "fits", user: "fits" }),
];

/** Names with a meaning to JavaScript, to a shell, or to the store. */
const meaningful = rows(
  [
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "null",
    "undefined",
    "NaN",
    "-rf",
    "--help",
    "-",
    "_",
    "0",
    "00",
    "1e3",
    "bob",
    "users",
    "memory1",
    "owner",
    "journal",
    "lock",
  ],
  { path: "fits", prefix: "fits", name: "ENTRY_NOT_FOUND", user: "fits" },
);
const indexNames = rows(["MEMORY", "memory", "Memory", "mEmOrY"], {
  path: "fits",
  prefix: "fits",
  name: "NAME_RESERVED",
  user: "fits",
});

export const hostileTexts: readonly HostileText[] = [
  ...climbing,
  ...stationary,
  ...foldersAsPaths,
  ...rows(oddIds, { user: "fits" }),
  ...devices,
  ...meaningful,
  ...indexNames,
];

/** Values where a text is expected. */
export const notTexts: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e21,
  [],
  ["x.md"],
  ["..", "x"],
  {},
  { toString: "x.md" },
  { length: 4 },
  { 0: "x" },
  { path: "x.md" },
  { type: "Buffer", data: [46, 46, 47] },
  { __proto__: null, constructor: "x" },
];

/** How a test's title shows a text. */
export function titleOf(text: unknown): string {
  const json = JSON.stringify(text) ?? "undefined";
  const visible = json.replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return visible.length > 60 ? `${visible.slice(0, 40)}… of ${String(text).length}` : visible;
}
