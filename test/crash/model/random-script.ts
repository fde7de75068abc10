import { seededRandom } from "../../support/seeded-random.ts";
import type { Script } from "./scripts.ts";
import type { Step } from "./step.ts";

/** Some steps of every kind in random order, the same for the same seed. */
export function randomScript(seed: number): Script {
  const random = seededRandom(seed);
  const choose = <Each>(...each: readonly [Each, ...Each[]]): Each =>
    each[Math.floor(random() * each.length)] ?? each[0];
  const step = (): Step => {
    const name = choose("one", "two", "three");
    const text = `Text ${Math.floor(random() * 1e6)}. ${"x".repeat(Math.floor(random() ** 3 * 3000))}`;
    const kind = random();
    if (kind < 0.4) return { do: "upsert", name, body: text };
    if (kind < 0.55) return { do: "delete", name };
    if (kind < 0.65) return { do: "recreate", name, body: text };
    if (kind < 0.75) return { do: "edit", path: choose("MEMORY.md", `${name}.md`), text: `${text}\n` };
    if (kind < 0.85) return { do: "change process", to: choose(1, 2) };
    if (kind < 0.92) return { do: "close" };
    return { do: "look" };
  };
  return { name: `random script ${seed}`, steps: Array.from({ length: 9 }, step), density: 0.6 };
}
