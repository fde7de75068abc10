/** What the detector of credentials finds, what it leaves alone, and that it always answers. */
import { createHash, generateKeyPairSync } from "node:crypto";

import { afterAll, expect, test } from "vitest";

import { CredentialDetector } from "../../host/detect/credentials.ts";
import type { AskedWrite } from "../../host/gate/write-hook.ts";
import { imports } from "../tidy/imports.ts";
import { hex, madeUp, tokens } from "./made-up-tokens.ts";

const detector = new CredentialDetector();
afterAll(() => detector.close());

const { privateKey, publicKey } = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const pemOf = (type: "ed25519" | "x25519", cipher?: string): string =>
  String(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one type's overload for both
    generateKeyPairSync(type as "ed25519").privateKey.export({
      type: "pkcs8",
      format: "pem",
      ...(cipher && { cipher, passphrase: "made up" }),
    }),
  );
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const sec1 = String(ec.export({ type: "sec1", format: "pem" }));
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
const pkcs1 = String(rsa.export({ type: "pkcs1", format: "pem" }));
const encryptedPkcs1 = String(
  rsa.export({ type: "pkcs1", format: "pem", cipher: "aes-256-cbc", passphrase: "made up" }),
);
/** A key that Node does not write: its head, and what stands between. */
const armoured = (kind: string, body: string): string => `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----\n`;
const lines = madeUp(64).replace(/.{32}/, "$&\n");
const half = (pem: string): string => pem.slice(0, pem.indexOf("-----END") - 8);
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
  { name: "an Ed25519 key in PKCS#8", text: pemOf("ed25519") },
  { name: "an encrypted key", text: pemOf("ed25519", "aes-256-cbc") },
  { name: "an X25519 key", text: pemOf("x25519") },
  { name: "an EC key in SEC1", text: sec1 },
  { name: "an RSA key in PKCS#1", text: pkcs1 },
  { name: "an encrypted key with a head of its own", text: encryptedPkcs1 },
  { name: "a DSA key", text: armoured("DSA PRIVATE KEY", lines) },
  { name: "a key of OpenSSH", text: armoured("OPENSSH PRIVATE KEY", lines) },
  { name: "a key of PGP", text: armoured("PGP PRIVATE KEY BLOCK", `Version: GnuPG v2\nComment: of Anna\n\n${lines}`) },
  { name: "a key of SSH2", text: `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "rsa"\n${lines}` },
  { name: "a key of PuTTY", text: `PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n${madeUp(48)}\n` },
  { name: "a key with the line ends of Windows", text: pemOf("ed25519").replaceAll("\n", "\r\n") },
  { name: "a key that is indented", text: sec1.replaceAll(/^/gm, "    ") },
  { name: "a key in a quotation", text: sec1.replaceAll(/^/gm, "> ") },
  { name: "a key in a line of JSON in JSON", text: JSON.stringify(JSON.stringify({ key: pemOf("ed25519") })) },
  { name: "a key without an end", text: half(pkcs1) },
  { name: "a short key without an end", text: half(pemOf("ed25519")) },
  { name: "a service account", text: JSON.stringify({ private_key_id: hex(40), private_key: pemOf("ed25519") }) },
  {
    name: "Azure's connection string",
    text: `DefaultEndpointsProtocol=https;AccountName=anna;AccountKey=${madeUp(86)}==;EndpointSuffix=core.windows.net`,
  },
  {
    name: "a connection string of a bus",
    text: `Endpoint=sb://a.b/;SharedAccessKeyName=all;SharedAccessKey=${madeUp(43)}=`,
  },
  { name: "a signed address of Azure", text: `https://a.blob.core.windows.net/c?sv=2024-01-01&sig=${madeUp(43)}%3D` },
  { name: "a signed address in JSON of Go", text: `"https://a.b/c?sv=2024-01-01\\u0026sig=${madeUp(43)}%3D"` },
  { name: "a password for SQL Server", text: `Server=db.corp;Database=x;User Id=anna;Password=${madeUp(12)};` },
  { name: "a password of other characters in a URL", text: `https://anna:p%40ss!${madeUp(6)}@corp.example/` },
  { name: "a password without a user", text: `redis://:${madeUp(16)}@cache.corp:6379/0` },
  {
    name: "a token behind a line break in JSON",
    text: String.raw`{"data":"{\"text\":\"Push:\\n` + `ghp_${madeUp(36)}"}`,
  },
  ...tokens.map(([what, prefix, rest]) => ({ name: `a token: ${what}`, text: `It is ${prefix}${rest}, keep it.` })),
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
  {
    name: "public keys and certificates",
    text: [armoured("PUBLIC KEY", lines), armoured("CERTIFICATE", lines)].join(""),
  },
  {
    name: "heads of keys without a key",
    text: armoured("PRIVATE KEY", "...") + armoured("RSA PRIVATE KEY", "x".repeat(64)),
  },
  { name: "what is said of a key", text: "Paste it between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----" },
  { name: "an image in base64", text: `![](data:image/png;base64,${madeUp(86).repeat(40)})` },
  { name: "prefixes alone", text: "glpat- AIza GOCSPX- sk_live_ whsec_ hf_ sk- ghp_ SG. AccountKey= ?sig=" },
  {
    name: "names in code",
    text: "hf_hub_download, sk-learn, sk_live_mode, scikit-learn, pk_live_51Abcdefghijklmnop, hf_transfer",
  },
  {
    name: "keys from the environment",
    text: "process.env.STRIPE_KEY; os.environ['HF_TOKEN']; AccountKey=${AZURE_KEY}",
  },
  { name: "placeholders", text: "https://user:password@corp.example postgres://me:${DB_PASS}@db redis://:{{pass}}@h" },
  {
    name: "ports and digests",
    text: "http://localhost:3000/a@b docker://alpine:3.18@sha256:abc ssh://git@host:2222/r",
  },
  { name: "safe words", text: "My password is in the safe; the token ring is at the jeweller's; sk-ating on Sundays" },
  {
    name: "lists of hashes",
    text: Array.from({ length: 50 }, (_, at) => createHash("sha256").update(`${at}`).digest("hex")).join("\n"),
  },
  { name: "UUIDs and versions", text: "3f2504e0-4f89-41d3-9a0c-0305e82c3301 node@20.19.0 sk-8a7f v1.2.3-rc.4 1//0" },
  { name: "half a pair of surrogates", text: "\ud800" },
];

test.for(ordinary)("leaves $name alone", async ({ text }) => {
  expect(await detector.findsCredentials(text)).toBe(false);
});

/** As long as the longest text of a file, and made to be slow. */
const hostile = [
  "https://a",
  "glpat-",
  "glpat-gl",
  "sk-",
  "AccountKey=",
  "&sig=",
  "&sig=AAAA%2B",
  "a1Q~",
  "AIza",
  "eyJ",
  "-----BEGIN PRIVATE KEY-----",
  "-----BEGIN RSA PRIVATE KEY-----\n",
  "-",
  "Private-Lines: 1\n",
  "Server=a;",
  "Server=a;b=c;",
  "://a:b",
  "://:aaaa",
  "\\",
  "\\u0041",
  "\\\\n",
  "A",
  "xoxb-1-",
  "SG.a",
  "1//0",
  "hf_a ",
  "{",
];

test("a text of 2 MiB that is made to be slow takes less than the deadline", { timeout: 120_000 }, async () => {
  const slow: string[] = [];
  for (const part of hostile) {
    const text = part.repeat(Math.ceil(2 ** 21 / part.length));
    const startMs = performance.now();
    await detector.findsCredentials(text);
    if (performance.now() - startMs > 4_000) slow.push(part);
  }
  expect(slow).toEqual([]);
});

const write = (path: string, text: string | null): AskedWrite => ({
  userId: "alice",
  tool: "T",
  plugin: "p",
  origin: { class: "unstated", run: null, turn: null, source: null },
  trust: "unstated",
  files: [{ scope: "memory", path, text }],
});

test("the name of an entry is looked at, and what goes to the trash is not", async () => {
  const name = `glpat-${madeUp(20)}.md`;
  expect(await detector.onWrite(write(name, "Keep it"))).toBe("raise");
  expect(await detector.onWrite(write(name, null))).toBe("ok");
  expect(await detector.onWrite(write("editor.md", "Uses vim"))).toBe("ok");
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
