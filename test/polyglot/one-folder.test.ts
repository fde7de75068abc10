/** Hosts of several languages on one data folder: in turn, and at the same time. */
import { describe, expect, inject, test } from "vitest";
import type { TestContext } from "vitest";

import { median } from "../bench/figures.ts";
import { foundFiles } from "../conformance/vector-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import type { HostKind } from "./host-kind.ts";
import { LineHost } from "./line-host.ts";
import type { HostedCall } from "./line-host.ts";
import { programOf } from "./program-of.ts";

type Language = HostKind["language"];
type Answer = { ok: boolean; data?: { text?: unknown }; error?: { code: string } };

const hosts = inject("hosts");
const plugin = shippedPlugin("user-memory");
const name = "preferred-language";

function start(language: Language, dataDir: string, context: TestContext): Promise<LineHost> {
  const host = hosts.find((each) => each.language === language);
  if (!host) throw new Error(`There is no ${language} host`);
  return LineHost.start(programOf(host, context), { plugin, dataDir });
}

const at = (minute: number): HostedCall["context"] => ({
  userId: "alice",
  epochMs: Date.UTC(2026, 0, 1, 12, minute),
});
const upsert = (entry: string, description: string, body: string): object => ({
  action: "upsert",
  name: entry,
  type: "user",
  description,
  body,
});
const update = (minute: number, input: object): HostedCall => ({
  tool: "UpdateUserMemory",
  context: at(minute),
  input,
});

/** Each step depends on files that another language's host wrote. */
const steps: readonly { language: Language; does: string; call: HostedCall }[] = [
  { language: "Node", does: "writes", call: update(0, upsert(name, "Answers in Japanese", "日本語\r\n---\n")) },
  { language: "Node", does: "writes another", call: update(1, upsert("editor", "Uses vi", "")) },
  { language: "Go", does: "replaces", call: update(2, upsert(name, "Answers in English", "🎌\n")) },
  { language: "Python", does: "deletes", call: update(3, { action: "delete", name: "editor" }) },
  { language: "Rust", does: "reads", call: { tool: "ReadUserMemory", context: at(4), input: { name } } },
  { language: "Java", does: "lists", call: { tool: "PromptIndex", audience: "host", context: at(5), input: {} } },
];

test("after each step, a folder used by five hosts equals one used by Node alone", async (context) => {
  using shared = temporaryFolder();
  using alone = temporaryFolder();
  await using nodeAlone = await start("Node", alone.path, context);
  for (const { language, does, call } of steps) {
    // oxlint-disable-next-line no-await-in-loop -- a step builds on the files of those before it
    await using host = await start(language, shared.path, context);
    const answers = [await host.ask(call), await nodeAlone.ask(call)] as [Answer, Answer];
    expect(answers[0].ok, `${language} ${does}: ${JSON.stringify(answers[0])}`).toBe(true);
    const [found, expected] = answers.map(({ data }) => data);
    expect(found, `${language} ${does}`).toEqual(expected);
    expect(foundFiles(shared.path), `${language} ${does}`).toEqual(foundFiles(alone.path));
  }
  const files = foundFiles(shared.path)["alice"] ?? {};
  expect(Object.keys(files).toSorted()).toEqual([
    "memory/MEMORY.md",
    `memory/${name}.md`,
    "memory/trash/editor.20260101T120300000Z.md",
  ]);
});

describe("at the same time", () => {
  const each = 20;

  test("five hosts that write for one user lose nothing", async (context) => {
    using folder = temporaryFolder();
    const running = await Promise.all(hosts.map(({ language }) => start(language, folder.path, context)));
    await Promise.all(
      running.map(async (host, of) => {
        for (let entry = 0; entry < each; entry++) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other, beside the other hosts
          await askUntilFree(host, update(0, upsert(`${hosts[of]?.language}-${entry}`, "A fact", String(entry))));
        }
      }),
    );
    await Promise.all(running.map((host) => host.end()));
    const names = hosts.flatMap(({ language }) => Array.from({ length: each }, (_, entry) => `${language}-${entry}`));
    const { "memory/MEMORY.md": index = "", ...facts } = foundFiles(folder.path)["alice"] ?? {};
    expect(Object.keys(facts).toSorted()).toEqual(names.map((entry) => `memory/${entry}.md`).toSorted());
    const lines = (index as string).trimEnd().split("\n");
    expect(lines.toSorted()).toEqual(names.map((entry) => `- [${entry}](${entry}.md) \u2014 A fact`).toSorted());
  });

  test("two Node hosts that keep sessions, and a Go host, all get their turns with one user", async (context) => {
    using folder = temporaryFolder();
    const languages = ["Node", "Node", "Go"] as const;
    const running = await Promise.all(languages.map((language) => start(language, folder.path, context)));
    /** Of each change, in their order, the host. */
    const turns: number[] = [];
    const passes = await Promise.all(running.map((host, of) => passesOf(host, of, turns)));
    await Promise.all(running.map((host) => host.end()));
    const shown = passes.map((found, of) => `${languages[of]} ${median(found)}/${Math.max(...found)}`);
    console.log(`Changes by others while one waits for its own, median and most: ${shown.join(", ")}`);
    expect(Math.max(...passes.flat())).toBeLessThan(passesMax);
  });
});

const calls = 150;

/**
 * The Go host asks again at once and the Node hosts every millisecond, so it has more turns than they. A host that starves
 * sees hundreds of others.
 */
const passesMax = 100;

/** How often the others had a turn while the host waited for one: a count, so that a busy machine does not change it. */
async function passesOf(host: LineHost, of: number, turns: number[]): Promise<number[]> {
  const passes: number[] = [];
  for (let call = 0; call < calls; call++) {
    const began = turns.length;
    // oxlint-disable-next-line no-await-in-loop -- one after the other, beside the other hosts
    await askUntilFree(host, update(0, upsert(`host-${of}`, `Call ${call}`, "")));
    passes.push(turns.length - began);
    turns.push(of);
  }
  return passes;
}

/** Repeats a call that is `BUSY`: the folder was in use by another host at that moment. */
async function askUntilFree(host: LineHost, call: HostedCall): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- asked again because of the answer
    const answer = (await host.ask(call)) as Answer;
    if (answer.ok) return;
    if (answer.error?.code !== "BUSY") throw new Error(`The call failed: ${JSON.stringify(answer)}`);
  }
}
