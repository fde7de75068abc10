import type { Step } from "./memory-steps.ts";
import { storeOf } from "./model/store-operation.ts";

/** The part of the data that a scenario works on: how to recover it, and a further change to it. */
export interface Area {
  readonly look: Step;
  readonly next: Step;
  /** A file that the further change makes, as `filesOf` names it, and its text. */
  readonly nextFile: readonly [path: string, text: string];
}

export const areas = {
  user: {
    look: { kind: "look" },
    next: { kind: "upsert", name: "next", text: "the next text" },
    nextFile: ["memory/next.md", "the next text\n"],
  },
  erased: {
    look: { kind: "erase: look" },
    next: { kind: "upsert", name: "next", text: "the next text" },
    nextFile: ["memory/next.md", "the next text\n"],
  },
  stores: {
    look: { kind: "look at stores", in: "abc" },
    next: { kind: "change stores", operation: { do: "put", in: "abc", name: "next", body: "the next text" } },
    nextFile: [`stores/${storeOf("b")}/entries/next.md`, "the next text\n"],
  },
} as const satisfies Record<string, Area>;
