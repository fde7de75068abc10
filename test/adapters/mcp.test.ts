/** Frameworks that take MCP servers get a user's server in the same process. */
import { describe, expect, test } from "vitest";

import { playProgram, releases } from "./play-program.ts";

const tools = ["ReadUserMemory", "SearchUserMemory", "UpdateUserMemory"];

describe.each(releases)("with the %s releases", (release) => {
  test("a client of the former SDK has tools, resources and prompts", async () => {
    expect(await playProgram(release, "mcp")).toMatchObject({
      tools: expect.arrayContaining(tools),
      resources: expect.arrayContaining(["memory://index", "memory://user-memory/entry/language"]),
      prompt: { type: "text", text: expect.stringContaining("language.md") },
    });
  });
});

test("the Claude Agent SDK, LangChain and OpenAI Agents take the server", async () => {
  expect(await playProgram("newest", "mcp-frameworks")).toMatchObject({
    claude: ["memory"],
    written: expect.anything(),
    langchain: expect.arrayContaining(tools),
    agents: expect.arrayContaining(tools),
    read: expect.arrayContaining([{ type: "text", text: expect.stringContaining("Speaks Japanese.") }]),
  });
});
