/** Bugs in what is kept between two calls, and in what replaces a second look at a file. */
import type { SeededBug } from "./seeded-bug.ts";

const kept = "store/files/kept-sessions.js";

export const keptBugs: readonly SeededBug[] = [
  {
    name: "a kept session is used without a look at its place",
    file: kept,
    find: "return session.ageMs < ageMs && session.isStill();",
    replacement: "return session.ageMs < ageMs;",
  },
  {
    name: "a session is kept while somebody waits for its lock",
    file: kept,
    find: "|| session.place.isWaitedFor()",
    replacement: "",
  },
  {
    name: "a WAL that was copied over the open one counts as the same",
    file: "store/files/commit/wal.js",
    find: "&& this.#seal.isUnbroken(this.#file, this.#now)",
    replacement: "",
  },
  {
    name: "a file's stamp counts, whatever it says",
    file: "store/plan-changes.js",
    find: "&& stamp.text === seen.stamp",
    replacement: "",
  },
  {
    name: "a file that has just changed has a stamp on a disk with coarse times",
    file: "disk/file-stamp.js",
    find: 'if (times === "tick" && !(nowMs - Number(ctimeNs / 1000000n) > youngMs))',
    replacement: 'if (times === "tick" && nowMs < 0)',
    isHarmless: "on this machine each change has a time of its own; test/unit/file-stamp.test.ts finds it",
  },
];
