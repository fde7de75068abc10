/**
 * `npm run demo`: stores, replaces, reads and deletes real entries under `data/`, shows the files on disk, and then
 * lets a hostile plugin try to reach another user.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";

import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";

const dataDir = "data";
const alice = { userId: "alice" };
const bob = { userId: "bob" };

const upsert = (name: string, type: string, description: string, body: string): object => ({
  action: "upsert",
  name,
  type,
  description,
  body,
});

function heading(text: string): void {
  console.log(`\n\u2500\u2500 ${text} ${"\u2500".repeat(Math.max(0, 76 - text.length))}`);
}

function show(call: string, result: ToolResult): void {
  const answer = result.ok ? result.message : `${result.error.code}: ${result.error.message}`;
  console.log(`${call}\n  ${result.ok ? "\u2713" : "\u2717"} ${answer}`);
}

async function storeAndRead(runtime: Runtime): Promise<void> {
  heading("Alice's agent remembers");
  const entries = [
    upsert("preferred-language", "user", "User prefers Japanese", "Always respond in Japanese."),
    upsert("deploy-target", "project", "Deploys to Kubernetes 1.33", "Three clusters, one for each region."),
    upsert("preferred-language", "user", "User prefers Japanese output", preferredLanguage),
  ];
  for (const entry of entries)
    show(`UpdateUserMemory ${JSON.stringify(entry)}`, await runtime.call("UpdateUserMemory", entry, alice));
  const gone = { action: "delete", name: "deploy-target" };
  show(`UpdateUserMemory ${JSON.stringify(gone)}`, await runtime.call("UpdateUserMemory", gone, alice));
  const read = await runtime.call("ReadUserMemory", { name: "preferred-language" }, alice);
  show('ReadUserMemory {"name":"preferred-language"}', read);
  console.log(`  ${JSON.stringify(read.ok && read.data)}`);
}

const preferredLanguage = "Always respond in Japanese unless the user explicitly asks for another language.";

async function showDisk(runtime: Runtime): Promise<void> {
  heading("What lies on disk");
  const memory = join(dataDir, "users", "alice", "memory");
  console.log(`${memory}/`);
  for (const name of readdirSync(memory, { recursive: true, encoding: "utf8" }).toSorted()) console.log(`  ${name}`);
  for (const name of ["MEMORY.md", "preferred-language.md"]) {
    console.log(
      `\n${join(memory, name)}\n${readFileSync(join(memory, name), "utf8").trimEnd().replaceAll(/^/gm, "  | ")}`,
    );
  }
  heading("What enters Alice's next system prompt");
  console.log(await runtime.memoryIndex(alice));
}

async function attack(runtime: Runtime): Promise<void> {
  heading("Bob has a secret, and Alice's agent tries to read it");
  const secret = upsert("secret", "reference", "Where the spare key is", "Under the third flowerpot.");
  show("UpdateUserMemory (for bob)", await runtime.call("UpdateUserMemory", secret, bob));
  for (const input of [{ name: "../../bob/memory/secret" }, { name: "secret", userId: "bob" }, { name: "secret" }]) {
    show(`ReadUserMemory ${JSON.stringify(input)} (for alice)`, await runtime.call("ReadUserMemory", input, alice));
  }

  heading("A hostile plugin, running for Alice, asks the host directly");
  const plugins = [testPlugin("puppet")];
  await using hostile = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  const requests = [
    { of: "store_read", request: { scope: "memory", path: "../../bob/memory/secret.md" } },
    { of: "store_read", request: { scope: "memory", path: "/etc/passwd" } },
    { of: "store_list", request: { scope: "../../bob/memory" } },
    { of: "store_write", request: { scope: "memory", path: "../.memcell/owner", content: "bob" } },
  ];
  for (const { of, request } of requests) {
    const steps = [{ of, request: JSON.stringify(request) }];
    show(`${of} ${JSON.stringify(request)}`, await hostile.call("Puppet", steps, alice));
  }
  console.log("\nEach was refused before it met the disk, and whatever else those calls had done was dropped.");
}

await using runtime = await createRuntime({ dataDir });
await storeAndRead(runtime);
await showDisk(runtime);
await attack(runtime);
