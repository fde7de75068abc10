/** Some steps of every kind in random order, the same for the same seed. */
import { seededRandom } from "../../support/seeded-random.ts";
import { stepsOf } from "../homes/step.ts";
import { storeSubject } from "../homes/stores.ts";
import { alice, userSubject } from "../homes/user.ts";
import type { Script } from "./scripts.ts";

/** By kind of home: steps, some of them several times to be chosen more often, and how many states are tried. */
const kinds = [
  {
    of: "a user",
    subject: userSubject(alice),
    density: 0.6,
    steps:
      "upsert NAME BYTES; upsert NAME BYTES; upsert NAME BYTES; delete NAME; recreate NAME BYTES; " +
      "edit NAME.md; edit MEMORY.md; process 1; process 2; close; look",
  },
  {
    of: "stores",
    subject: storeSubject,
    density: 0.4,
    steps:
      "put STORES NAME BYTES; put STORES NAME BYTES; put STORES NAME BYTES; grant LETTER STORES BYTES; " +
      "move LETTER LETTER NAME; move LETTER LETTER NAME trashed; edit LETTER/NAME.md; edit LETTER/index.md; " +
      "process 1; process 2; close; look",
  },
];

export function randomScripts(seed: number): Script[] {
  const random = seededRandom(seed);
  const anyOf = (texts: readonly string[]): string => texts[Math.floor(random() * texts.length)] ?? "";
  const words: Readonly<Record<string, () => string>> = {
    NAME: () => anyOf(["one", "two", "three"]),
    LETTER: () => anyOf(["a", "b", "c"]),
    STORES: () => anyOf(["ab", "bc", "ac", "abc", "a", "b", "c"]),
    // Seldom long.
    BYTES: () => `${1 + Math.floor(random() ** 3 * 3000)}`,
  };
  const step = (choices: readonly string[]): string =>
    anyOf(choices).replaceAll(/[A-Z]{4,}(?!\.)/g, (word) => words[word]?.() ?? word);
  return kinds.map(({ of, subject, density, steps }) => {
    const script = Array.from({ length: 9 }, () => step(steps.split("; "))).join("; ");
    return { name: `random script of ${of} ${seed}`, subject, density, steps: stepsOf(script) };
  });
}
