/** Scripts of changes over several stores, each for one thing that can go wrong. */
import { seededRandom } from "../../support/seeded-random.ts";
import type { Script } from "./scripts.ts";
import type { AnyOperation, Step } from "./step.ts";
import { storeSubject } from "./store-subject.ts";
import type { Subject } from "./subject.ts";

const subject = storeSubject as Subject<AnyOperation>;

const put = (stores: string, name: string, body = `${name} in ${stores}.`): Step => ({
  do: "put",
  in: stores,
  name,
  body,
});
const move = (from: string, to: string, name: string, keeps = false): Step => ({ do: "move", from, to, name, keeps });
const grant = (of: string, stores: string, text: string): Step => ({ do: "grant", of, in: stores, text });
const edit = (path: string, text: string | null): Step => ({ do: "edit", path, text });
const process = (to: number): Step => ({ do: "change process", to });
const failFlush = (name: string): Step => ({ do: "fail flush", name });
const [look, close]: [Step, Step] = [{ do: "look" }, { do: "close" }];
const long = (bytes: number, letter: string): string => letter.repeat(bytes);

const scripts: readonly Script[] = [
  { name: "first change of two stores", steps: [put("ab", "one")] },
  { name: "first change of three stores", steps: [put("abc", "one"), put("abc", "one", long(900, "x"))] },
  {
    name: "move between stores",
    steps: [put("a", "one"), move("a", "b", "one"), move("b", "a", "one", true)],
    density: 0.4,
  },
  {
    name: "changes of one and of several stores",
    steps: [put("ab", "one"), put("b", "two"), put("a", "three"), move("a", "c", "three"), put("c", "four"), look],
  },
  {
    name: "each store leads and follows",
    steps: [put("ab", "one"), put("bc", "two"), put("ac", "three"), put("b", "x")],
  },
  {
    name: "grants with entries",
    steps: [grant("a", "b", "first"), grant("b", "ac", "second"), grant("a", "a", "third")],
  },
  {
    name: "changes of several stores and retirement",
    steps: [put("ab", "one"), close, look, move("a", "b", "one"), close, put("b", "two"), close, look],
  },
  {
    name: "edits between changes of several stores",
    steps: [
      put("ab", "one"),
      edit("b/one.md", "Edited by hand.\n"),
      put("abc", "two"),
      edit("a/two.md", "Mine.\n"),
      edit("c/notes.md", "Made by hand.\n"),
      move("b", "c", "one"),
      edit("c/one.md", null),
      put("ac", "one"),
    ],
  },
  {
    name: "an edit during a change of several stores",
    steps: [
      put("ab", "one"),
      {
        do: "edit meanwhile",
        path: "b/index.md",
        text: "Mine.\n",
        call: { do: "put", in: "ab", name: "two", body: "Second." },
      },
      {
        do: "edit meanwhile",
        path: "a/one.md",
        text: "Mine.\n",
        call: { do: "move", from: "a", to: "b", name: "one", keeps: true },
      },
    ],
  },
  {
    name: "two processes change several stores",
    steps: [
      put("ab", "one"),
      process(2),
      move("a", "c", "one"),
      process(1),
      put("bc", "two"),
      process(2),
      put("a", "three"),
      close,
      process(1),
      put("abc", "four"),
      look,
    ],
  },
  {
    name: "a change of several stores after a restart",
    steps: ["x", "y", "z"].flatMap((letter): Step[] => [put("ab", "one", long(1800, letter)), { do: "restart" }, look]),
    density: 2,
  },
  {
    name: "a part's flush fails",
    steps: [put("ab", "one"), failFlush("journal"), put("ab", "two"), put("ab", "three"), look],
  },
  {
    name: "a flush of three stores fails, one after the other",
    steps: [
      put("abc", "one"),
      ...[1, 2, 3, 4, 5].flatMap((nth): Step[] => [
        { do: "fail flush", name: "journal", after: nth - 1 },
        put("abc", `of-${nth}`),
        put("abc", "next"),
      ]),
      look,
    ],
    density: 0.4,
  },
  {
    // After a power cut the refused change can be there: in both stores.
    name: "a leader's record can appear again",
    steps: [
      put("ab", "one"),
      { do: "fail flush", name: "journal", after: 1 },
      failFlush(".memcell"),
      put("ab", "two"),
      process(2),
      put("b", "three"),
    ],
    density: 2,
  },
  {
    name: "neither a leader's record nor its new WAL can be flushed",
    steps: [
      put("ab", "one"),
      process(2),
      put("b", "two"),
      process(1),
      { do: "fail flush", name: "journal", after: 1 },
      failFlush(".memcell"),
      put("ab", "three"),
      process(2),
      close,
      put("b", "four"),
      look,
      process(1),
      put("ab", "five"),
    ],
  },
  {
    name: "an entry's flush fails in one of two stores",
    steps: [put("ab", "one"), failFlush("one.md"), close, put("ab", "two"), look, close],
  },
];

export const storeScripts: readonly Script[] = scripts.map((script) => Object.assign({}, script, { subject }));

/** Some steps of every kind in random order, the same for the same seed. */
export function randomStoreScript(seed: number): Script {
  const random = seededRandom(seed);
  const choose = <Each>(...each: readonly [Each, ...Each[]]): Each =>
    each[Math.floor(random() * each.length)] ?? each[0];
  const step = (): Step => {
    const name = choose("one", "two");
    const stores = choose("ab", "bc", "ac", "abc", "a", "b", "c");
    const text = `Text ${Math.floor(random() * 1e6)}. ${"x".repeat(Math.floor(random() ** 3 * 2000))}`;
    const kind = random();
    if (kind < 0.4) return put(stores, name, text);
    if (kind < 0.6) return move(choose("a", "b", "c"), choose("a", "b", "c"), name, random() < 0.5);
    if (kind < 0.7) return grant(choose("a", "b", "c"), stores, text);
    if (kind < 0.8) return edit(`${choose("a", "b", "c")}/${choose("index", name)}.md`, `${text}\n`);
    if (kind < 0.88) return process(choose(1, 2));
    if (kind < 0.94) return close;
    return look;
  };
  return { name: `random script of stores ${seed}`, subject, steps: Array.from({ length: 9 }, step), density: 0.4 };
}
