import type { memoryProblems } from "../../shared/user-memory/inspect.ts";
import type { StoreProblem } from "../store/store.ts";

/** One thing that is wrong with a user's files. */
export interface Finding {
  readonly problem: StoreProblem | (typeof memoryProblems)[number] | "not-inspected";
  /** The file, inside the user's folder. */
  readonly path: string;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** What mending does about it, in a sentence; `null` when only a person can help. */
  readonly remedy: string | null;
}
