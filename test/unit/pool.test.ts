/** The pool's own part in a cancelled call. */
import { expect, test } from "vitest";

import { Pool } from "../../host/thread/pool.ts";

test("a call that is cancelled between its place and its thread never begins", async () => {
  const pool = new Pool(
    { errors: [], instances: "fresh", store: { kind: "files", dir: "unused", mounts: [] } },
    { modules: Promise.resolve([]), threadsMax: 1, onError: () => {} },
  );
  const controller = new AbortController();
  const bounds = { name: "T", until: Infinity, deadlineMs: 60_000, signal: controller.signal };
  let hasBegun = false;
  const makeTask = (): never => {
    hasBegun = true;
    throw new RangeError("It has begun");
  };
  const running = pool.run({ ...bounds, makeTask, onEnd: () => {} });
  controller.abort(new Error("cancelled"));
  await expect(running).rejects.toThrow("cancelled");
  expect(hasBegun).toBe(false);
  await pool.close();
});
