/** What the documents show of the hosts in other languages: the line protocol, and the table of a run. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { expect, inject, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { hostKinds } from "./hosts.ts";
import { LineHost } from "./line-host.ts";
import { portableVectors } from "./portable-vectors.ts";
import { programOf } from "./program-of.ts";

const plugin = shippedPlugin("user-memory");
const sha256 = createHash("sha256").update(readFileSync(plugin)).digest("hex");

/** The exchanges in host/polyglot/README.md, with this machine's paths and the plugin's hash. */
function exchanges(dataDir: string): { sent: object; answer: unknown }[] {
  const blocks = blocksIn(textOf("host/polyglot/README.md")).filter(({ language }) => language === "");
  return blocks.map(({ text }) => {
    const [, sent = "", answer = ""] = /^→ (.*)\n← (.*)$/.exec(text) ?? [];
    const here = sent
      .replace('"dist/plugins/user-memory.wasm"', JSON.stringify(plugin))
      .replace('"dataDir":"data"', `"dataDir":${JSON.stringify(dataDir)}`)
      .replace('"sha256":"…"', `"sha256":"${sha256}"`);
    return { sent: JSON.parse(here) as object, answer: JSON.parse(answer) as unknown };
  });
}

test.for(inject("hosts"))("the $language host answers the lines of the README", async (host, context) => {
  using folder = temporaryFolder();
  await using lines = new LineHost(programOf(host, context));
  for (const { sent, answer } of exchanges(folder.path)) {
    // oxlint-disable-next-line no-await-in-loop -- the protocol is line by line
    expect(await lines.ask(sent)).toEqual(answer);
  }
});

test("the table in test/polyglot/README.md has the hosts, their versions, and all vectors, without a difference", () => {
  const [table = ""] = blocksIn(textOf("test/polyglot/README.md")).map(({ text }) => text);
  const [, ...rows] = table.split("\n").map((line) => line.split(/ {2,}/));
  const count = String(portableVectors.length);
  expect(rows.map((row) => row.slice(0, 4))).toEqual(hostKinds.map(({ language, sdk }) => [language, sdk, count, "0"]));
});
