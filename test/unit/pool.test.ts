/** The pool's part in cancelling a call. */
import { expect, test } from "vitest";

import { Pool } from "../../host/thread/pool.ts";

test("a call cancelled between its slot and its thread returns the slot", async () => {
  const pool = new Pool(
    { errors: [], instances: "fresh", store: { kind: "files", dir: "unused", mounts: [] } },
    { modules: Promise.resolve([]), threadsMax: 1, onError: () => {} },
  );
  const controller = new AbortController();
  const until = performance.now() + 30_000;
  const taking = pool.take("T", { until, signal: controller.signal });
  controller.abort(new Error("cancelled"));
  await expect(taking).rejects.toThrow("cancelled");
  using _next = await pool.take("T", { until, signal: new AbortController().signal });
  await pool.close();
});
