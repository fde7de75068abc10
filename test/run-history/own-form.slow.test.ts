/** The longest text: what takes seconds. */
import { newEvent, opaqueData } from "memcell/run-history";
import { expect, test } from "vitest";

import { note, useHistory } from "./stage.ts";

const newUser = useHistory();

const kept = (json: string) => newEvent(undefined, opaqueData({ format: "test", json }));

test("a text has 8 Mi characters at most; a longer one stores nothing", async () => {
  const { history } = newUser();
  const largest = JSON.stringify("x".repeat(8 * 1024 * 1024 - 2));
  await expect(history.append("agent", "run", [note("a"), kept(` ${largest}`)])).rejects.toMatchObject({
    code: "INPUT_INVALID",
    issues: [{ field: "events[1].data.json", value: "8388609 characters", allowed: "at most 8388608" }],
  });
  expect((await history.load("agent", "run")).events).toEqual([]);
  await history.append("agent", "run", [kept(largest)], { unchangedSince: "1-0" });
  const { events } = await history.load("agent", "run", { from: "snapshot", order: "insertion" });
  expect(events.map(({ data }) => data["json"] === largest)).toEqual([true]);
});
