/** The largest texts and inputs, and commands at once: every command ends with an answer, and changes all or nothing. */
import { expect, test } from "vitest";

import { create, remove, rename, replace, shown, useMemcell, view } from "./tools.ts";

const newUser = useMemcell();

test("a rename that one file cannot follow moves none", async () => {
  const tool = newUser();
  const long = "k".repeat(190);
  await tool.run(create("/memories/p/short", "1"));
  await tool.run(create(`/memories/p/${long}`, "2"));
  expect(await tool.run(rename("/memories/p", "/memories/a-longer-name"))).toMatch(
    /^✗ Cannot use the key "a-longer-name\/k+…": allowed: a key of 1 to 200 characters$/,
  );
  expect(await tool.files()).toEqual({ "p/short": "1", [`p/${long}`]: "2" });
});

test("errors about large inputs fit into an answer", async () => {
  const tool = newUser();
  await tool.run(create("/memories/a", "1\n".repeat(51_200)));
  expect(await tool.run(replace("/memories/a", "\u0001".repeat(80_000), ""))).toBe(
    `✗ No replacement was performed, old_str \`${"\u0001".repeat(2000)}…\` did not appear verbatim in /memories/a.`,
  );
  expect(await tool.run(replace("/memories/a", "1", "2"))).toMatch(
    /in lines: 1, 2, 3, .*, 99, 100 and 51100 more\. Please ensure it is unique$/,
  );
  expect(await tool.run(view(`/memories/${"../".repeat(100_000)}`))).toMatch(/^✗ Path "\/memories\/[./]{290}…" would/);
  expect(await tool.run(view(`/${"\n".repeat(80_000)}`))).toMatch(
    /^✗ Path must start with \/memories, got: ".{200,}…"$/,
  );
});

const places = Array.from({ length: 10 }, (_, at) => String(at));

test("of renames, edits and a deletion at once, each is whole", async () => {
  const tool = newUser();
  for (const name of places) await tool.run(create(`/memories/p/${name}`, "old"));
  const [renamed, edited, deleted] = await Promise.all([
    tool.run(rename("/memories/p", "/memories/q")),
    tool.run(replace("/memories/q/3", "old", "new")),
    tool.run(remove("/memories/p")),
  ]);
  expect(renamed).toBe("Successfully renamed /memories/p to /memories/q");
  expect(edited).toMatch(/^The memory file has been edited\./);
  expect(deleted).toBe("✗ The path /memories/p does not exist");
  expect(await tool.run(view("/memories/q/3"))).toBe(shown("/memories/q/3", "     1\tnew"));
  expect(Object.keys(await tool.files())).toHaveLength(10);
});
