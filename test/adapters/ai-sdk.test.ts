/** Agents of the AI SDK and of Mastra keep a user's memory by one line. */
import { describe, expect, test } from "vitest";

import { playProgram, releases } from "./play-program.ts";

describe.each(releases)("with the %s releases", (release) => {
  test("an agent of the AI SDK stores, reads, corrects itself, and suggests what a page says", async () => {
    expect(await playProgram(release, "ai-sdk")).toMatchObject({
      text: "Nihongo.",
      first: [
        { type: "text", value: expect.stringContaining('"outcome":"created"') },
        { type: "error-text", value: expect.stringContaining("INPUT_INVALID") },
      ],
      page: { type: "text", value: expect.stringMatching(/^Saved as a suggestion \(w-.*Do not retry$/) },
      own: { type: "text", value: expect.stringContaining('"outcome":"created"') },
      files: [
        { type: "text", value: "File created successfully at: /memories/plan.md" },
        { type: "text", value: expect.stringContaining("     1\t1. Read") },
        { type: "error-text", value: expect.stringContaining("The path /memories/none.md does not exist") },
      ],
      entries: ["language", "plan"],
      waiting: [{ tool: "UpdateUserMemory", trust: "tool_external" }],
      others: ["plan.md"],
    });
  });
});

test("an agent of Mastra has the same tools, and its writes wait unless the program says what it was exposed to", async () => {
  expect(await playProgram("newest", "mastra")).toMatchObject({
    stated: { type: "text", value: expect.stringContaining('"outcome":"created"') },
    unstated: { type: "text", value: expect.stringMatching(/^Saved as a suggestion/) },
    entries: ["language"],
    waiting: [{ callId: "diet", trust: "tool_external" }],
    callId: "language",
    trust: "model_inference",
  });
});
