/** The official inspector shows what the server offers, over both transports. */
import { execFile } from "node:child_process";

import { createRuntime, memoryStore } from "memcell";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { HttpProcess, tokenFlags } from "../stage/http-process.ts";
import { program } from "../stage/serve-lines.ts";
import { TokenIssuer } from "../stage/token-issuer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags, shippedNames } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { installedClients } from "./prepare-clients.ts";

const clients = installedClients(inject("mcpClients"));
const body = "The user uses Helix.\n";
const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body };

interface Inspected {
  readonly code: number | null;
  /** The server's answer. */
  readonly result?: unknown;
  /** The failure, as the inspector reports it. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** Runs the official inspector as a command, for one method of a server. `home` is the folder for its own data. */
async function inspect(args: readonly string[], home: string): Promise<Inspected> {
  const options = { env: { PATH: process.env["PATH"], HOME: home }, encoding: "utf8" } as const;
  const shown = ["--cli", "--quiet", "--format", "json", ...args];
  return new Promise((resolve) => {
    const child = execFile(clients.node, [clients.inspector, ...shown], options, (_error, stdout, stderr) => {
      const printed = [stdout, stderr].filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as object);
      resolve({ code: child.exitCode, ...(Object.assign({}, ...printed) as object) });
    });
  });
}

const opened: AsyncDisposable[] = [];

/** The inspector's target arguments for a server of one data folder. */
async function overStdio(dataDir: string): Promise<readonly string[]> {
  const served = [process.execPath, program, "serve", "--user", "alice", "--data", dataDir, ...shippedFlags()];
  return ["--protocol-era", "legacy", ...served];
}

async function overHttp(dataDir: string): Promise<readonly string[]> {
  const issuer = await TokenIssuer.start();
  const server = new HttpProcess(["--data", dataDir, ...shippedFlags(), ...tokenFlags(issuer)]);
  opened.push(server, issuer);
  const header = ["--header", `Authorization: Bearer ${await issuer.token("alice")}`];
  return ["--protocol-era", "modern", "--transport", "http", ...header, "--server-url", await server.url()];
}

describe.for([
  ["stdio, in the protocol of 2025", overStdio],
  ["Streamable HTTP with a token, in that of 2026", overHttp],
] as const)("over %s", ([, open]) => {
  const folder = temporaryFolder();
  const dataDir = `${folder.path}/data`;
  let target: readonly string[];

  beforeAll(async () => {
    target = await open(dataDir);
  });

  afterAll(async () => {
    for (const each of opened.splice(0)) await each[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const inspected = (method: string, ...args: string[]): Promise<Inspected> =>
    inspect(["--method", method, ...args, ...target], folder.path);
  const called = (tool: string, input: object): Promise<Inspected> =>
    inspected("tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(input));

  test("tools/list shows the runtime's tools and finds no fault in their schemas", async () => {
    await using runtime = await createRuntime({ store: memoryStore(), plugins: shippedNames(), threadsMax: 1 });
    // As every client takes them.
    const listed = runtime.tools({ format: "anthropic" });
    const tools = runtime.tools().map(({ name, description, outputSchema: schema }, at) => {
      const inputSchema = listed[at]?.input_schema;
      const outputSchema = Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== "$schema"));
      return expect.objectContaining({ name, description, inputSchema, outputSchema }) as object;
    });
    expect(await inspected("tools/list", "--strict")).toMatchObject({ code: 0, result: { tools } });
  });

  test("an entry that tools/call writes is a resource, and part of the prompt", async () => {
    const structuredContent = { name: "editor", outcome: "created", path: "editor.md", trashed: null };
    expect(await called("UpdateUserMemory", entry)).toMatchObject({ code: 0, result: { structuredContent } });
    expect(userFolderNames(dataDir)).toEqual(["alice"]);
    const uri = "memory://user-memory/entry/editor";
    const { result } = await inspected("resources/list");
    expect(result).toMatchObject({ resources: expect.arrayContaining([expect.objectContaining({ uri })]) as unknown });
    const read = await inspected("resources/read", "--uri", uri);
    expect(read).toMatchObject({ code: 0, result: { contents: [{ uri, mimeType: "text/markdown", text: body }] } });
    const text = expect.stringContaining("\n- [editor](editor.md) \u2014 Uses Helix\n") as string;
    const prompt = await inspected("prompts/get", "--prompt-name", "memory");
    expect(prompt).toMatchObject({
      code: 0,
      result: { messages: [{ role: "user", content: { type: "text", text } }] },
    });
  });
});
