/** What the detector of credentials finds, what it leaves alone, and that it always answers. */
import { createHash, generateKeyPairSync } from "node:crypto";

import { afterAll, expect, test } from "vitest";

import { CredentialDetector } from "../../host/detect/credentials.ts";
import { imports } from "../tidy/imports.ts";

const detector = new CredentialDetector();
afterAll(() => detector.close());

/** Made up, and put together here: whoever scans this repository for credentials finds none. */
const madeUp = (length: number): string =>
  createHash("sha512").update("made up").digest("base64").replaceAll(/\W/g, "").slice(0, length);
const { privateKey, publicKey } = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const url = (scheme: string, place: string): string => `${scheme}://anna:${madeUp(12)}@${place}`;

const credentials = [
  { name: "an AWS access key", text: `The key is AKIA${madeUp(16).toUpperCase()}.` },
  { name: "an AWS secret", text: `export AWS_SECRET_ACCESS_KEY=${madeUp(40)}` },
  { name: "a GitHub token", text: `Push with ghp_${madeUp(36)}` },
  { name: "an Anthropic key", text: `ANTHROPIC_API_KEY=sk-ant-api03-${madeUp(80)}${madeUp(13)}AA` },
  { name: "an OpenAI key", text: `sk-${madeUp(20)}T3BlbkFJ${madeUp(20)}` },
  { name: "a Slack token", text: `Bot: xoxb-123456789012-1234567890123-${madeUp(24)}` },
  { name: "an npm token", text: `npm_${madeUp(36)}` },
  { name: "a private key", text: `Her key:\n${privateKey}` },
  { name: "a private key in a line of JSON", text: JSON.stringify({ type: "tool_result", result: privateKey }) },
  { name: "a password in a URL", text: `Staging is ${url("https", "staging.example.com/admin")}` },
  { name: "a password in a connection string", text: url("postgres", "db.example.com:5432/users") },
  { name: "a credential beside a comment that switches rules off", text: `secretlint-disable ghp_${madeUp(36)}` },
  { name: "a credential at the end of 2 MiB", text: `${"a ".repeat(2 ** 20)}ghp_${madeUp(36)}` },
];

test.for(credentials)("finds $name", async ({ text }) => {
  expect(await detector.findsCredentials(text)).toBe(true);
});

const ordinary = [
  { name: "no text", text: "" },
  { name: "prose", text: "Prefers short answers, works in Zürich, and often forgets the password of the router." },
  {
    name: "a UUID and a commit",
    text: "3f2504e0-4f89-41d3-9a0c-0305e82c3301 2e9eb133a1f0b4c5d6e7f8091a2b3c4d5e6f7a8b",
  },
  { name: "a hash in base64", text: `sha512-${createHash("sha512").update("x").digest("base64")}` },
  { name: "code that reads a key", text: "new OpenAI({ apiKey: process.env.OPENAI_API_KEY })" },
  { name: "a connection string with variables", text: "postgres://${DB_USER}:${DB_PASS}@db/users" },
  { name: "a public key", text: publicKey },
  { name: "an account's number", text: "AWS_ACCOUNT_ID=123456789012" },
  { name: "half a pair of surrogates", text: "\ud800" },
];

test.for(ordinary)("leaves $name alone", async ({ text }) => {
  expect(await detector.findsCredentials(text)).toBe(false);
});

test("texts at the same time get their own answers", async () => {
  const texts = Array.from({ length: 40 }, (_, at) => (at % 3 === 0 ? `ghp_${madeUp(36)}` : `Entry ${at}`));
  const answers = await Promise.all(texts.map((text) => detector.findsCredentials(text)));
  expect(answers).toEqual(texts.map((text) => text.startsWith("ghp_")));
});

test("a text that is not examined in time counts as one with a credential", async () => {
  const hurried = new CredentialDetector({ deadlineMs: 1 });
  expect(await hurried.findsCredentials("Prefers short answers")).toBe(true);
  await hurried.close();
});

test("a text after close() gets a new thread", async () => {
  const reopened = new CredentialDetector();
  await reopened.close();
  expect(await reopened.findsCredentials("Prefers short answers")).toBe(false);
  const last = reopened.findsCredentials(`ghp_${madeUp(36)}`);
  await reopened.close();
  expect(await last).toBe(true);
});

const importersOf = (file: string): string[] => imports.filter(({ to }) => to === file).map(({ from }) => from);

test("only the thread loads the rules", () => {
  expect(importersOf("host/detect/credential-rules.ts")).toEqual(["host/detect/credential-thread.ts"]);
  expect(importersOf("host/detect/credential-thread.ts")).toEqual([]);
});
