/** A user with an entry, and a write of a run that has read a web page. */
import { createRuntime } from "../host-under-test.ts";

type Runtime = Awaited<ReturnType<typeof createRuntime>>;

export const alice = { userId: "alice" };

/** The clock stands still, so that an approval in any process writes the same bytes. */
export const openPendingRuntime = (dataDir: string): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1, clock: () => Date.UTC(2026, 0, 2) });

export async function writeOwn(runtime: Runtime): Promise<void> {
  await upsert(runtime, "mine", "direct_user");
}

/** Returns the id under which it waits. */
export async function writeOfPage(runtime: Runtime): Promise<string> {
  const answer = await upsert(runtime, "mine", "tool_external");
  if (answer.ok || answer.pending === undefined) throw new Error("The write does not wait");
  return answer.pending.id;
}

function upsert(runtime: Runtime, name: string, of: "direct_user" | "tool_external"): ReturnType<Runtime["call"]> {
  const input = { action: "upsert", name, type: "user", description: of, body: `from ${of}` };
  return runtime.call("UpdateUserMemory", input, { ...alice, callId: of, origin: { class: of, run: of } });
}

export type Decision = "wait" | "approve" | "reject";

/** Makes the page's write wait, or decides about the one that waits. */
export async function decide(runtime: Runtime, decision: Decision): Promise<void> {
  if (decision === "wait") return void (await writeOfPage(runtime));
  const [{ id } = { id: "" }] = await runtime.upkeep.pending(alice);
  await runtime.upkeep[decision](alice, id);
}
