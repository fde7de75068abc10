/** Agents and their clients find the page: in the instructions, in the answer to a write that waits, and by a question to the user. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import { entry } from "../stage/serve-lines.ts";
import { openSignInStage } from "./oidc.ts";
import type { SignInStage } from "./oidc.ts";

let stage: SignInStage;
let token: string;
beforeAll(async () => {
  stage = await openSignInStage();
  token = await stage.agentToken();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

/** A client of 2026-07-28, which can open addresses for its user or cannot. */
async function connect(opened: string[] | null): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      versionNegotiation: { mode: { pin: "2026-07-28" } },
      ...(opened !== null && { capabilities: { elicitation: { url: {} } } }),
    },
  );
  if (opened !== null) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      if (params.mode !== "url") throw new Error("It asks for more than an address");
      opened.push(params.url);
      return { action: "accept" };
    });
  }
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stage.origin}/mcp`), { requestInit }));
  return client;
}

const fromOutside = (name: string) => ({
  name: "UpdateUserMemory",
  arguments: { ...entry(name, "From a page"), action: "upsert" },
  _meta: { "memcell/origin": { class: "tool_external", source: "https://example.com/" } },
});

test("the instructions name the page", async () => {
  const client = await connect(null);
  const [line] = (client.getInstructions() ?? "").split("\n").slice(-1);
  expect(line).toBe(`The user can see, correct and remove what is remembered at ${stage.origin}/memory.`);
  await client.close();
});

test("the answer to a write that waits names its page", async () => {
  const client = await connect(null);
  const { content, isError } = await client.callTool(fromOutside("told"));
  const [write] = await stage.runtime.upkeep.pending({ userId: "agent" });
  expect(isError).toBe(true);
  expect((content as { text: string }[])[0]?.text).toMatch(
    new RegExp(`The user can approve or reject it at ${stage.origin}/memory/waiting/${write?.id}$`),
  );
  await client.close();
});

test("a client that can ask is asked to open the page; what it answers decides nothing", async () => {
  const opened: string[] = [];
  const client = await connect(opened);
  const before = await stage.runtime.upkeep.pending({ userId: "agent" });
  const { content, isError } = await client.callTool(fromOutside("asked"));
  const waiting = await stage.runtime.upkeep.pending({ userId: "agent" });
  const write = waiting.find(({ id }) => before.every((each) => each.id !== id));
  expect(opened).toEqual([`${stage.origin}/memory/waiting/${write?.id}`]);
  // It was called once, and it still waits.
  expect(waiting.length).toBe(before.length + 1);
  expect(isError).toBeUndefined();
  expect((content as { text: string }[])[0]?.text).toContain("has not decided yet");
  const { entries } = await stage.runtime.upkeep.entries({ userId: "agent" });
  expect(entries).toEqual([]);
  await client.close();
});
