/** What `memcell audit --log` prints about a log. */
import { expect, test } from "vitest";

import { textOfLog } from "../../host/cli/log-text.ts";
import { hostileTexts, unsafeOnTerminal } from "./hostile-names.ts";
import { busyLog, quietLog } from "./log-samples.ts";

test("prints the calls of each user, aligned, with those to notice first", () => {
  const lines = textOfLog(busyLog()).split("\n");
  expect(lines.slice(-7)).toEqual([
    "users                                 calls  failed  denied  refused  changed  last",
    "alice                                  4000     100     100        0        0  2026-03-03 05:58",
    '"bob@example.com"                      3050      80     100        0       73  2026-03-03 05:58',
    "8f14e45f-ceea-467f-a8b1-52a0f3f1c6aa   2100      60       0        0      142  2026-03-03 05:58",
    '"山田"                                 1150      40       0        0      215  2026-03-03 05:58',
    "(no valid user id)                      200      20       0     1000      284  2026-03-03 05:58",
    "  and 33 more users",
  ]);
});

test("prints the calls of each origin, and nothing of a log without any", () => {
  const lines = textOfLog(busyLog()).split("\n");
  const at = lines.findIndex((line) => line.startsWith("origins"));
  expect(lines.slice(at, at + 4)).toEqual([
    "origins        calls  changed",
    "direct_user     3000       43",
    "unstated        6900       20",
    "tool_external    100        9",
  ]);
  expect(textOfLog({ ...busyLog(), callsByOrigin: [] })).not.toContain("origins");
});

test("prints at most 20 users", () => {
  const [first] = busyLog().callsByUser;
  if (!first) throw new Error("The sample has no user");
  const callsByUser = Array.from({ length: 500 }, (_, at) => ({ ...first, userId: `user-${at}` }));
  const lines = textOfLog({ ...busyLog(), callsByUser, usersNotShown: 9_500 }).split("\n");
  expect(lines.filter((line) => line.startsWith("user-"))).toHaveLength(20);
  expect(lines.at(-1)).toBe("  and 9980 more users");
});

test("prints no table of users for a log without any", () => {
  expect(textOfLog(quietLog())).not.toContain("users");
});

test.for(hostileTexts)("a user id with $name is one line of visible characters", ({ text }) => {
  const [first] = busyLog().callsByUser;
  if (!first) throw new Error("The sample has no user");
  const printed = textOfLog({ ...busyLog(), callsByUser: [{ ...first, userId: text }], usersNotShown: 0 });
  expect(printed).not.toMatch(unsafeOnTerminal);
  expect(printed.split("\n").at(-1)).toMatch(/^".* 4000 {5}100 {5}100 {8}0 {8}0 {2}2026-03-03 05:58$/);
});
