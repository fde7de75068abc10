/** An agent of OpenAI Agents with sessions in a user's memory, and random programs beside the SDK's own session. */
import { Agent, MemorySession, run, setDefaultModelProvider, setTracingDisabled, Usage } from "@openai/agents-core";
import type { AgentInputItem, Model, ModelRequest, Session } from "@openai/agents-core";
import { createRuntime, memoryStore } from "memcell";
import { memcellSession } from "memcell/openai-agents";

setTracingDisabled(true);
await using runtime = await createRuntime({ store: memoryStore(), plugins: ["run-history"] });

/** Answers with how much it was sent, because the oldest release has no model of its own for tests. */
const model: Model = {
  getResponse: ({ input }: ModelRequest) =>
    Promise.resolve({
      usage: new Usage(),
      output: [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: `${input.length} items` }],
        },
      ],
    }),
  getStreamedResponse: () => {
    throw new Error("not streamed");
  },
};
// The oldest release asks for one, even if it is not used.
setDefaultModelProvider({ getModel: () => model });
const agent = new Agent({ name: "planner", model });
const ctx = { userId: "alice" };
/** The SDK wants to know how a list of items joins the history. */
const sessionInputCallback = (history: AgentInputItem[], items: AgentInputItem[]) => [...history, ...items];

// The one line, three times.
const answers: unknown[] = [];
const image: AgentInputItem = {
  role: "user",
  content: [{ type: "input_image", image: `data:image/png;base64,${"iVBORw0KGgo/".repeat(50_000)}` }],
};
for (const question of ["Which seats are free?", [image], "And tomorrow?"]) {
  const session = memcellSession(runtime, ctx, "chat-1");
  const { finalOutput } = await run(agent, question, { session, sessionInputCallback });
  answers.push(finalOutput);
}
const kept = await memcellSession(runtime, ctx, "chat-1").getItems();
const others = await memcellSession(runtime, { userId: "bob" }, "chat-1").getItems();

let [seed, steps] = [7, 0];
const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
const item = (): AgentInputItem => ({
  role: "user",
  content: String(random(1e9)),
  providerData: { n: [random(9), null] },
});

const step: readonly ((session: Session, limit: number, items: AgentInputItem[]) => Promise<unknown>)[] = [
  (session, _limit, items) => session.addItems(items),
  (session, _limit, items) => session.addItems(items),
  (session, limit) => session.getItems(limit),
  (session) => session.popItem(),
  (session, limit) => (limit === 0 ? session.clearSession() : session.getItems()),
];

const differences: unknown[] = [];
for (let program = 0; program < 100; program++) {
  const own = memcellSession(runtime, { userId: `u${program}` }, "chat");
  const oracle = new MemorySession({ sessionId: "chat" });
  for (let at = 0; at < 12; at++, steps++) {
    const play = step[random(step.length)];
    if (play === undefined) throw new Error("the random numbers are wrong");
    const [limit, items] = [random(5), Array.from({ length: random(4) }, item)];
    const results = await Promise.all([own, oracle].map((session) => play(session, limit, items)));
    const all = await Promise.all([own, oracle].map((session) => session.getItems()));
    if (!same(results) || !same(all)) differences.push({ program, at, results, all });
  }
}

function same([a, b]: readonly unknown[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

console.log(JSON.stringify({ answers, kept: kept.length, image: same([kept[2], image]), others, steps, differences }));
