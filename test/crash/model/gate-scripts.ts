/** Scripts in which writes wait, are approved and rejected, runs lose trust, and changes are undone. */
import { gate } from "./gate-operation.ts";
import { gateSubject } from "./gate-subject.ts";
import type { Script } from "./scripts.ts";
import type { AnyOperation, Step } from "./step.ts";
import type { Subject } from "./subject.ts";

const close: Step = { do: "close" };
const process = (to: number): Step => ({ do: "change process", to });

const scripts: readonly Script[] = [
  { name: "the first write of a user waits", steps: [gate("wait", "page", "From a page."), gate("approve")] },
  {
    name: "waits, is approved and rejected",
    steps: [
      gate("write", "mine", "My words."),
      gate("wait", "mine", "Of a page."),
      gate("approve"),
      gate("wait", "other", "Of another page."),
      gate("reject"),
    ],
  },
  {
    name: "a run reads and is trusted less",
    steps: [
      gate("infer", "guess", "A guess."),
      gate("read", "guess"),
      gate("write", "mine", "My words."),
      gate("read", "guess"),
    ],
  },
  {
    name: "an undo among writes that wait",
    steps: [
      gate("write", "mine", "My words."),
      gate("infer", "guess", "A guess."),
      gate("wait", "page", "Of a page."),
      gate("infer", "mine", "Not mine."),
      gate("undo"),
      close,
      gate("approve"),
      gate("read", "guess"),
    ],
    density: 0.5,
  },
  {
    name: "two processes decide",
    steps: [
      gate("infer", "guess", "A guess."),
      gate("wait", "page", "Of a page."),
      process(2),
      gate("read", "guess"),
      gate("wait", "other", "Of another page."),
      process(1),
      gate("approve"),
      process(2),
      gate("reject"),
      close,
      process(1),
      gate("read", "guess"),
    ],
    density: 0.3,
  },
  {
    name: "the flush of a write that waits fails",
    steps: [
      gate("write", "mine", "My words."),
      { do: "fail flush", name: "pending" },
      gate("wait", "page", "Of a page."),
      gate("wait", "page", "Of a page."),
      { do: "fail flush", name: "pending" },
      gate("approve"),
      gate("approve"),
    ],
  },
];

const subject = gateSubject as unknown as Subject<AnyOperation>;

export const gateScripts: readonly Script[] = scripts.map((script) => Object.assign({}, script, { subject }));
