/** URIs of the victim's resources, read and subscribed to, and other ways to name resources. */
import { inSession, modern } from "./asking.ts";
import { row, served, unfit, unknownResource } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import type { Stage, Victim } from "./stage.ts";
import { percentEncoded } from "./try-attack.ts";

type MakeUri = (victim: Victim, stage: Stage) => unknown;

const unknown = unknownResource;

/** The URI of an entry that alice does not have, or that cannot exist. */
const absent = (code: string): Expected => ({
  kind: "refused",
  statuses: [200],
  records: [`call ReadUserMemory alice ${code}`],
  says: '"error":{"code":-32',
});

const read = (title: string, expected: Expected, make: MakeUri): Attack =>
  row(title, expected, (victim, stage) =>
    inSession(stage.alice.session, "resources/read", { uri: make(victim, stage) }),
  );

const unknownUris: Attack[] = [
  read("a user before the index", unknown, ({ userId }) => `memory://${userId}@index`),
  read("a user and a password before the index", unknown, ({ userId }) => `memory://${userId}:${userId}@index`),
  read("a user after the index", unknown, ({ userId }) => `memory://index@${userId}`),
  read("a port", unknown, () => "memory://index:80"),
  read("a slash after the index", unknown, () => "memory://index/"),
  read("a query", unknown, ({ userId }) => `memory://index?user=${userId}`),
  read("a fragment", unknown, ({ userId }) => `memory://index#${userId}`),
  read("a user in the index's place", unknown, ({ userId }) => `memory://${userId}/index`),
  read("a user before the entry", unknown, ({ userId, entry }) => `memory://${userId}/entry/${entry}`),
  read("a user after the entry", unknown, ({ userId }) => `memory://user-memory/entry/plan?user=${userId}`),
  read("a user below the index", unknown, ({ userId }) => `memory://index/${userId}`),
  read("capitals", unknown, () => "MEMORY://INDEX"),
  read("three slashes", unknown, () => "memory:///index"),
  read("no slashes", unknown, () => "memory:index"),
  read("a space before", unknown, () => " memory://index"),
  read("a line feed after", unknown, () => "memory://index\n"),
  read("a tab within", unknown, () => "memory://in\tdex"),
  read("NUL and the victim after", unknown, ({ userId }) => `memory://index\0${userId}`),
  read("two segments", unknown, ({ userId, entry }) => `memory://user-memory/entry/../../${userId}/memory/${entry}`),
  read("an empty segment", unknown, ({ entry }) => `memory://user-memory/entry//${entry}`),
  read("backslashes", unknown, ({ userId, entry }) => `memory://user-memory/entry/..\\..\\${userId}\\memory\\${entry}`),
  read(
    "slashes of Unicode",
    unknown,
    ({ userId, entry }) => `memory://user-memory/entry/..\u2215..\u2215${userId}\u2215${entry}`,
  ),
  read(
    "overlong slashes",
    unknown,
    ({ userId, entry }) => `memory://user-memory/entry/..%c0%af..%c0%af${userId}%c0%af${entry}`,
  ),
  read("half an escape", unknown, ({ entry }) => `memory://user-memory/entry/${entry}%2`),
  read(
    "a Windows escape",
    unknown,
    ({ userId, entry }) => `memory://user-memory/entry/..%u2215${userId}%u2215${entry}`,
  ),
  read("a semicolon", unknown, ({ userId, entry }) => `memory://user-memory/entry/${entry};user=${userId}`),
  read("no name", unknown, () => "memory://user-memory/entry/"),
  read("the template itself", unknown, () => "memory://user-memory/entry/{name}"),
  read("a star", unknown, () => "memory://user-memory/entry/*"),
  read("a very long one", unknown, () => `memory://user-memory/entry/${"a".repeat(100_000)}`),
  read("a path on the disk", unknown, ({ userId }) => `/data/users/${userId}/memory/MEMORY.md`),
  read("a file", unknown, ({ userId }, { dataDir }) => `file://${dataDir}/users/${userId}/memory/MEMORY.md`),
  read("a file of the machine", unknown, () => "file:///etc/passwd"),
  read("data", unknown, ({ userId }) => `data:text/plain,${userId}`),
  read("another server", unknown, (_victim, { trap }) => trap.url),
];

const absentEntries: Attack[] = [
  read("the victim's entry", absent("ENTRY_NOT_FOUND"), ({ entry }) => `memory://user-memory/entry/${entry}`),
  read(
    "the victim's entry, in escapes",
    absent("ENTRY_NOT_FOUND"),
    ({ entry }) => `memory://user-memory/entry/${percentEncoded(entry)}`,
  ),
  read("an entry called constructor", absent("ENTRY_NOT_FOUND"), () => "memory://user-memory/entry/constructor"),
  read("an entry called __proto__", absent("ENTRY_NOT_FOUND"), () => "memory://user-memory/entry/__proto__"),
  read("the index as an entry", absent("NAME_RESERVED"), () => "memory://user-memory/entry/MEMORY"),
  read(
    "a path in escapes",
    absent("INPUT_INVALID"),
    ({ userId, entry }) => `memory://user-memory/entry/..%2f..%2f${userId}%2fmemory%2f${entry}`,
  ),
  read(
    "a path in escapes of escapes",
    absent("INPUT_INVALID"),
    ({ userId, entry }) => `memory://user-memory/entry/..%252f..%252f${userId}%252f${entry}`,
  ),
  read(
    "a path with dots in escapes",
    absent("INPUT_INVALID"),
    ({ userId, entry }) => `memory://user-memory/entry/%2e%2e%2f%2e%2e%2f${userId}%2f${entry}`,
  ),
  read(
    "a path with backslashes in escapes",
    absent("INPUT_INVALID"),
    ({ userId, entry }) => `memory://user-memory/entry/..%5c..%5c${userId}%5c${entry}`,
  ),
  read(
    "slashes of Unicode in escapes",
    absent("INPUT_INVALID"),
    ({ userId, entry }) => `memory://user-memory/entry/..%E2%88%95${userId}%E2%88%95${entry}`,
  ),
  read(
    "an absolute path in escapes",
    absent("INPUT_INVALID"),
    ({ userId }) => `memory://user-memory/entry/%2fdata%2fusers%2f${userId}`,
  ),
  read("the host's own folder", absent("INPUT_INVALID"), () => "memory://user-memory/entry/.memcell%2Fowner"),
  read("the trash", absent("INPUT_INVALID"), ({ entry }) => `memory://user-memory/entry/trash%2F${entry}`),
  read("NUL in escapes", absent("INPUT_INVALID"), ({ entry }) => `memory://user-memory/entry/plan%00${entry}`),
  read("a line feed in escapes", absent("INPUT_INVALID"), ({ entry }) => `memory://user-memory/entry/plan%0a${entry}`),
  read("a file's ending", absent("INPUT_INVALID"), ({ entry }) => `memory://user-memory/entry/${entry}.md`),
];

const noTexts: Attack[] = [
  read("a number", unfit, () => 1),
  read("a list", unfit, ({ entry }) => [`memory://user-memory/entry/${entry}`]),
  read("an object", unfit, ({ userId }) => ({ uri: "memory://index", userId })),
  read("nothing", unfit, () => undefined),
];

const subscriptions: Attack[] = [
  row("a subscription to the victim's entry", served(200, [], '"result":{}'), ({ entry }, { alice }) =>
    inSession(alice.session, "resources/subscribe", { uri: `memory://user-memory/entry/${entry}` }),
  ),
  row("the end of the victim's subscription", served(200, [], '"result":{}'), ({ entry }, { alice }) =>
    inSession(alice.session, "resources/unsubscribe", { uri: `memory://user-memory/entry/${entry}` }),
  ),
  row("a subscription to the victim's index", unknown, ({ userId }, { alice }) =>
    inSession(alice.session, "resources/subscribe", { uri: `memory://${userId}/index` }),
  ),
  row("a subscription to everything", unknown, (_victim, { alice }) =>
    inSession(alice.session, "resources/subscribe", { uri: "memory://*" }),
  ),
  row("a subscription that names the victim", served(200, [], '"result":{}'), ({ userId }, { alice }) =>
    inSession(alice.session, "resources/subscribe", { uri: "memory://index", userId, _meta: { userId } }),
  ),
];

/** The calls behind the list of resources. */
const listing = ["JournalEntries", "ListEntries", "ListOwnEntries", "ListRuns"].map(
  (tool) => `call ${tool} alice done`,
);

const lists: Attack[] = [
  row("the list, with the victim", served(200, listing, "where Alice goes"), ({ userId }, { alice }) =>
    inSession(alice.session, "resources/list", { userId, _meta: { userId } }),
  ),
  ...["0", "", "../", "from 1", "__proto__"].map((cursor) =>
    row(`a forged cursor ${JSON.stringify(cursor)}`, unfit, (_victim, { alice }) =>
      inSession(alice.session, "resources/list", { cursor }),
    ),
  ),
  row("a cursor that names the victim", unfit, ({ userId }, { alice }) =>
    inSession(alice.session, "resources/list", { cursor: Buffer.from(`from 1 of ${userId}`).toString("base64url") }),
  ),
  row("a cursor beyond the end", served(200, listing, '"resources":[]'), (_victim, { alice }) =>
    inSession(alice.session, "resources/list", { cursor: Buffer.from("from 999999").toString("base64url") }),
  ),
  row("a cursor below zero", unfit, (_victim, { alice }) =>
    inSession(alice.session, "resources/list", { cursor: Buffer.from("from -1").toString("base64url") }),
  ),
  row("the victim's entry, in 2026", { ...absent("ENTRY_NOT_FOUND"), statuses: [200] }, ({ entry }) =>
    modern("resources/read", { uri: `memory://user-memory/entry/${entry}` }),
  ),
  row("the victim's index, in 2026", { ...unknown, statuses: [200] }, ({ userId }) =>
    modern("resources/read", { uri: `memory://${userId}/index` }),
  ),
];

export const resourceAttacks: readonly Attack[] = [
  ...unknownUris,
  ...absentEntries,
  ...noTexts,
  ...subscriptions,
  ...lists,
];
