/**
 * What piscina loads in a thread. It loads the worker with the thread's first task, so that this task fails with whatever
 * keeps the worker from loading. Why CommonJS? (`RATIONALE.md`, "Why does a thread begin with a file in CommonJS?")
 */
let worker: Promise<{ readonly default: (task: never) => Promise<unknown> }> | undefined;

module.exports = async (task: never): Promise<unknown> => {
  worker ??= import("./worker.ts");
  return (await worker).default(task);
};
