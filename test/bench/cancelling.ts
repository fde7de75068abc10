/** 8. What another user's calls take beside a client that starts slow searches, and beside one that also hangs up. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { exportSPKI, generateKeyPair, SignJWT } from "jose";

import { writeUserFiles } from "../support/user-files.ts";
import { bounds, figureOf } from "./figures.ts";
import { journalFiles } from "./journal-files.ts";
import type { Section } from "./results.ts";
import { takeTurns } from "./take-turns.ts";
import type { BenchRun } from "./take-turns.ts";

const requestsPerSecond = 10;
const readEveryMs = 20;
/** After this the attacker hangs up: the search has begun and not ended. */
const hangUpMs = 60;

export async function measureCancelling(run: BenchRun): Promise<Section> {
  await using server = await startServer(join(run.folder, "cancelling"));
  const phaseMs = run.isQuick ? 300 : 1_000;
  const phases = [true, false].map((isHangingUp) => ({
    key: isHangingUp ? "victim-hangs-up" : "victim-waits",
    run: () => victimsTimes(server, phaseMs, isHangingUp),
  }));
  const found = await takeTurns(run, phases, { passes: 1, block: 1 });
  const waiting = { key: "victim-waits", rounds: found("victim-waits") };
  const hangingUp = { key: "victim-hangs-up", rounds: found("victim-hangs-up") };
  return {
    number: 8,
    title: "Cancelling",
    notes: [
      "memcell serve --http; the victim reads an entry 50 times a second",
      "the attacker searches 15 MB ten times a second, and either waits or hangs up after 60 ms",
    ],
    tables: [
      {
        key: "cancelling",
        title: "A user's read beside another user's slow searches",
        unit: "ms",
        figures: [
          figureOf({ ...waiting, name: "the other waits for each answer" }),
          figureOf({ ...hangingUp, name: "the other hangs up", against: waiting, bound: bounds.victimOfCancelling }),
        ],
      },
    ],
  };
}

async function victimsTimes(server: Server, phaseMs: number, isHangingUp: boolean): Promise<number[]> {
  const until = performance.now() + phaseMs;
  const attacking = searchUntil(server, until, isHangingUp);
  const reading: Promise<number>[] = [];
  // At a fixed pace, also while earlier reads wait: otherwise a stall would count as one slow read.
  while (performance.now() < until) {
    reading.push(readOnce(server));
    await setTimeout(readEveryMs);
  }
  await attacking;
  return await Promise.all(reading);
}

async function readOnce({ ask }: Server): Promise<number> {
  const start = performance.now();
  const text = await ask("victim", "ReadUserMemory", { name: "pref" });
  if (!text.includes("Green tea")) throw new Error(text);
  return performance.now() - start;
}

async function searchUntil({ ask }: Server, until: number, isHangingUp: boolean): Promise<void> {
  const asked: Promise<unknown>[] = [];
  while (performance.now() < until) {
    const signal = isHangingUp ? AbortSignal.timeout(hangUpMs) : null;
    asked.push(ask("attacker", "memory_search", { query: "absent words", limit: 100 }, signal).catch(() => null));
    await setTimeout(1_000 / requestsPerSecond);
  }
  await Promise.all(asked);
}

interface Server extends AsyncDisposable {
  /** Calls a tool over HTTP, and returns the text of the answer. */
  readonly ask: (
    user: "attacker" | "victim",
    name: string,
    input: object,
    signal?: AbortSignal | null,
  ) => Promise<string>;
}

/** A server of its own process, with an attacker's journal of some 15 MB and a victim's entry. */
async function startServer(folder: string): Promise<Server> {
  const [issuer, audience] = ["https://issuer.example", "https://memory.example"];
  const entry = '---\nname: pref\ndescription: "Likes tea"\ntype: user\n---\n\nGreen tea.\n';
  writeUserFiles(folder, {
    attacker: journalFiles("release ".repeat(180)),
    victim: { "memory/pref.md": entry, "memory/MEMORY.md": "- [pref](pref.md) — Likes tea\n" },
  });
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keyFile = `${folder}-key.pem`;
  writeFileSync(keyFile, await exportSPKI(publicKey));
  const token = (sub: string): Promise<string> =>
    new SignJWT({ iss: issuer, aud: audience, sub })
      .setProtectedHeader({ alg: "ES256" })
      .setExpirationTime("1h")
      .sign(privateKey);
  const tokens = { attacker: await token("attacker"), victim: await token("victim") };
  const command = fileURLToPath(new URL("../../host/cli/main.js", import.meta.url));
  const access = ["--issuer", issuer, "--audience", audience, "--public-key", keyFile];
  // The victim reads as fast as it can. The attacker keeps to ten requests in a second.
  const args = ["serve", "--http", "--port", "0", "--data", folder, "--requests-per-minute", "1000000", ...access];
  const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "inherit", "pipe"] });
  const ended = once(child, "exit");
  const url = await addressIn(child.stderr);
  return {
    ask: async (user, name, input, signal = null) => {
      const headers = {
        authorization: `Bearer ${tokens[user]}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      };
      const params = { _meta: meta, name, arguments: input };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const response = await fetch(url, { method: "POST", headers, body, signal });
      return await response.text();
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "memcell-bench", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [found] = /http:\/\/\S+/.exec(line) ?? [];
    if (found === undefined) continue;
    stderr.resume();
    return found;
  }
  throw new Error("The server has ended before it listened");
}
