/** A graph that many users run at once keeps what each has said, by the one line of the README. */
import { Annotation, BaseStore, END, getConfig, InMemoryStore, START, StateGraph } from "@langchain/langgraph";
import type { LangGraphRunnableConfig, Operation, OperationResults } from "@langchain/langgraph";
import { createRuntime, memoryStore } from "memcell";
import { memcellStore } from "memcell/langgraph";

await using runtime = await createRuntime({ store: memoryStore(), plugins: ["stores"] });

const State = Annotation.Root({ text: Annotation<string>(), found: Annotation<string[]> });

/** Each user waits for the other between writing and reading. */
let waiting: (() => void)[] = [];
const both = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length < 2) return;
    for (const go of waiting) go();
    waiting = [];
  });

async function remember({ text }: typeof State.State, { store }: LangGraphRunnableConfig) {
  if (!store) throw new Error("The node has no store");
  await store.put(["memories"], "said", { text });
  await both();
  const items = await store.search(["memories"]);
  return { found: items.map(({ value }) => String(value["text"])) };
}

const builder = new StateGraph(State).addNode("remember", remember).addEdge(START, "remember").addEdge("remember", END);
const graph = builder.compile();

const run = async (userId: string): Promise<string[]> => {
  const configurable = { userId };
  const input = { text: `of ${userId}` };
  const { found } = await graph.invoke(input, { configurable, store: memcellStore(runtime, { userId }) });
  return found;
};

/** What a graph must not have: LangGraph calls `batch` from a timer, where it does not know whose run it is. */
class AskingStore extends BaseStore {
  readonly #stores = new Map<string, InMemoryStore>();

  override batch<Operations extends Operation[]>(operations: Operations): Promise<OperationResults<Operations>> {
    const user = String(getConfig()?.configurable?.["userId"] ?? "nobody");
    const store = this.#stores.get(user) ?? new InMemoryStore();
    this.#stores.set(user, store);
    return store.batch(operations);
  }
}

const asking = builder.compile({ store: new AskingStore() });
const ask = async (userId: string): Promise<string[]> => {
  const { found } = await asking.invoke({ text: `of ${userId}` }, { configurable: { userId } });
  return found;
};

/** A graph whose store is fixed: the first label is the user. */
const fixed = memcellStore(runtime, (label: string) => ({ userId: label }));
await Promise.all(["ann", "ben"].map((user) => fixed.put([user, "notes"], "k", { text: `of ${user}` })));
const refused = await fixed.search([]).then(
  () => "found",
  (error: unknown) => (error as Error).message,
);

const answers = {
  own: await Promise.all([run("alice"), run("bob")]),
  asking: await Promise.all([ask("alice"), ask("bob")]),
  fixed: (await memcellStore(runtime, { userId: "ann" }).search(["ann"])).map(({ value }) => value["text"]),
  others: await memcellStore(runtime, { userId: "ann" }).search(["ben"]),
  refused,
};
console.log(JSON.stringify(answers));
