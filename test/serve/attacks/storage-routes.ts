/** Another agent's memory over the storage routes: by ids in queries, bodies, keys and headers. */
import type { Ask, HeaderLine } from "./asking.ts";
import { refusal, refused, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { percentEncoded } from "./withstand.ts";

const json: HeaderLine = ["Content-Type", "application/json"];
const memory = "/api/storage/memory";
const notes = "/api/storage/memory-scoped";

const get = (target: string, ...headers: readonly HeaderLine[]): Ask => ({
  method: "GET",
  target,
  headers: [json, ...headers],
  body: "",
});
const remove = (target: string): Ask => ({ ...get(target), method: "DELETE" });
const put = (target: string, body: object | string): Ask => ({
  ...get(target),
  method: "PUT",
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const post = (target: string, body: object): Ask => ({ ...put(target, body), method: "POST" });

const denied = refusal(403, "call memory alice ACCESS_DENIED", '{"error":"Access denied to this store"}');
const notOwner = (action: string): Expected => ({ ...denied, says: `Cannot ${action} this store: only its owner can` });
const otherAgent = refused("storage-other-agent", "alice");
const unfit = refused("storage-unfit", "alice");
/** Refused by the tool. */
const unfitKey = refusal(400, "call memory alice INPUT_INVALID");
const nothing = served(404, ["call memory alice done"]);
/** Alice has nothing there. */
const aliceEntries = served(200, ["call memory alice done"], '{"entries":[]}');
const aliceNotes = served(200, ["call CallerNotes alice done"], '{"entries":[]}');
const share = { store: "$store", grantee: "alice", level: "readwrite" };
const list = `${notes}?action=list`;
const namespace = (name: string): string => `namespace=${encodeURIComponent(name).replaceAll("%24", "$")}`;
const push = { namespace: "owner", lines: [] };

/** No routes. */
const unknownPaths = [
  ["/api/storage", "/api/storage/memories", `${notes}/k`, "/api/storage//memory", `${memory};x=1`],
  ["/api/storage/%6demory", "/api/storage/files", "//api/storage/memory", "/api/storage/x/../memory/$user"],
].flat();

const unfitQueries = [
  ["store=$store&store=$store", "%73tore=$store&store=$store", "owner=$user", "Store=$user", "store[]=$user"],
  ["action=get&key=k", "a=%ff", "prefix=%zz", "store=../$user", "store=urn:uuid:$store", "store=$user"],
  ["caller=$user", "agentId=alice&agentId=$user", "agentId=alice&agent%49d=$user"],
  Array.from({ length: 65 }, (_, at) => `p${at}`).join("&"),
]
  .flat()
  .map((query) => `${memory}?${query}`);

const form = ["Content-Type", "application/x-www-form-urlencoded"] as const;
const gzip = ["Content-Encoding", "gzip"] as const;
const large = JSON.stringify({ value: "x".repeat(1_048_576) });

/** Bodies of an entry. */
const bodies: readonly (readonly [expected: Expected, body: string | Buffer, ...headers: readonly HeaderLine[]])[] = [
  [refused("body-type", "alice"), "value=1", form],
  [refused("body-type", "alice"), '{"value":1}', json, gzip],
  [refused("body-too-large", "alice"), large, json],
  ...['{"value":1', '{"value":1,"agentId":"alice","agentId":"$user"}', '{"__proto__":{},"value":1}'].map(
    (text) => [refused("body-unfit", "alice"), text, json] as const,
  ),
  ...["[]", "null", '{"value":1,"ownerId":"$user"}', '{"value":1,"agentId":["$user"]}'].map(
    (text) => [unfit, text, json] as const,
  ),
];

export const storageAttacks: readonly Attack[] = [
  ...unknownPaths.map((path) => row(`the path ${path}`, refused("path-unknown"), get(path))),
  ...[...unfitQueries, `${memory}/k?inContext=true`].map((path) =>
    row(`the query of ${path.slice(0, 60)}`, unfit, get(path)),
  ),
  ...bodies.map(([expected, body, ...headers]) =>
    row(`a body such as ${String(body).slice(0, 40)}`, expected, { ...put(`${memory}/k`, ""), headers, body }),
  ),
  row("read an entry", denied, get(`${memory}/plan?store=$store`)),
  row("read one as a program", denied, { ...get(`${memory}/plan?store=$store`), headers: [] }),
  row("list a store", denied, get(`${memory}?inContext=true&store=$store`)),
  row("search a store", denied, get(`${memory}?action=search&q=kumquat&store=$store`)),
  row("write an entry", denied, put(`${memory}/plan`, { value: 1, store: "$store" })),
  row("delete an entry", denied, remove(`${memory}/plan?store=$store`)),
  row("grant itself access", notOwner("share"), post(`${memory}?action=share`, share)),
  row("revoke a grant", notOwner("unshare"), remove(`${memory}?action=share&store=$store&grantee=alice`)),
  row(
    "set a value of programs",
    { ...denied, records: ["call SetInternal alice ACCESS_DENIED"] },
    put(`${memory}/plan`, { value: 1, inContext: false, store: "$store" }),
  ),
  row("a chat that it names", denied, get(`${memory}/plan?store=$store&chatId=$store&userId=$store`)),
  row("its store's id there", otherAgent, get(`${memory}?agentId=$store`)),
  row("alice's id with a space behind it", otherAgent, get(`${memory}?agentId=alice%20`)),
  row("alice's id with NUL behind it", otherAgent, get(`${memory}?agentId=alice%00`)),
  row("an escaped id there", otherAgent, ({ userId }) => get(`${memory}?agentId=${percentEncoded(userId)}`)),
  row("two ids with a comma", otherAgent, get(`${memory}?agentId=alice,$user`)),
  row("an id in the body", otherAgent, put(`${memory}/k`, { value: 1, agentId: "$user" })),
  row("in the body and the query", unfit, put(`${memory}/k?agentId=$user`, { value: 1 })),
  row("a store's id in capitals", unfit, ({ store }) => get(`${memory}?store=${store.toUpperCase()}`)),
  row("headers that name an agent", aliceEntries, get(memory, ["X-Agent-Id", "$user"], ["Cookie", "agentId=$user"])),
  row("another host", refused("host-unknown"), get(memory, ["Host", "evil.example"])),
  row("another page", refused("origin-unknown"), get(memory, ["Origin", "https://evil.example"])),
  row("an X-API-Key", refused("credentials-several"), get(memory, ["X-API-Key", "$user"])),
  row("an X-API-Key alone", refused("key-unexpected"), { ...get(memory, ["X-API-Key", "$user"]), isAnonymous: true }),
  row("a query's token", refused("token-missing"), { ...get(`${memory}?access_token=$expired`), isAnonymous: true }),
  row("a key that is a path to another store", nothing, get(`${memory}/shared/$store/plan`)),
  row("the same escaped", nothing, get(`${memory}/shared%2F$store%2Fplan`)),
  row("a key that climbs to a user's folder", unfitKey, get(`${memory}/..%2F..%2F..%2Fusers%2F$user%2Fmemory%2Fk`)),
  row("a prefix that climbs", unfitKey, get(`${memory}?prefix=../$store/`)),
  row("a key that ends in a slash, to list", unfit, get(`${memory}/%2F?store=$store`)),
  row("another agent's notes", otherAgent, get(`${list}&agentId=$user`)),
  row("by its id in the body", otherAgent, put(notes, { agentId: "$user", namespace: "owner", key: "k", content: "" })),
  row(
    "by its id in the body of a push",
    otherAgent,
    post(`${notes}?action=sync&agentId=alice`, { agentId: "$user", ...push }),
  ),
  row("by a store", unfit, get(`${list}&store=$store`)),
  row("by a namespace with its name", aliceNotes, get(`${list}&${namespace("caller:agent:$user")}&namespace=owner`)),
  row("by a namespace with a path", aliceNotes, get(`${list}&${namespace("caller:../../../$store/entries")}`)),
  row("by a search", aliceNotes, get(`${notes}?action=search&q=kumquat`)),
];
