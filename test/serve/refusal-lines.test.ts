/** What standard error of `memcell serve --http` says about refused requests: the reason, and nothing of the client's. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { HttpProcess } from "./http-process.ts";
import { modernRequest, sendBytes } from "./http-requests.ts";
import type { Asked } from "./http-requests.ts";
import { audience, issuer, makeKey, TokenIssuer } from "./token-issuer.ts";

const folder = temporaryFolder();
let issuing: TokenIssuer;
let served: HttpProcess;

beforeAll(async () => {
  issuing = await TokenIssuer.start();
  const keys = join(folder.path, "keys.json");
  writeFileSync(keys, JSON.stringify(await issuing.keySet()));
  const args = [
    "--issuer",
    issuer,
    "--audience",
    audience,
    "--jwks",
    keys,
    "--public-url",
    "https://memory.example/mcp",
  ];
  served = new HttpProcess([...args, "--clock-tolerance-s", "0", "--body-bytes-max", "4096"], { cwd: folder.path });
  await served.url();
});

afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await issuing[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const list = (token: string, asked: Asked = {}): Asked => modernRequest(token, "tools/list", { asked });
/** A text with which a client tries to write a line of its own. */
const forged = "x%0aerror http: forged\\n";

test.for<{ name: string; reason: string; ask: () => Promise<Asked> }>([
  {
    name: "an expired token",
    reason: "token-expired",
    ask: async () => list(await issuing.token("mallory", { endsInS: -60 })),
  },
  {
    name: "another issuer",
    reason: "token-issuer",
    ask: async () => list(await issuing.token("mallory", { claims: { iss: forged } })),
  },
  {
    name: "another audience",
    reason: "token-audience",
    ask: async () => list(await issuing.token("mallory", { claims: { aud: forged } })),
  },
  {
    name: "another key",
    reason: "token-signature",
    ask: async () => list(await issuing.token("mallory", { signer: await makeKey("ES256", "key-1") })),
  },
  {
    name: "an unknown key",
    reason: "token-key",
    ask: async () => list(await issuing.token("mallory", { signer: await makeKey("ES256", forged) })),
  },
  { name: "no token at all", reason: "token-missing", ask: async () => ({ body: "{}" }) },
  { name: "a text that is no token", reason: "token-malformed", ask: async () => list("secret-token-text") },
  {
    name: "a user that is none",
    reason: "token-user",
    ask: async () => list(await issuing.token("mallory/\nerror http: forged")),
  },
  {
    name: "another host",
    reason: "host-unknown",
    ask: async () => list(await issuing.token("alice"), { headers: { host: "evil.example" } }),
  },
  {
    name: "another origin",
    reason: "origin-unknown",
    ask: async () => list(await issuing.token("alice"), { headers: { origin: "https://evil.example" } }),
  },
  {
    name: "a large body",
    reason: "body-too-large",
    ask: async () => list(await issuing.token("alice"), { body: JSON.stringify({ text: "x".repeat(5_000) }) }),
  },
  {
    name: "an unknown path",
    reason: "path-unknown",
    ask: async () => ({ method: "GET", path: `/${forged.replaceAll(" ", "%20")}` }),
  },
])("says why $name is refused", async ({ reason, ask }) => {
  const before = served.lines.length;
  const asked = await ask();
  const { status } = await served.ask(asked);
  expect(status).toBeGreaterThanOrEqual(400);
  const line = `warn http: refused a request from 127.0.0.1: ${reason}`;
  await served.line(new RegExp(`^${line}$`));
  expect(served.lines.slice(before)).toEqual([line]);
});

test("says that a request is not HTTP", async () => {
  const { port } = new URL(await served.url());
  await sendBytes(Number(port), "\u001b[31mnot HTTP\r\n\r\n");
  await served.line(/^warn http: refused a request from 127\.0\.0\.1: http-malformed$/);
});

test("all lines together have nothing that a client has sent", () => {
  const all = served.lines.join("\n");
  for (const text of ["mallory", "evil", "forged", "secret", "eyJ", "\u001b", "%0a"]) expect(all).not.toContain(text);
});

test("counts a flood, and tells the counts at the end", async () => {
  await using flooded = new HttpProcess(["--user", "alice"], { cwd: folder.path });
  const { port } = new URL(await flooded.url());
  const socket = connect(Number(port), "127.0.0.1");
  socket.resume();
  const request = `GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  // One after the other: more than 16 at once are refused for another reason.
  for (let count = 0; count < 500; count++) {
    socket.write(request);
    await once(socket, "data");
  }
  socket.destroy();
  const { lines } = await flooded.end();
  const refused = lines.filter((line) => line.startsWith("warn http: "));
  expect(refused).toHaveLength(61);
  expect(refused.at(-1)).toBe("warn http: refused 440 more requests in a minute: path-unknown");
});
