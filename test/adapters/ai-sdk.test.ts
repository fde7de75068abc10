/** Agents of the AI SDK and of Mastra keep a user's memory by one line. */
import { describe, expect, test } from "vitest";

import { playProgram, releases } from "./play-program.ts";

const exposed = (name: string) => ({ [`${name}, generate`]: "tool_external", [`${name}, stream`]: "tool_external" });

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

  test("a write waits that is made in the same step as a provider's web search", async () => {
    expect(await playProgram(release, "ai-sdk-provider")).toEqual({
      trusts: {
        "alone, generate": "model_inference",
        "alone, stream": "model_inference",
        ...exposed("before"),
        ...exposed("after"),
        ...exposed("source"),
        ...exposed("called"),
        ...exposed("claude"),
      },
      together: ["model_inference", "tool_external", "tool_external"],
      unwrapped: "tool_external",
      // The AI SDK does not tell a tool.
      without: "model_inference",
      prepared: "untrusted_document",
    });
  });
});

test("an agent of Mastra has the same tools, and its writes wait unless it is known what its model has seen", async () => {
  expect(await playProgram("newest", "mastra")).toMatchObject({
    stated: { type: "text", value: expect.stringContaining('"outcome":"created"') },
    unstated: { type: "text", value: expect.stringMatching(/^Saved as a suggestion/) },
    seen: { type: "text", value: expect.stringContaining('"outcome":"created"') },
    entries: expect.toSatisfy((names: string[]) => names.toSorted().join() === "city,language"),
    waiting: [{ callId: "diet", trust: "tool_external" }],
    trusts: { language: "model_inference", city: "model_inference" },
  });
});
