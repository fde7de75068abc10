/** Transactions of OpenAI Agents: what a run that waits for an approval stores, and random ones beside the SDK's session. */
import { Agent, MemorySession, run, RunState, setTracingDisabled, tool } from "@openai/agents-core";
import type { AgentInputItem, Session, SessionHistoryTransaction } from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { createRuntime, memoryStore } from "memcell";
import { memcellSession } from "memcell/openai-agents";
import { z } from "zod";

setTracingDisabled(true);
await using runtime = await createRuntime({ store: memoryStore(), plugins: ["run-history"] });

/** Runs until the approval, gives it in a state that was stored, as another process does, and goes on. */
async function approved(session: Session): Promise<AgentInputItem[]> {
  const book = tool({
    name: "book",
    description: "Books a seat",
    parameters: z.object({ seat: z.string() }),
    needsApproval: true,
    execute: ({ seat }) => `booked ${seat}`,
  });
  const model = new ScriptedModel([
    [functionCall("book", { seat: "1A" }, { callId: "call-1" })],
    [assistantMessage("Seat 1A is yours.")],
  ]);
  const agent = new Agent({ name: "planner", model, tools: [book] });
  const first = await run(agent, "Book seat 1A", { session });
  const state = await RunState.fromString(agent, first.state.toString());
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  await run(agent, state, { session });
  return session.getItems();
}

const own = await approved(memcellSession(runtime, { userId: "alice" }, "chat"));
const usual = await approved(new MemorySession());

let [seed, steps, refused] = [11, 0, 0];
const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
const item = (): AgentInputItem => ({ role: "user", content: `c${random(3)}` });
const items = (count: number): AgentInputItem[] => Array.from({ length: random(count) }, item);

const differences: unknown[] = [];
for (let program = 0; program < 100; program++) {
  const session = memcellSession(runtime, { userId: `u${program}` }, "chat");
  const oracle = new MemorySession({ sessionId: "chat" });
  for (let at = 0; at < 12; at++, steps++) {
    const expectedSuffix = random(3) === 0 ? items(3) : (await oracle.getItems()).slice(-random(3) || Infinity);
    const transaction: SessionHistoryTransaction =
      random(2) === 0
        ? { type: "append_items", items: items(3) }
        : { type: "replace_suffix", expectedSuffix, replacement: items(3) };
    const args = { operationId: `o${random(8)}`, transaction };
    const clears = random(12) === 0;
    const outcomes = await Promise.all(
      [session, oracle].map(async (each) => {
        if (clears) await each.clearSession();
        const isApplied = await each.applyHistoryTransaction(args).then(
          () => true,
          () => false,
        );
        return JSON.stringify([isApplied, await each.getItems()]);
      }),
    );
    if (outcomes[0] !== outcomes[1]) differences.push({ program, at, args, outcomes });
    if (outcomes[1]?.startsWith("[false")) refused += 1;
  }
}

const shape = (all: AgentInputItem[]): unknown[] => all.map(({ type = "message" }) => type);
console.log(JSON.stringify({ own: shape(own), usual: shape(usual), steps, refused, differences }));
