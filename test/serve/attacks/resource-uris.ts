/** URIs of the victim's resources, read and subscribed to, and other ways to name resources. */
import { inSession, modern } from "./asking.ts";
import { row, served, unfit, unknownResource } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { percentEncoded } from "./withstand.ts";

/** The URI of an entry that alice does not have, or that cannot exist. */
const absent = (code: string): Expected => ({
  kind: "refused",
  statuses: [200],
  records: [`call ReadUserMemory alice ${code}`],
  says: '"error":{"code":-32',
});

const entryOf = "memory://user-memory/entry/";

/** URIs of neither form. Nothing is called. */
const misshapen: readonly string[] = [
  ["", " ", "memory", "memory:", "memory:index", "memory:/index", "memory:///index", "memory://", "MEMORY://INDEX"],
  ["memory://index/", "memory://index?", "memory://index#", "memory://index?user=$user", "memory://index#$user"],
  ["memory://INDEX", "Memory://index", "MEMORY://index", " memory://index", "memory://index ", "memory://index\n"],
  ["memory://index\0", "memory://index\0$user", "memory://in\tdex", "memory://%69ndex", "memory://index.md"],
  ["memory://$user@index", "memory://$user:$user@index", "memory://index@$user", "memory://index:80", "memory://*"],
  ["memory://index/$user", "memory://$user/index", "memory://$user/entry/$entry", "memory://user-memory/entry"],
  ["memory://entry/plan", "memory://unknown/index", "memory://unknown/entry/plan", "memory://user-memory"],
  ["memory://user-memory/", "memory://user-memory/index/", "memory://user-memory/INDEX"],
  ["memory://user-memory//index", "memory://user%2Dmemory/index", "memory://User-memory/index"],
  ["memory://-user-memory/index", "memory://user-memory/Entry/plan", "memory://user-memory:80/entry/plan"],
  ["memory://user@user-memory/entry/plan", "memory://user-memory\\entry\\plan", entryOf, `${entryOf}/`],
  [`${entryOf}/plan`, `${entryOf}plan/`, `${entryOf}a/b`, `${entryOf}../plan`, `${entryOf}plan?x=1`],
  [`${entryOf}plan?user=$user`, `${entryOf}plan#x`, `${entryOf}plan\n`, `${entryOf}plan\r\n`, `${entryOf}pl\u00e4n`],
  [`${entryOf}pl\u0430n`, `${entryOf}%`, `${entryOf}%2`, `${entryOf}$entry%2`, `${entryOf}%zz`, `${entryOf}%ff`],
  [`${entryOf}%c0%ae%c0%ae`, `${entryOf}..%c0%af..%c0%af$user%c0%af$entry`, `${entryOf}%ed%a0%80`],
  [`${entryOf}{name}`, `${entryOf}*`, `${entryOf}$entry;user=$user`, `${entryOf}../../$user/memory/$entry`],
  [`${entryOf}..\\..\\$user\\memory\\$entry`, `${entryOf}..\u2215..\u2215$user\u2215$entry`],
  [`${entryOf}..%u2215$user%u2215$entry`, `${entryOf}${"a".repeat(4_096)}`, `${entryOf}${"a".repeat(100_000)}`],
  ["/data/users/$user/memory/MEMORY.md", "file:///data/users/$user/memory/MEMORY.md", "file:///etc/passwd"],
  ["data:text/plain,$user", "http://127.0.0.1/", "javascript:alert(1)", "../../etc/passwd", "/etc/passwd"],
].flat();

/** URIs of the form of an entry's, with names that no entry can have. The guest refuses these. */
const misnamed: readonly string[] = [
  [".", "..", "%2e%2e", "..%2f..%2f$user%2fmemory%2f$entry", "..%252f..%252f$user%252f$entry", "%2Fetc%2Fpasswd"],
  ["%2e%2e%2f%2e%2e%2f$user%2f$entry", "..%5c..%5c$user%5c$entry", "..%E2%88%95$user%E2%88%95$entry"],
  ["%2fdata%2fusers%2f$user", ".memcell%2Fowner", "trash%2F$entry", "trash%2fplan", "plan%00$entry", "plan%00"],
  ["plan%0a$entry", "plan%0a", "%20plan", "%256bept", "plan.md", "$entry.md", "%F0%9F%98%80"],
  "a".repeat(101),
]
  .flat()
  .map((name) => `${entryOf}${name}`);

const read = (title: string, expected: Expected, uri: unknown): Attack =>
  row(title, expected, inSession("resources/read", { uri }));
const subscribe = (title: string, expected: Expected, params: object): Attack =>
  row(title, expected, inSession("resources/subscribe", params));
const list = (title: string, expected: Expected, params: object): Attack =>
  row(title, expected, inSession("resources/list", params));

const noEntry = absent("ENTRY_NOT_FOUND");
const accepted = served(200, [], '"result":{}');
const victimsEntry = { uri: `${entryOf}$entry` };
const cursorOf = (text: string): string => Buffer.from(text).toString("base64url");
const listed = ["JournalEntries", "ListEntries", "ListOwnEntries", "ListRuns"].map((tool) => `call ${tool} alice done`);

export const resourceAttacks: readonly Attack[] = [
  ...misshapen.map((uri) => read(`the URI ${JSON.stringify(uri).slice(0, 60)}`, unknownResource, uri)),
  ...misnamed.map((uri) => read(`the URI ${uri.slice(0, 60)}`, absent("INPUT_INVALID"), uri)),
  read("the victim's entry", noEntry, victimsEntry.uri),
  row("the victim's entry, in escapes", noEntry, ({ entry }) =>
    inSession("resources/read", { uri: `${entryOf}${percentEncoded(entry)}` }),
  ),
  read("an entry called constructor", noEntry, `${entryOf}constructor`),
  read("an entry called __proto__", noEntry, `${entryOf}__proto__`),
  read("a device as an entry", absent("NAME_RESERVED"), `${entryOf}con`),
  read("the index as an entry", absent("NAME_RESERVED"), `${entryOf}MEMORY`),
  row("another server", unknownResource, ({ trapUrl: uri }) => inSession("resources/read", { uri })),
  row("the victim's entry, in 2026", noEntry, modern("resources/read", victimsEntry)),
  row("the victim's index, in 2026", unknownResource, modern("resources/read", { uri: "memory://$user/index" })),
  read("a number", unfit, 1),
  read("a list", unfit, [victimsEntry.uri]),
  read("an object", unfit, { uri: "memory://index", userId: "$user" }),
  read("nothing", unfit, undefined),
  subscribe("a subscription to the victim's entry", accepted, victimsEntry),
  row("the end of the victim's subscription", accepted, inSession("resources/unsubscribe", victimsEntry)),
  subscribe("a subscription to the victim's index", unknownResource, { uri: "memory://$user/index" }),
  subscribe("a subscription to everything", unknownResource, { uri: "memory://*" }),
  subscribe("a subscription that names the victim", accepted, {
    uri: "memory://index",
    userId: "$user",
    _meta: { userId: "$user" },
  }),
  list("the list, with the victim", served(200, listed, "where Alice goes"), {
    userId: "$user",
    _meta: { userId: "$user" },
  }),
  ...["0", "", "../", "from 1", "__proto__", cursorOf("from 1 of bob"), cursorOf("from -1")].map((cursor) =>
    list(`a forged cursor ${JSON.stringify(cursor)}`, unfit, { cursor }),
  ),
  list("a cursor beyond the end", served(200, listed, '"resources":[]'), { cursor: cursorOf("from 999999") }),
];
