/** Claude Agent SDK reads, lists and deletes sessions of a user's memory; and random programs beside its own store. */
import {
  deleteSession,
  foldSessionSummary,
  getSessionMessages,
  getSubagentMessages,
  InMemorySessionStore,
  listSessions,
} from "@anthropic-ai/claude-agent-sdk";
import type { Options, SessionKey, SessionStore, SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import { createRuntime, memoryStore } from "memcell";
import { sessionStore } from "memcell/claude-agent-sdk";

await using runtime = await createRuntime({ store: memoryStore(), plugins: ["run-history"] });

// The one line. A query needs the CLI and a key, so the rest of the program uses what the SDK itself does with a store.
const options = {
  sessionStore: sessionStore(runtime, { userId: "alice" }, { foldSessionSummary }),
} satisfies Options;
const store: SessionStore = options.sessionStore;

const dir = "/srv/project";
const sessionId = "0f0f0f0f-0000-4000-8000-000000000001";
const key: SessionKey = { projectKey: "-srv-project", sessionId };
const uuid = (n: number): string => `0f0f0f0f-0000-4000-8000-${String(n).padStart(12, "0")}`;

const line = (n: number, type: "user" | "assistant", content: unknown, more: object = {}) => ({
  type,
  uuid: uuid(n),
  parentUuid: n % 10 === 1 ? null : uuid(n - 1),
  sessionId,
  timestamp: `2026-01-01T00:00:0${n % 10}.000Z`,
  isSidechain: false,
  cwd: dir,
  message: { role: type, content },
  ...more,
});

const image = [{ type: "image", source: { type: "base64", data: "iVBORw0KGgo/".repeat(50_000) } }];
const batch = [line(1, "user", "Which seats are free?"), line(2, "assistant", [{ type: "text", text: "1A" }])];
await Promise.all([store.append(key, batch), store.append(key, batch)]);
await store.append(key, [line(3, "user", image)]);
const agent = { agentId: "a1", isSidechain: true };
await store.append({ ...key, subpath: "subagents/agent-a1" }, [line(11, "user", "Look", agent)]);

const messages = await getSessionMessages(sessionId, { dir, sessionStore: store });
const subagent = await getSubagentMessages(sessionId, "a1", { dir, sessionStore: store });
const listed = await listSessions({ dir, sessionStore: store });
const plain = await listSessions({ dir, sessionStore: sessionStore(runtime, { userId: "alice" }) });
const others = await listSessions({ dir, sessionStore: sessionStore(runtime, { userId: "bob" }) });
await deleteSession(sessionId, { dir, sessionStore: store });
const deleted = [await store.load(key), await listSessions({ dir, sessionStore: store })];

let [seed, steps, entries] = [5, 0, 0];
const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
const anyKey = (): SessionKey => ({
  projectKey: `p${random(2)}`,
  sessionId: `s${random(2)}`,
  ...(random(3) === 0 && { subpath: `subagents/agent-${random(2)}` }),
});

async function stateOf(each: SessionStore): Promise<string> {
  const state: unknown[] = [];
  for (const projectKey of ["p0", "p1"]) {
    state.push((await each.listSessions?.(projectKey))?.map((session) => session.sessionId).toSorted());
    state.push((await each.listSessionSummaries?.(projectKey))?.map(({ data }) => data));
    for (const id of ["s0", "s1"]) {
      const paths = (await each.listSubkeys?.({ projectKey, sessionId: id }))?.toSorted();
      const keys = [
        { projectKey, sessionId: id },
        ...(paths ?? []).map((subpath) => ({ projectKey, sessionId: id, subpath })),
      ];
      for (const one of keys) state.push(one, await each.load(one));
    }
  }
  return JSON.stringify(
    state.map((part) => (Array.isArray(part) ? part.map((one) => JSON.stringify(one)).toSorted() : part)),
  );
}

const differences: unknown[] = [];
for (let program = 0; program < 25; program++) {
  const own = sessionStore(runtime, { userId: `u${program}` }, { foldSessionSummary });
  const oracle = new InMemorySessionStore();
  for (let at = 0; at < 8; at++, steps++) {
    const target = anyKey();
    const isDeletion = random(5) === 0;
    const added = Array.from({ length: 1 + random(3) }, () => {
      entries += 1;
      const timestamp = new Date(1.7e12 + entries).toISOString();
      const odd: SessionStoreEntry[] = JSON.parse(`[{"type":"tag","uuid":null},{"type":"tag","uuid":""},5,"text"]`);
      const [picked] = random(4) === 0 ? odd.slice(random(4)) : [];
      if (picked !== undefined) return picked;
      return random(2) === 0 ? { type: "tag", tag: `t${entries}`, timestamp } : line(entries, "user", `m${entries}`);
    });
    for (const each of [own, oracle]) await (isDeletion ? each.delete?.(target) : each.append(target, added));
  }
  const [mine, usual] = [await stateOf(own), await stateOf(oracle)];
  if (mine !== usual) differences.push({ program, mine, usual });
}

console.log(
  JSON.stringify({
    messages: messages.map(({ type, uuid: id }) => [type, id]),
    image: JSON.stringify(messages[2]?.message) === JSON.stringify({ role: "user", content: image }),
    subagent: subagent.length,
    listed: listed.map(({ sessionId: id, firstPrompt }) => [id, firstPrompt]),
    plain: plain.map(({ sessionId: id, firstPrompt }) => [id, firstPrompt]),
    others,
    deleted,
    steps,
    differences,
  }),
);
