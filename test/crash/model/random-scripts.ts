/** Some steps of every kind in random order, the same for the same seed. */
import { seededRandom } from "../../support/seeded-random.ts";
import { close, edit, grant, look, move, process, put, recreate, remove, upsert } from "../homes/step.ts";
import type { Step } from "../homes/step.ts";
import { storeSubject } from "../homes/stores.ts";
import { alice, userSubject } from "../homes/user.ts";
import type { Script } from "./scripts.ts";

interface Dice {
  readonly random: () => number;
  readonly choose: <Each>(...each: readonly [Each, ...Each[]]) => Each;
  /** Seldom long, at most `bytesMax`. */
  readonly text: (bytesMax: number) => string;
}

function diceOf(seed: number): Dice {
  const random = seededRandom(seed);
  return {
    random,
    choose: (...each) => each[Math.floor(random() * each.length)] ?? each[0],
    text: (bytesMax) => `Text ${Math.floor(random() * 1e6)}. ${"x".repeat(Math.floor(random() ** 3 * bytesMax))}`,
  };
}

const stepsOf = (step: () => Step): Step[] => Array.from({ length: 9 }, step);

export function randomScript(seed: number): Script {
  const { random, choose, text } = diceOf(seed);
  const step = (): Step => {
    const [name, body] = [choose("one", "two", "three"), text(3000)];
    const kind = random();
    if (kind < 0.4) return upsert(name, body);
    if (kind < 0.55) return remove(name);
    if (kind < 0.65) return recreate(name, body);
    if (kind < 0.75) return edit(choose("MEMORY.md", `${name}.md`), `${body}\n`);
    if (kind < 0.85) return process(choose(1, 2));
    return kind < 0.92 ? close : look;
  };
  return { name: `random script ${seed}`, subject: userSubject(alice), steps: stepsOf(step), density: 0.6 };
}

export function randomStoreScript(seed: number): Script {
  const { random, choose, text } = diceOf(seed);
  const letter = (): string => choose("a", "b", "c");
  const step = (): Step => {
    const [name, stores] = [choose("one", "two"), choose("ab", "bc", "ac", "abc", "a", "b", "c")];
    const body = text(2000);
    const kind = random();
    if (kind < 0.4) return put(stores, name, body);
    if (kind < 0.6) return move(letter(), letter(), name, random() < 0.5);
    if (kind < 0.7) return grant(letter(), stores, body);
    if (kind < 0.8) return edit(`${letter()}/${choose("index", name)}.md`, `${body}\n`);
    if (kind < 0.88) return process(choose(1, 2));
    return kind < 0.94 ? close : look;
  };
  return { name: `random script of stores ${seed}`, subject: storeSubject, steps: stepsOf(step), density: 0.4 };
}
