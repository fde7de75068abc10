/**
 * Turns of the event loop. Long work is done in pieces, and gives others a turn between two of them: all users are
 * served by one thread.
 */
/** Work that can be interrupted at each `yield`, which takes some milliseconds at most from one to the next. */
export type Pieces<Result> = Generator<void, Result, void>;

/** So long may all work together hold a turn before it gives others one. A piece comes on top. */
const turnMs = 10;

/** When the present turn began, on the clock of `performance.now()`; `null` if nobody has asked in it. */
let beganMs: number | null = null;

/** Those who wait for a turn. Each gets one of its own, in order: so many do not hold the loop longer than one. */
const waiting: (() => void)[] = [];

/**
 * Ends the present turn if it has taken long. Costs nothing otherwise, so it can be asked before each of many small
 * pieces. What is awaited in between, such as a promise that is resolved, ends no turn.
 */
export function giveTurn(): Promise<void> | undefined {
  if (beganMs === null) beginTurn();
  else if (performance.now() - beganMs >= turnMs) return new Promise((resolve) => void waiting.push(resolve));
  return undefined;
}

function beginTurn(): void {
  beganMs = performance.now();
  setImmediate(endTurn);
}

function endTurn(): void {
  beganMs = null;
  const next = waiting.shift();
  if (next === undefined) return;
  beginTurn();
  next();
}

/** Does work in pieces, with turns between them. */
export async function inTurns<Result>(work: Pieces<Result>): Promise<Result> {
  try {
    for (;;) {
      const turn = giveTurn();
      // To wait for nothing would take longer than a small piece.
      if (turn !== undefined) await turn;
      const { done, value } = work.next();
      if (done) return value;
    }
  } finally {
    // Closes what it has open, if it was not finished.
    work.return(undefined as Result);
  }
}

/** Does the same at once: in a thread of its own, or at the end of the process. */
export function atOnce<Result>(work: Pieces<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Sorts as `toSorted`: many items in pieces, of which two after two are put together. */
export function* sorted<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): Pieces<Item[]> {
  let runs: Item[][] = [];
  for (let at = 0; at < items.length; at += runItems) {
    runs.push(items.slice(at, at + runItems).toSorted(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

const runItems = 1_024;

/** Of two that compare as equal, the one of `left` comes first. */
function* merge<Item>(left: Item[], right: Item[], compare: (a: Item, b: Item) => number): Pieces<Item[]> {
  const merged: Item[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    const [ofLeft, ofRight] = [left[l] as Item, right[r] as Item];
    if (compare(ofLeft, ofRight) <= 0) {
      merged.push(ofLeft);
      l++;
    } else {
      merged.push(ofRight);
      r++;
    }
    if (merged.length % runItems === 0) yield;
  }
  return merged.concat(left.slice(l), right.slice(r));
}
