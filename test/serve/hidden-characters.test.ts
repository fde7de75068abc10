/** Whatever is in the files: no character that a person cannot see reaches a client, and each URI that it gets is exact. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { connect } from "../stage/mcp-clients.ts";
import { ServeLines } from "../stage/serve-lines.ts";
import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags } from "../support/test-plugin.ts";
import { writeUserFiles } from "../support/user-files.ts";

/** "ig" as tags, and a row of zero-width spaces. */
const hidden = "hello\u{e0069}\u{e0067} a\u200b\u200bb";
const shown = "hello\\u{e0069}\\u{e0067} a\\u200b\\u200bb";
const tooLong = "c".repeat(4_096);
const unseen = /[\u200b\u{e0000}-\u{e0fff}]/u;

const entry = `---\nname: a\ndescription: ${hidden}\ntype: user\n---\nBody: ${hidden}\n`;
const block = `### ${hidden}\n\n${hidden}\n\n<!-- agentool-memory: at=2026-01-02T03:04:05+00:00 tags=x -->\n\n`;
const event = `{"type":"planner_note","timestamp":"2026-01-02T03:04:05Z","data":{"note":"${hidden}"},"labels":{}}\n`;

test("files that people and programs have written", async () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  writeUserFiles(dataDir, {
    alice: {
      "memory/a.md": entry,
      "memory/MEMORY.md": `My own line ${hidden}\n- [a](a.md) — ${hidden}\n`,
      "journal/MEMORY.md": block,
      "runs/planner/run-1/000001.jsonl": event,
    },
  });
  await using served = await connect("2026-07-28", ["--user", "alice", "--data", dataDir, ...shippedFlags()]);
  const { client } = served;
  const call = (name: string, input: object) => client.callTool({ name, arguments: { ...input } });
  const { resources } = await client.listResources();
  const read = await Promise.all(resources.map(({ uri }) => client.readResource({ uri })));
  const { prompts } = await client.listPrompts();
  const answers = [
    resources,
    read,
    await Promise.all(prompts.map(({ name }) => client.getPrompt({ name }))),
    await call("ReadUserMemory", { name: "a" }),
    await call("SearchUserMemory", { query: "body" }),
    await call("memory_search", { query: "hello" }),
    await call("ReadRunHistory", { agentId: "planner", runId: "run-1" }),
    await call("memory_read", { key: hidden.replace("hello", "other") }),
  ];
  const told = JSON.stringify(answers);
  expect(told).not.toMatch(unseen);
  for (const answer of answers.slice(0, -1)) expect(JSON.stringify(answer)).toContain("u{e0069}");
});

test("a plugin that does not have the rule", async () => {
  using folder = temporaryFolder();
  const file = writeScriptedPlugin(folder.path, "careless", {
    Index: { role: "index", answer: { text: `<x>\n${hidden}\n</x>\n`, entriesShown: 1, entriesHidden: 0 } },
    Entries: {
      role: "entries",
      answer: {
        entries: [
          { name: "a", description: hidden },
          { name: "b\u200b", description: "x" },
          { name: tooLong, description: "too long for a URI" },
        ],
      },
    },
    Read: { role: "read", answer: { body: hidden } },
  });
  const policy = join(folder.path, "policy.json");
  writeFileSync(policy, JSON.stringify(policyFor([file])));
  const args = ["--user", "alice", "--data", join(folder.path, "data"), "--plugin", file, "--policy", policy];
  await using served = await connect("2026-07-28", args);
  const { client } = served;
  const { resources } = await client.listResources();
  expect(resources).toContainEqual(expect.objectContaining({ name: "a", description: shown }));
  expect(resources).toContainEqual(
    expect.objectContaining({ uri: "memory://careless/entry/b%E2%80%8B", name: "b\\u200b" }),
  );
  // A name that no URI can express gets a URI that names nothing.
  const uri = resources.find(({ description }) => description === "too long for a URI")?.uri ?? "";
  await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 });
  const template = { type: "ref/resource" as const, uri: "memory://careless/entry/{name}" };
  const { completion } = await client.complete({ ref: template, argument: { name: "name", value: "" } });
  expect(completion.values).toEqual(["a", tooLong]);
  const [entryRead, indexRead] = [
    await client.readResource({ uri: "memory://careless/entry/a" }),
    await client.readResource({ uri: "memory://careless/index" }),
  ];
  expect(entryRead.contents).toMatchObject([{ text: shown }]);
  expect(indexRead.contents).toMatchObject([{ text: `<x>\n${shown}\n</x>\n` }]);
});

/** Valid journal keys: up to 200 code points without control characters. */
const hostileNames = [
  ["Don't forget (important)!", "*", "!'()*-._~", "%2e%2e", "a/b?c#d", "{name}", "a", "A-b_C", "x".repeat(100)],
  ["\u5317\u4eac".repeat(40), "\u{1f389}".repeat(50), "\u{1f389}".repeat(200)],
].flat();

test("with the journal alone, every listed URI can be read and watched, whatever the entry's name", async () => {
  using folder = temporaryFolder();
  await using served = await ServeLines.open(["--user", "bob", "--data", folder.path, "--plugin", "journal"]);
  for (const key of hostileNames) {
    await served.call("memory_write", { key, content: `of ${key}`, target: "summary" });
  }
  const { result } = await served.ask("resources/list", {});
  const listed = result?.["resources"] as { uri: string; name: string }[];
  expect(listed.slice(0, 2).map(({ uri }) => uri)).toEqual(["memory://index", "memory://journal/index"]);
  const entries = listed.slice(2);
  expect(entries.map(({ name }) => name).toSorted()).toEqual(hostileNames.toSorted());
  for (const { uri, name } of entries) {
    const contents = [{ uri, text: `of ${name}` }];
    expect(await served.ask("resources/read", { uri })).toMatchObject({ result: { contents } });
    expect(await served.ask("resources/subscribe", { uri })).toMatchObject({ result: {} });
  }
});
