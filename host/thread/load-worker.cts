/**
 * What piscina loads in a thread. It loads the worker with the thread's first task, so that this task fails with whatever
 * keeps the worker from loading. Why CommonJS? (`RATIONALE.md`, "Why does a thread begin with a file in CommonJS?")
 */
type Worker = typeof import("./worker.ts");

let worker: Promise<Worker> | undefined;

const runTask: Worker["default"] = async (task) => {
  worker ??= import("./worker.ts");
  return (await worker).default(task);
};

module.exports = runTask;
