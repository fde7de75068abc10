/** The pool's own part in a cancelled call. */
import { expect, test } from "vitest";

import { Pool } from "../../host/thread/pool.ts";

test("a call that is cancelled between its slot and its thread gives the slot back", async () => {
  const pool = new Pool(
    { errors: [], instances: "fresh", store: { kind: "files", dir: "unused", mounts: [] } },
    { modules: Promise.resolve([]), threadsMax: 1, onError: () => {} },
  );
  const controller = new AbortController();
  const taking = pool.take("T", { until: Infinity, signal: controller.signal });
  controller.abort(new Error("cancelled"));
  await expect(taking).rejects.toThrow("cancelled");
  using _next = await pool.take("T", { until: performance.now(), signal: new AbortController().signal });
  await pool.close();
});
