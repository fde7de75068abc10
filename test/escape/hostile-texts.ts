/**
 * Texts that have escaped from a folder in other software: the case lists of openat2's selftest, cap-std, Go's os.Root,
 * the WASI test suites, Node's permission fixtures, and advisories on similar servers.
 */

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
export const notTexts: readonly unknown[] = JSON.parse(
  `[null, true, 0, -1, 1e21, [], ["x.md"], ["..", "x"], {}, {"toString":"x.md"}, {"length":4}, {"0":"x"},
    {"path":"x.md"}, {"type":"Buffer","data":[46,46,47]}, {"__proto__":null,"constructor":"x"}]`,
) as unknown[];

/** How a test's title shows a text. */
export function titleOf(text: unknown): string {
  const json = JSON.stringify(text) ?? "undefined";
  const visible = json.replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return visible.length > 60 ? `${visible.slice(0, 40)}… of ${String(text).length}` : visible;
}
