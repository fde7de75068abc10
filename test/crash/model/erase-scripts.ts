/** Scripts in which a user is erased, all or nothing. */
import { eraseSubject } from "./erase-subject.ts";
import type { Script } from "./scripts.ts";
import type { Step } from "./step.ts";

const upsert = (name: string, body: string): Step => ({ do: "upsert", name, body });
const erase: Step = { do: "erase" };
const look: Step = { do: "look" };

export const eraseScripts: readonly Script[] = (
  [
    { name: "erase", steps: [upsert("one", "First."), upsert("note", "Mine."), erase, look] },
    {
      name: "erase, and begin anew",
      steps: [
        upsert("note", "Mine."),
        upsert("one", "First."),
        { do: "close" },
        erase,
        upsert("note", "Anew."),
        upsert("one", "Second."),
        { do: "change process", to: 2 },
        look,
        erase,
      ],
    },
  ] satisfies Script[]
).map((script) => Object.assign(script, { subject: eraseSubject }));
