/** What standard error of `memcell serve --http` says about refused requests: the reason, and nothing of the client's. */
import { once } from "node:events";
import { connect } from "node:net";

import { afterAll, beforeAll, expect, test } from "vitest";

import { HttpProcess, tokenFlags } from "../stage/http-process.ts";
import { modernRequest, sendBytes } from "../stage/http-requests.ts";
import type { Asked } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import { makeKey, TokenIssuer } from "../stage/token-issuer.ts";
import type { TokenParts } from "../stage/token-issuer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let issuing: TokenIssuer;
let served: HttpProcess;

beforeAll(async () => {
  issuing = await TokenIssuer.start();
  const flags = ["--public-url", "https://memory.example/mcp", "--clock-tolerance-s", "0", "--body-bytes-max", "4096"];
  served = new HttpProcess([...tokenFlags(issuing), ...flags], { cwd: folder.path });
  await served.url();
});

afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await issuing[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** A text with which a client tries to write a line of its own. */
const forged = "x%0aerror http: forged\\n";

const list = (token: string, asked: Asked = {}): Asked => modernRequest(token, "tools/list", { asked });
const as = async (user: string, parts: TokenParts): Promise<Asked> => list(await issuing.token(user, parts));
const alice = async (asked: Asked): Promise<Asked> => list(await issuing.token("alice"), asked);

test.for<readonly [reason: string, ask: () => Promise<Asked> | Asked]>([
  ["token-expired", () => as("mallory", { endsInS: -60 })],
  ["token-issuer", () => as("mallory", { claims: { iss: forged } })],
  ["token-audience", () => as("mallory", { claims: { aud: forged } })],
  ["token-signature", async () => as("mallory", { signer: await makeKey("ES256", "key-1") })],
  ["token-key", async () => as("mallory", { signer: await makeKey("ES256", forged) })],
  ["token-missing", () => ({ body: "{}" })],
  ["token-malformed", () => list("secret-token-text")],
  ["token-user", () => as("mallory/\nerror http: forged", {})],
  ["host-unknown", () => alice({ headers: { host: "evil.example" } })],
  ["origin-unknown", () => alice({ headers: { origin: "https://evil.example" } })],
  ["body-too-large", () => alice({ body: JSON.stringify({ text: "x".repeat(5_000) }) })],
  ["path-unknown", () => ({ method: "GET", path: `/${forged.replaceAll(" ", "%20")}` })],
])("says that a request was refused because of %s", async ([reason, ask]) => {
  const before = served.lines.length;
  const { status } = await served.ask(await ask());
  expect(status).toBeGreaterThanOrEqual(400);
  const line = `warn http: refused a request from 127.0.0.1: ${reason}`;
  await served.line(new RegExp(`^${line}$`));
  expect(served.lines.slice(before)).toEqual([line]);
});

test("says that a request is not HTTP, and has nothing that a client has sent", async () => {
  await sendBytes(await served.port(), "\u001b[31mnot HTTP\r\n\r\n");
  await served.line(/^warn http: refused a request from 127\.0\.0\.1: http-malformed$/);
  const all = served.lines.join("\n");
  for (const text of ["mallory", "evil", "forged", "secret", "eyJ", "\u001b", "%0a"]) expect(all).not.toContain(text);
});

test("counts a flood, and tells the counts at the end", async () => {
  await using flooded = await openHttpStage();
  const socket = connect(flooded.port, "127.0.0.1");
  socket.resume();
  // One after the other: more than 16 at once are refused for another reason.
  for (let count = 0; count < 100; count++) {
    socket.write("GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await once(socket, "data");
  }
  socket.destroy();
  await flooded.runtime.close();
  const refused = flooded.log.filter(({ tool }) => tool === "http").map(({ text }) => text);
  expect(refused).toHaveLength(61);
  expect(refused.at(-1)).toBe("refused 40 more requests in a minute: path-unknown");
});
