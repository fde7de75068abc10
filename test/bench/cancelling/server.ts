/** A server of its own process, with an attacker's journal of some 15 MB and a victim's entry. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { exportSPKI, generateKeyPair, SignJWT } from "jose";

import { modernRequest } from "../../stage/http-requests.ts";
import { audience, issuer } from "../../stage/token-issuer.ts";
import { writeUserFiles } from "../../support/user-files.ts";
import { journalFiles } from "../journal/files.ts";

const command = fileURLToPath(new URL("../../../host/cli/main.js", import.meta.url));

export type User = "attacker" | "victim";

export interface AttackedServer extends AsyncDisposable {
  readonly url: string;
  /** A request that calls a tool, for `fetch`. */
  request(user: User, name: string, input: object): RequestInit;
}

export async function startAttackedServer(folder: string): Promise<AttackedServer> {
  const dataDir = join(folder, "cancelling");
  const entry = '---\nname: pref\ndescription: "Likes tea"\ntype: user\n---\n\nGreen tea.\n';
  writeUserFiles(dataDir, {
    attacker: journalFiles("release ".repeat(180)),
    victim: { "memory/pref.md": entry, "memory/MEMORY.md": "- [pref](pref.md) — Likes tea\n" },
  });
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keyFile = join(folder, "cancelling-key.pem");
  writeFileSync(keyFile, await exportSPKI(publicKey));
  const token = (user: User): Promise<string> =>
    new SignJWT({ iss: issuer, aud: audience, sub: user })
      .setProtectedHeader({ alg: "ES256" })
      .setExpirationTime("1h")
      .sign(privateKey);
  const tokens = { attacker: await token("attacker"), victim: await token("victim") };
  const access = ["--issuer", issuer, "--audience", audience, "--public-key", keyFile];
  // The victim reads as fast as it can. The attacker keeps to ten requests in a second.
  const args = ["serve", "--http", "--port", "0", "--data", dataDir, "--requests-per-minute", "1000000", ...access];
  const server = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "inherit", "pipe"] });
  const ended = once(server, "exit");
  const url = await addressIn(server.stderr);
  return {
    url,
    request: (user, name, input) => {
      const { body, headers } = modernRequest(tokens[user], "tools/call", { params: { name, arguments: input } });
      return { method: "POST", body: body as string, headers: headers as Record<string, string> };
    },
    async [Symbol.asyncDispose]() {
      server.kill("SIGTERM");
      await ended;
    },
  };
}

async function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [found] = /http:\/\/\S+/.exec(line) ?? [];
    if (found === undefined) continue;
    stderr.resume();
    return found;
  }
  throw new Error("The server has ended before it listened");
}
