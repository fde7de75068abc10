/** What is in the user's own store, whoever put it there: what the tool shows of it, and what it changes. */
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { create, insert, listed, missing, remove, rename, replace, shown, useMemcell, view } from "./tools.ts";

let epochMs = Date.parse("2026-01-01T00:00:00Z");
const newUser = useMemcell({ clock: () => epochMs });

test("a value that is no text is shown as JSON, moved and deleted, but not edited", async () => {
  const tool = newUser();
  await tool.remember({ command: "create", path: "/memories/list", content: [1, { a: "é" }] });
  const noText = "✗ Cannot edit /memories/list: its content is JSON (array), not text. Delete it and create it again.";
  expect(await tool.run(view("/memories/list"))).toBe(shown("/memories/list", '     1\t[1,{"a":"é"}]'));
  expect(await tool.run(view("/memories"))).toBe(listed("/memories", "14B\t/memories", "14B\t/memories/list"));
  expect(await tool.run(replace("/memories/list", "1", "2"))).toBe(noText);
  expect(await tool.run(insert("/memories/list", 0, "2"))).toBe(noText);
  await tool.run(rename("/memories/list", "/memories/other"));
  expect(await tool.files()).toEqual({ other: [1, { a: "é" }] });
  expect(await tool.run(remove("/memories/other"))).toBe("Successfully deleted /memories/other");
});

test("an encrypted value is seen to be there", async () => {
  const tool = newUser();
  const id = await tool.storeId();
  await tool.put({ "s_.md": `---\nkey: "s"\nowner: ${id}\nencrypted: true\n---\nc2VjcmV0` });
  const said = [view("/memories"), view("/memories/s"), replace("/memories/s", "c2", ""), create("/memories/s", "x")];
  const answers = await Promise.all(said.map((command) => tool.run(command)));
  expect(answers).toEqual([
    listed("/memories", "8B\t/memories", "8B\t/memories/s"),
    "The file /memories/s is encrypted, so its content is not shown.",
    "✗ Cannot edit /memories/s: it is encrypted. Delete it and create it again.",
    "✗ File /memories/s already exists",
  ]);
  await tool.run(rename("/memories/s", "/memories/t"));
  expect(await tool.run(view("/memories/t"))).toContain("is encrypted");
  expect(await tool.run(remove("/memories/t"))).toBe("Successfully deleted /memories/t");
});

test("an edit and a rename keep when an entry ends, and what a person has noted in it", async () => {
  const tool = newUser();
  await tool.remember({ command: "create", path: "/memories/a", content: "1\n2", ttl: 60 });
  const file = join(await tool.folder(), "a_.md");
  writeFileSync(file, readFileSync(file, "utf8").replace("encrypted: false\n", "encrypted: false\nmood: good\n"));

  await tool.run(replace("/memories/a", "1", "one"));
  await tool.run(insert("/memories/a", 1, "more"));
  await tool.run(rename("/memories/a", "/memories/p/b"));
  await tool.run(rename("/memories/p", "/memories/q"));
  const moved = readFileSync(join(await tool.folder(), "q", "b_.md"), "utf8");
  expect(moved).toContain("expires: '2026-01-01T00:01:00.000Z'\n");
  expect(moved).toContain("created: '2026-01-01T00:00:00.000Z'\n");
  expect(moved).toContain("mood: good\n");
  expect(await tool.run(view("/memories/q/b"))).toBe(
    shown("/memories/q/b", "     1\tone", "     2\tmore", "     3\t2"),
  );

  epochMs += 60_000;
  expect(await tool.run(view("/memories/q/b"))).toBe(missing("/memories/q/b"));
  expect(await tool.run(view("/memories/q"))).toBe(missing("/memories/q"));
  expect(await tool.run(create("/memories/q/b", "new"))).toBe("File created successfully at: /memories/q/b");
});

const refused = (path: string): string => `✗ Cannot change ${path}: another agent has created it, only its creator can`;

test("what another agent has created is shown and never changed", async () => {
  const [tool, bob] = [newUser(), newUser()];
  await tool.stores.grant(bob.userId, { level: "readwrite" });
  const [ours, theirs] = [await tool.storeId(), await bob.storeId()];
  for (const key of ["p/bob", "p/both"]) {
    await bob.remember({ command: "create", path: `/memories/shared/${ours}/${key}`, content: "of bob" });
  }
  await tool.remember({ command: "create", path: "/memories/p/both", content: "of alice" });
  await tool.run(create("/memories/p/alice", "1"));

  const byBob = `Another agent, ${theirs}, has created a file at this path.\n`;
  expect(await tool.run(view("/memories/p"))).toBe(
    listed(
      "/memories/p",
      "21B\t/memories/p",
      "1B\t/memories/p/alice",
      `6B\t/memories/p/bob (created by ${theirs})`,
      `14B\t/memories/p/both (created by you, ${theirs})`,
    ),
  );
  expect(await tool.run(view("/memories/p/bob"))).toBe(byBob + shown("/memories/p/bob", "     1\tof bob"));
  expect(await tool.run(view("/memories/p/both"))).toBe(
    `${shown("/memories/p/both", "     1\tof alice")}\n\n` + byBob + shown("/memories/p/both", "     1\tof bob"),
  );

  const inFolder = "✗ Cannot change /memories/p: another agent has created /memories/p/bob, only its creator can";
  expect(await tool.run(create("/memories/p/bob", "x"))).toBe("✗ File /memories/p/bob already exists");
  expect(await tool.run(replace("/memories/p/bob", "of", "x"))).toBe(refused("/memories/p/bob"));
  expect(await tool.run(insert("/memories/p/bob", 0, "x"))).toBe(refused("/memories/p/bob"));
  expect(await tool.run(remove("/memories/p/bob"))).toBe(refused("/memories/p/bob"));
  expect(await tool.run(rename("/memories/p/bob", "/memories/x"))).toBe(refused("/memories/p/bob"));
  expect(await tool.run(rename("/memories/p/alice", "/memories/p/bob"))).toMatch(/already exists$/);
  expect(await tool.run(remove("/memories/p"))).toBe(inFolder);
  expect(await tool.run(rename("/memories/p", "/memories/x"))).toBe(inFolder);
  expect(await tool.files()).toEqual({ "p/alice": "1", "p/bob": "of bob", "p/both": "of alice" });

  expect(await tool.run(remove("/memories/p/both"))).toBe("Successfully deleted /memories/p/both");
  expect(await tool.run(view("/memories/p/both"))).toBe(byBob + shown("/memories/p/both", "     1\tof bob"));
});

test("a key that is a file and a directory is both: a slash at the end is the directory", async () => {
  const tool = newUser();
  await tool.remember({ command: "create", path: "/memories/a", content: "1" });
  await tool.remember({ command: "create", path: "/memories/a/b", content: "22" });
  expect(await tool.run(view("/memories"))).toBe(
    listed("/memories", "3B\t/memories", "1B\t/memories/a", "2B\t/memories/a/", "2B\t/memories/a/b"),
  );
  expect(await tool.run(view("/memories/a"))).toBe(shown("/memories/a", "     1\t1"));
  expect(await tool.run(view("/memories/a/"))).toBe(listed("/memories/a/", "2B\t/memories/a/", "2B\t/memories/a/b"));
  await tool.run(remove("/memories/a/"));
  expect(await tool.files()).toEqual({ a: "1" });
});

test("entries of programs are not there", async () => {
  const tool = newUser();
  await tool.stores.setInternal(null, "p/secret", "hidden");
  await tool.stores.setInternal(null, "p/other", "hidden", { namespace: "n" });
  expect(await tool.run(view("/memories"))).toBe(listed("/memories", "0B\t/memories"));
  for (const command of [view("/memories/p"), view("/memories/p/secret"), replace("/memories/p/other", "h", "x")]) {
    expect(await tool.run(command)).toMatch(/^✗ The path \/memories\/p\S* does not exist/);
  }
  expect(await tool.run(remove("/memories/p/secret"))).toBe("✗ The path /memories/p/secret does not exist");
  expect(await tool.run(create("/memories/p/secret", "mine"))).toBe("File created successfully at: /memories/p/secret");
  expect(await tool.run(remove("/memories/p"))).toBe("Successfully deleted /memories/p");
  expect(await tool.stores.getInternal(null, "p/secret")).toBe("hidden");
});

test("a link is no file", async () => {
  const tool = newUser();
  await tool.put({ "real.md": "text" });
  const folder = await tool.folder();
  symlinkSync("real.md", join(folder, "link.md"));
  symlinkSync(dirname(folder), join(folder, "up"));
  expect(await tool.run(view("/memories"))).toBe(listed("/memories", "4B\t/memories", "4B\t/memories/real.md"));
  expect(await tool.run(view("/memories/link.md"))).toBe(missing("/memories/link.md"));
  expect(await tool.run(remove("/memories/link.md"))).toBe("✗ The path /memories/link.md does not exist");
  const answer = await tool.run(create("/memories/link.md", "x"));
  expect(answer).toMatch(/^✗ Cannot write \/memories\/link\.md/);
  expect(await tool.run(create("/memories/up/x.md", "x"))).toMatch(/^✗ /);
  expect(answer).not.toContain(folder);
  expect(readFileSync(join(folder, "real.md"), "utf8")).toBe("text");
  expect(readdirSync(folder).toSorted()).toEqual(["link.md", "real.md", "up"]);
});

test("a text that a person has written can have more lines than the tool numbers", async () => {
  const tool = newUser();
  await tool.put({ "many.md": "\n".repeat(1_000_000), "long.md": "é".repeat(200_000) });
  expect(await tool.run(view("/memories/many.md"))).toBe(
    "✗ File /memories/many.md exceeds maximum line limit of 999,999 lines.",
  );
  expect(await tool.run(view("/memories/long.md"))).toBe(
    shown(
      "/memories/long.md",
      `     1\t${"é".repeat(16_000)}`,
      "[line 1 is cut after 16000 of 200000 characters: view_range [1, 1] shows more]",
    ),
  );
});

test("the tool memory searches what is there, and nothing that was there", async () => {
  const tool = newUser();
  const found = async (query: string): Promise<string[]> => {
    const { results } = (await tool.remember({ command: "search", query })) as {
      readonly results: readonly { readonly path: string }[];
    };
    return results.map(({ path }) => path).toSorted((a, b) => a.localeCompare(b));
  };
  await tool.run(create("/memories/p/a", "cherry"));
  await tool.run(create("/memories/p/b", "cherry"));
  expect(await found("cherry")).toEqual(["/memories/p/a", "/memories/p/b"]);
  await tool.run(replace("/memories/p/a", "cherry", "plum"));
  await tool.run(insert("/memories/p/b", 1, "quince"));
  expect([await found("cherry"), await found("plum")]).toEqual([["/memories/p/b"], ["/memories/p/a"]]);
  await tool.run(rename("/memories/p", "/memories/q"));
  expect([await found("quince"), await found("plum")]).toEqual([["/memories/q/b"], ["/memories/q/a"]]);
  await tool.run(remove("/memories/q/a"));
  expect([await found("quince"), await found("plum")]).toEqual([["/memories/q/b"], []]);
});

test("deleted files are in the trash, and a file made again does not overwrite them", async () => {
  const tool = newUser();
  for (const text of ["first", "second"]) {
    await tool.run(create("/memories/p/a.md", text));
    await tool.run(remove("/memories/p"));
  }
  const trash = join(await tool.folder(), "trash", "p");
  const kept = readdirSync(trash).map((name) => readFileSync(join(trash, name), "utf8").split("---\n").at(-1));
  expect(new Set(kept)).toEqual(new Set(["first", "second"]));
});
