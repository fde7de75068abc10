/** LangGraph's graphs and deepagents' files have their store in each user's memory. */
import { describe, expect, test } from "vitest";

import { playProgram, releases } from "./play-program.ts";

describe.each(releases)("with the %s releases", (release) => {
  test("two users of one graph never meet, as they do in a store that asks whose run it is", async () => {
    const answers = (await playProgram(release, "langgraph")) as { readonly asking: readonly string[][] };
    expect(answers).toMatchObject({
      own: [["of alice"], ["of bob"]],
      fixed: ["of ann"],
      others: [],
      refused: "The namespace names no user; expected one that begins with the label of a user",
    });
    const [alice, bob] = answers.asking.map(([found]) => found);
    expect([alice, bob]).not.toEqual(["of alice", "of bob"]);
  });
});

test("deepagents' StoreBackend writes, edits, reads, lists and finds files, images too", async () => {
  expect(await playProgram("newest", "deepagents")).toMatchObject({
    written: { path: "/notes/a.md" },
    edited: { path: "/notes/a.md", occurrences: 1 },
    read: { content: expect.stringContaining("one\nthree") },
    listed: { files: [expect.objectContaining({ path: "/notes/a.md" })] },
    found: { matches: [expect.objectContaining({ path: "/notes/a.md", line: 2 })] },
    uploaded: [{ path: "/notes/a.png", error: null }],
    downloaded: [[0, 255, 10]],
    missing: { error: expect.stringContaining("not found") },
    others: [],
  });
});
