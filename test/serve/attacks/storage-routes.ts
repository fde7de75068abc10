/** Another agent's memory over the storage routes: by ids in queries, bodies, keys and headers. */
import { storeIdOf } from "memcell";

import type { Ask, HeaderLine } from "./asking.ts";
import { refused, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { percentEncoded } from "./try-attack.ts";

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

/** The own store of the victim. */
const storeOf = ({ userId }: { readonly userId: string }): string => storeIdOf(userId);

const denied: Expected = {
  kind: "refused",
  statuses: [403],
  records: ["call memory alice ACCESS_DENIED"],
  says: '{"error":"Access denied to this store"}',
};
const notOwner = (action: string): Expected => ({ ...denied, says: `Cannot ${action} this store: only its owner can` });
const otherAgent = refused(403, "storage-other-agent");
const unfit = refused(400, "storage-unfit");
/** Refused by the tool. */
const unfitKey: Expected = { kind: "refused", statuses: [400], records: ["call memory alice INPUT_INVALID"] };
/** Alice has nothing there. */
const aliceEntries = served(200, ["call memory alice done"], '{"entries":[]}');
const aliceNotes = served(200, ["call CallerNotes alice done"], '{"entries":[]}');

const stores: Attack[] = [
  row("read an entry", denied, (victim) => get(`${memory}/plan?store=${storeOf(victim)}`)),
  row("read one as a program", denied, (victim) => ({
    ...get(`${memory}/plan?store=${storeOf(victim)}`),
    headers: [],
  })),
  row("read one that is not there", denied, (victim) => get(`${memory}/nothing?store=${storeOf(victim)}`)),
  row("list a store", denied, (victim) => get(`${memory}?inContext=true&store=${storeOf(victim)}`)),
  row("search a store", denied, (victim) => get(`${memory}?action=search&q=kumquat&store=${storeOf(victim)}`)),
  row("search all stores", aliceEntries, () => get(`${memory}?action=search&q=kumquat`)),
  row("write an entry", denied, (victim) => put(`${memory}/plan`, { value: 1, store: storeOf(victim) })),
  row("delete an entry", denied, (victim) => remove(`${memory}/plan?store=${storeOf(victim)}`)),
  row("grant itself access", notOwner("share"), (victim) =>
    post(`${memory}?action=share`, { store: storeOf(victim), grantee: "alice", level: "readwrite" }),
  ),
  row("revoke a grant", notOwner("unshare"), (victim) =>
    remove(`${memory}?action=share&store=${storeOf(victim)}&grantee=alice`),
  ),
  row("set a value of programs", { ...denied, records: ["call SetInternal alice ACCESS_DENIED"] }, (victim) =>
    put(`${memory}/plan`, { value: 1, inContext: false, store: storeOf(victim) }),
  ),
  row("a chat that the client names", denied, (victim) =>
    get(`${memory}/plan?store=${storeOf(victim)}&chatId=${storeOf(victim)}&userId=${storeOf(victim)}`),
  ),
];

const ids: Attack[] = [
  row("another agent's id in the query", otherAgent, ({ userId }) => get(`${memory}?agentId=${userId}`)),
  row("its store's id there", otherAgent, (victim) => get(`${memory}?agentId=${storeOf(victim)}`)),
  row("an escaped id there", otherAgent, ({ userId }) => get(`${memory}?agentId=${percentEncoded(userId)}`)),
  row("two ids with a comma", otherAgent, ({ userId }) => get(`${memory}?agentId=alice,${userId}`)),
  row("two ids in a repeated parameter", unfit, ({ userId }) => get(`${memory}?agentId=alice&agentId=${userId}`)),
  row("the id with an escaped name beside it", unfit, ({ userId }) =>
    get(`${memory}?agentId=alice&agent%49d=${userId}`),
  ),
  row("an id in the body", otherAgent, ({ userId }) => put(`${memory}/k`, { value: 1, agentId: userId })),
  row("twice in the body", refused(400, "body-unfit"), ({ userId }) =>
    put(`${memory}/k`, `{"value":1,"agentId":"alice","agentId":"${userId}"}`),
  ),
  row("in the body and the query", unfit, ({ userId }) => put(`${memory}/k?agentId=${userId}`, { value: 1 })),
  row("a store by its user's id", unfit, ({ userId }) => get(`${memory}?store=${userId}`)),
  row("a store's id in capitals", unfit, (victim) => get(`${memory}?store=${storeOf(victim).toUpperCase()}`)),
  row("an owner", unfit, ({ userId }) => put(`${memory}/k`, { value: 1, owner: userId })),
  row("a caller", unfit, ({ userId }) => get(`${memory}?caller=${userId}`)),
  row("headers that name an agent", aliceEntries, ({ userId }) =>
    get(
      memory,
      ["X-Agent-Id", userId],
      ["X-User-Id", userId],
      ["X-Forwarded-User", userId],
      ["Cookie", `agentId=${userId}`],
    ),
  ),
  row("an X-API-Key", refused(400, "credentials-several", "nobody"), ({ userId }) =>
    get(memory, ["X-API-Key", userId]),
  ),
  row("an X-API-Key alone", refused(400, "key-unexpected", "nobody"), ({ userId }) => ({
    ...get(memory, ["X-API-Key", userId]),
    isAnonymous: true,
  })),
  row("a query's token", refused(401, "token-missing", "nobody"), ({ expiredToken }) => ({
    ...get(`${memory}?access_token=${expiredToken}`),
    isAnonymous: true,
  })),
];

const keys: Attack[] = [
  row("a key that is a path to another store", served(404, ["call memory alice done"]), (victim) =>
    get(`${memory}/shared/${storeOf(victim)}/plan`),
  ),
  row("the same escaped", served(404, ["call memory alice done"]), (victim) =>
    get(`${memory}/shared%2F${storeOf(victim)}%2Fplan`),
  ),
  row("a key that climbs to another store", unfitKey, (victim) => get(`${memory}/..%2F${storeOf(victim)}%2Fplan`)),
  row("a key that climbs to a user's folder", unfitKey, ({ userId }) =>
    get(`${memory}/..%2F..%2F..%2F..%2Fusers%2F${userId}%2Fmemory%2F${userId}-plan.md`),
  ),
  row("a path that climbs out of the routes", refused(404, "path-unknown", "nobody"), ({ userId }) =>
    get(`/api/storage/x/../memory/${userId}`),
  ),
  row("a prefix that climbs", unfitKey, (victim) => get(`${memory}?prefix=../${storeOf(victim)}/`)),
  row("a key that ends in a slash, to list", unfit, (victim) => get(`${memory}/%2F?store=${storeOf(victim)}`)),
];

const scoped: Attack[] = [
  row("another agent's notes", otherAgent, ({ userId }) => get(`${notes}?action=list&agentId=${userId}`)),
  row("by its id in the body", otherAgent, ({ userId }) =>
    put(notes, { agentId: userId, namespace: "owner", key: "k", content: "" }),
  ),
  row("by its id in the query of a push", otherAgent, ({ userId }) =>
    post(`${notes}?action=sync&agentId=${userId}`, { namespace: "owner", lines: [] }),
  ),
  row("by its id in the body of a push", otherAgent, ({ userId }) =>
    post(`${notes}?action=sync&agentId=alice`, { agentId: userId, namespace: "owner", lines: [] }),
  ),
  row("by a store", unfit, (victim) => get(`${notes}?action=list&store=${storeOf(victim)}`)),
  row("by a namespace with its name", aliceNotes, ({ userId }) =>
    get(`${notes}?action=list&namespace=${encodeURIComponent(`caller:agent:${userId}`)}&namespace=owner`),
  ),
  row("by a namespace with a path", aliceNotes, (victim) =>
    get(`${notes}?action=list&namespace=${encodeURIComponent(`caller:../../../${storeOf(victim)}/entries`)}`),
  ),
  row("by a namespace with a comma", { ...unfitKey, records: ["call CallerNotes alice INPUT_INVALID"] }, ({ userId }) =>
    get(`${notes}?action=list&namespace=${encodeURIComponent(`caller:agent:${userId},owner`)}`),
  ),
  row("by a search", aliceNotes, () => get(`${notes}?action=search&q=kumquat`)),
];

export const storageAttacks: readonly Attack[] = [...stores, ...ids, ...keys, ...scoped];
