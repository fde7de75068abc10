import { answerReads } from "../bridge/answer-reads.ts";
import type { StoreDefinition } from "../definition.ts";
import { MemoryEngine } from "./memory-engine.ts";

/**
 * Keeps users' memory in this process only, for `createRuntime`. Use it to test a program that embeds memcell, or to
 * try things out. It creates no file and needs no folder.
 *
 * As with `fileStore`, users are kept apart, calls of one user run one after another, a change set is applied
 * completely or not at all, and the same limits apply. The data is in the thread that called this function, as long as
 * the returned object lives. Each call creates another memory; runtimes that get the same object share one. Closing a
 * runtime keeps the data. Nothing outlives the process, so nothing is durable. Nothing limits all users together.
 *
 * @example
 * const runtime = await createRuntime({ store: memoryStore() });
 */
export function memoryStore(...options: readonly never[]): StoreDefinition {
  if (options.length > 0) throw new TypeError("memoryStore keeps nothing on a disk and takes no options");
  const engine = new MemoryEngine();
  return {
    location: { kind: "memory" },
    answerReads: (bridge) => answerReads(engine.answer, bridge),
    open: (_note, settings = engine.settings) => Object.assign(engine, { settings }),
    checkTools: () => {},
    checkLogFile: () => {},
    holdsFile: () => false,
  };
}
