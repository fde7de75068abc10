import { expect, test } from "vitest";

import { CallEnding } from "../../host/values/call-ending.ts";

test("the first reason counts, and each listener is called once", () => {
  const ending = new CallEnding();
  const heard: string[] = [];
  const gone = (): void => void heard.push("gone");
  ending.addEventListener("abort", () => void heard.push("a"));
  ending.addEventListener("abort", gone);
  ending.addEventListener("abort", () => void heard.push("b"));
  ending.removeEventListener("abort", gone);
  expect(ending.aborted).toBe(false);
  ending.throwIfAborted();
  ending.abort("first");
  ending.abort("second");
  expect([ending.aborted, ending.reason, heard]).toEqual([true, "first", ["a", "b"]]);
  expect(() => ending.throwIfAborted()).toThrow("first");
  ending.addEventListener("abort", () => void heard.push("late"));
  expect(heard).toEqual(["a", "b"]);
});
