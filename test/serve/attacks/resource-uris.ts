/** URIs of the victim's resources, read and subscribed to, and other ways to name resources. */
import { inSession, modern } from "./asking.ts";
import { absentEntry, row, served, unfit, unknownMethod, unknownResource } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { percentEncoded } from "./withstand.ts";

const entryOf = "memory://user-memory/entry/";

/** URIs of neither form. Nothing is called. */
export const misshapen: readonly string[] = [
  ["", " ", "memory:", "memory:///index", "MEMORY://INDEX", "Memory://index", "memory://index?user=$user"],
  ["memory://index#$user", " memory://index", "memory://index\n", "memory://index\0$user", "memory://in\tdex"],
  ["memory://%69ndex", "memory://$user@index", "memory://index:80", "memory://*", "memory://$user/index"],
  [
    "memory://$user/entry/$entry",
    "memory://unknown/index",
    "memory://run-history/entry/p%2Frun-1",
    "memory://user-memory",
  ],
  ["memory://user-memory//index", "memory://user%2Dmemory/index", "memory://User-memory/index", entryOf],
  ["memory://-user-memory/index", "memory://user-memory\\entry\\plan", `${entryOf}/plan`, `${entryOf}plan/`],
  [`${entryOf}a/b`, `${entryOf}plan?x=1`, `${entryOf}plan#x`, `${entryOf}plan\n`, `${entryOf}pl\u0430n`],
  [`${entryOf}%`, `${entryOf}%zz`, `${entryOf}%ff`, `${entryOf}%c0%ae%c0%ae`, `${entryOf}%ed%a0%80`],
  [`${entryOf}../../$user/memory/$entry`, `${entryOf}..%u2215$user%u2215$entry`, `${entryOf}{name}`],
  [`${entryOf}${"a".repeat(4_096)}`, `${entryOf}${"a".repeat(100_000)}`],
  ["file:///data/users/$user/memory/MEMORY.md", "data:text/plain,$user", "http://127.0.0.1/", "../../etc/passwd"],
].flat();

/** URIs of the form of an entry's, with names that no entry can have. The guest refuses these. */
const misnamed: readonly string[] = [
  ["..", "%2e%2e", "..%2f..%2f$user%2fmemory%2f$entry", "..%252f..%252f$user%252f$entry", "%2Fetc%2Fpasswd"],
  ["..%5c..%5c$user%5c$entry", "..%E2%88%95$user%E2%88%95$entry", ".memcell%2Fowner", "trash%2F$entry"],
  ["plan%00$entry", "plan%0a", "%20plan", "%256bept", "plan.md", "%F0%9F%98%80", "a".repeat(101)],
]
  .flat()
  .map((name) => `${entryOf}${name}`);

const read = (title: string, expected: Expected, uri: unknown): Attack =>
  row(title, expected, inSession("resources/read", { uri }));
const subscribe = (title: string, expected: Expected, params: object): Attack =>
  row(title, expected, inSession("resources/subscribe", params));
const list = (title: string, expected: Expected, params: object): Attack =>
  row(title, expected, inSession("resources/list", params));

const noEntry = absentEntry("ENTRY_NOT_FOUND");
const victimsEntry = { uri: `${entryOf}$entry` };
const cursorOf = (text: string): string => Buffer.from(text).toString("base64url");
const listed = ["JournalEntries", "ListEntries", "ListOwnEntries", "ListRuns"].map((tool) => `call ${tool} alice done`);

export const resourceAttacks: readonly Attack[] = [
  ...misshapen.map((uri) => read(`the URI ${JSON.stringify(uri).slice(0, 60)}`, unknownResource, uri)),
  ...misnamed.map((uri) => read(`the URI ${uri.slice(0, 60)}`, absentEntry("INPUT_INVALID"), uri)),
  read("the victim's entry", noEntry, victimsEntry.uri),
  row("the victim's entry, in escapes", noEntry, ({ entry }) =>
    inSession("resources/read", { uri: `${entryOf}${percentEncoded(entry)}` }),
  ),
  read("an entry called __proto__", noEntry, `${entryOf}__proto__`),
  read("a device as an entry", absentEntry("NAME_RESERVED"), `${entryOf}con`),
  read("the index as an entry", absentEntry("NAME_RESERVED"), `${entryOf}MEMORY`),
  row("another server", unknownResource, ({ trapUrl: uri }) => inSession("resources/read", { uri })),
  row("the victim's entry, in 2026", noEntry, modern("resources/read", victimsEntry)),
  read("a number", unfit, 1),
  read("an object", unfit, { uri: "memory://index", userId: "$user" }),
  subscribe("a subscription to the victim's entry", unknownMethod, victimsEntry),
  row("the end of the victim's subscription", unknownMethod, inSession("resources/unsubscribe", victimsEntry)),
  subscribe("a subscription to the victim's index", unknownMethod, { uri: "memory://$user/index" }),
  list("the list, with the victim", served(200, listed, "where Alice goes"), {
    userId: "$user",
    _meta: { userId: "$user" },
  }),
  ...["0", "", "from 1", cursorOf("from 1 of bob"), cursorOf("from -1")].map((cursor) =>
    list(`a forged cursor ${JSON.stringify(cursor)}`, unfit, { cursor }),
  ),
  list("a cursor beyond the end", served(200, listed, '"resources":[]'), { cursor: cursorOf("from 999999") }),
];
