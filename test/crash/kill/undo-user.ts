/** A user whose memory and own store a run has poisoned. */
import { createRuntime } from "../host-under-test.ts";

type Runtime = Awaited<ReturnType<typeof createRuntime>>;

export const poisonedRun = "poisoned";

/** The clock stands still, so that trashed files get the same names in each process. */
export const openUndoRuntime = (dataDir: string): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: ["user-memory", "stores"], threadsMax: 1, clock: () => Date.UTC(2026, 0, 2) });

/** `isPoisoned`: with the run. */
export async function writeUndoUser(dataDir: string, isPoisoned: boolean): Promise<void> {
  let atMs = Date.UTC(2026, 0, 1);
  const plugins = ["user-memory", "stores"];
  await using runtime = await createRuntime({ dataDir, plugins, threadsMax: 1, clock: () => atMs });
  const call = async (tool: string, input: object, run: string): Promise<void> => {
    atMs += 1_000;
    if (run === poisonedRun && !isPoisoned) return;
    const result = await runtime.call(tool, input, { userId: "alice", origin: { class: "direct_user", run } });
    if (!result.ok) throw new Error(result.error.message);
  };
  const upsert = (name: string, body: string, run = "honest"): Promise<void> =>
    call("UpdateUserMemory", { action: "upsert", name, type: "user", description: body, body }, run);
  const remove = (name: string): Promise<void> => call("UpdateUserMemory", { action: "delete", name }, poisonedRun);
  const note = (path: string, content: string, run = "honest"): Promise<void> =>
    call("memory", { command: "create", path: `/memories/${path}.md`, content }, run);
  for (const name of ["changed", "deleted", "remade", "kept"]) await upsert(name, `honest ${name}`);
  await note("honest", "a note");
  await upsert("changed", "poison", poisonedRun);
  await remove("deleted");
  await remove("remade");
  await upsert("remade", "poison", poisonedRun);
  await upsert("made", "poison", poisonedRun);
  await note("made", "poison", poisonedRun);
  await upsert("later", "honest later");
}
