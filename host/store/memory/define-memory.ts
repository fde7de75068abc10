import type { StoreDefinition } from "../store.ts";
import { answerReads } from "./answer-reads.ts";
import { MemoryUsers } from "./memory-users.ts";

/**
 * Users' memory in this process alone, for `createRuntime`: for the tests of a program that embeds memcell, and for trying
 * things out. It makes no file and needs no folder.
 *
 * Users are kept apart, calls of one user run one after another, and a change set is applied all or not at all, as with
 * `fileStore`; the same limits hold. All that is kept lies in the thread that has called this, for as long as the returned
 * object lives: each call makes another memory, and runtimes that are given the same object share one. A closed runtime
 * leaves it as it is.
 *
 * What it does not promise: nothing outlives the process, so nothing is durable, and nothing bounds all users together.
 *
 * @example
 * const runtime = await createRuntime({ store: memoryStore() });
 */
export function memoryStore(): StoreDefinition {
  const users = new MemoryUsers();
  return {
    location: { kind: "memory" },
    answerReads: (bridge) => answerReads(users, bridge),
    open: () => users,
    checkTools: () => {},
    checkLogFile: () => {},
    holdsFile: () => false,
  };
}
