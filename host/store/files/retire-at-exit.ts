/**
 * Retires WALs when the process ends without closing its stores: by returning, by `process.exit` or by an exception that
 * nobody catches. Then nothing asynchronous runs any more. A signal or a kill ends a process without this.
 */

/** How long the end of a process may be delayed. What is left over is retired at the next start. */
const budgetMs = 2_000;

type Retire = (untilMs: number) => void;

const atExit = new Set<Retire>();

/** Calls `retire` when the process ends, until the returned function is called. */
export function onExit(retire: Retire): () => void {
  if (atExit.size === 0) process.on("exit", retireAll);
  atExit.add(retire);
  return () => {
    atExit.delete(retire);
    if (atExit.size === 0) process.off("exit", retireAll);
  };
}

function retireAll(): void {
  const untilMs = performance.now() + budgetMs;
  for (const retire of atExit) retire(untilMs);
}
