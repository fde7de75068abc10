/** Frameworks keep their sessions in a user's memory by one line. */
import { describe, expect, test } from "vitest";

import { playProgram, releases } from "./play-program.ts";

describe.each(releases)("with the %s releases", (release) => {
  test("an agent of OpenAI Agents continues its session, images too, and a session is as the SDK's own", async () => {
    expect(await playProgram(release, "openai-agents")).toEqual({
      answers: ["1 items", "3 items", "5 items"],
      kept: 6,
      image: true,
      others: [],
      steps: 1_200,
      differences: [],
    });
  });

  test("Claude Agent SDK reads its transcripts, and a store is as the SDK's own", async () => {
    const id = "0f0f0f0f-0000-4000-8000-000000000001";
    const uuids = [1, 2, 3].map((n) => `0f0f0f0f-0000-4000-8000-00000000000${n}`);
    expect(await playProgram(release, "claude-agent-sdk")).toEqual({
      messages: [
        ["user", uuids[0]],
        ["assistant", uuids[1]],
        ["user", uuids[2]],
      ],
      image: true,
      subagent: 1,
      listed: [[id, "Which seats are free?"]],
      plain: [[id, "Which seats are free?"]],
      others: [],
      deleted: [null, []],
      steps: 200,
      differences: [],
    });
  });
});

test("transactions of OpenAI Agents are applied and refused as by the SDK's own session, also over an approval", async () => {
  const { own, usual, steps, refused, differences } = (await playProgram("newest", "openai-transactions")) as Record<
    string,
    unknown
  >;
  expect(own).toEqual(["message", "function_call", "function_call_result", "message"]);
  expect({ own: usual, steps, differences }).toEqual({ own, steps: 1_200, differences: [] });
  expect(refused).toBeGreaterThan(100);
});
