/** Commands at once: each sees the whole result of the one before it. */
import { expect, test } from "vitest";

import { create, insert, remove, rename, replace, shown, view } from "./case.ts";
import { MemcellInTest } from "./two-tools.ts";

const places = Array.from({ length: 10 }, (_, at) => String(at));

test("of 10 inserts at once, none is lost", async () => {
  await using memcell = await MemcellInTest.open({ threadsMax: 2 });
  const [tool, sameUsers] = [memcell.of("alice"), memcell.of("alice")];
  await tool.run(create("/memories/a", "head\n"));
  const answers = await Promise.all(
    places.map((line, at) => (at % 2 === 0 ? tool : sameUsers).run(insert("/memories/a", 1, line))),
  );
  expect(new Set(answers)).toEqual(new Set(["The file /memories/a has been edited."]));
  const lines = (await tool.files())["a"]?.split("\n") ?? [];
  expect(lines.toSorted()).toEqual(["", ...places, "head"]);
});

test("of 10 creations of one file, one succeeds, and its text is the file's", async () => {
  await using memcell = await MemcellInTest.open({ threadsMax: 2 });
  const tool = memcell.of("alice");
  const answers = await Promise.all(places.map((text) => tool.run(create("/memories/a", text))));
  const winners = places.filter((_, at) => answers[at] === "File created successfully at: /memories/a");
  expect(winners).toHaveLength(1);
  expect(answers.filter((answer) => answer === "✗ File /memories/a already exists")).toHaveLength(9);
  expect(await tool.files()).toEqual({ a: winners[0] });
});

test("of renames, edits and a deletion at once, each is whole", async () => {
  await using memcell = await MemcellInTest.open({ threadsMax: 2 });
  const tool = memcell.of("alice");
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

test("users have a memory each", async () => {
  await using memcell = await MemcellInTest.open({ threadsMax: 2 });
  const users = places.map((name) => memcell.of(name));
  await Promise.all(users.map((tool, at) => tool.run(create("/memories/a", `of ${at}`))));
  const files = await Promise.all(users.map((tool) => tool.files()));
  expect(files).toEqual(places.map((name) => ({ a: `of ${name}` })));
});
