/** What the detector of credentials finds, what it leaves alone, and that it always answers. */
import { createHash, generateKeyPairSync } from "node:crypto";

import { CredentialDetector } from "memcell";
import { afterAll, expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";

/** Made up, and put together here: whoever scans this repository for credentials finds none. */
const madeUp = (length: number): string =>
  createHash("sha512").update("made up").digest("base64").replaceAll(/\W/g, "").slice(0, length);

const hex = (length: number): string => createHash("sha512").update("made up").digest("hex").slice(0, length);
const letters = (length: number): string => madeUp(86).replaceAll(/\d/g, "x").slice(0, length);

/** Each with the prefix apart from the rest: put together, they look real. */
const tokens: readonly (readonly [what: string, prefix: string, rest: string])[] = [
  ["GitLab, personal", "glpat-", madeUp(20)],
  ["GitLab, personal, in the newer form", "glpat-", `${madeUp(27)}.01.${hex(9)}`],
  ["GitLab, deployment", "gldt-", madeUp(20)],
  ["GitLab, runner", "glrt-", `t1_${madeUp(20)}`],
  ["GitLab, job", "glcbt-", `64_${madeUp(20)}`],
  ["GitLab, trigger", "glptt-", hex(40)],
  ["GitLab, feed", "glft-", madeUp(20)],
  ["GitLab, service account", "glsoat-", madeUp(20)],
  ["GitLab, application", "gloas-", hex(64)],
  ["GitLab, agent", "glagent-", madeUp(50)],
  ["Google, API", "AIza", `Sy${madeUp(33)}`],
  ["Google, client", "GOCSPX-", madeUp(28)],
  ["Google, access", "ya29.", `a0Af${madeUp(60)}`],
  ["Google, refresh", "1//0", madeUp(60)],
  ["Stripe, live", "sk_live_", madeUp(24)],
  ["Stripe, restricted", "rk_live_", madeUp(24)],
  ["Stripe, test", "sk_test_", madeUp(24)],
  ["Stripe, webhook", "whsec_", madeUp(32)],
  ["Hugging Face", "hf_", letters(34)],
  ["Hugging Face, with digits", "hf_", madeUp(34)],
  ["Hugging Face, organisation", "api_org_", letters(34)],
  ["Azure, client", `${madeUp(3)}8Q~`, madeUp(34)],
  ["Azure, AI services", madeUp(52), `JQQJ99${madeUp(26)}`],
  ["GitHub, fine-grained", "github_pat_", madeUp(82)],
  ["GitHub, app", "ghs_", madeUp(36)],
  ["Slack, app", "xapp-1-", `A0123456789-1234567890123-${hex(64)}`],
  ["Slack, browser", "xoxc-", `123456789012-1234567890123-${hex(64)}`],
  ["SendGrid", "SG.", `${madeUp(22)}.${madeUp(43)}`],
  ["Shopify", "shpat_", hex(32)],
  ["Linear", "lin_api_", madeUp(40)],
  ["OpenAI, project", "sk-proj-", `${madeUp(74)}T3BlbkFJ${madeUp(74)}`],
  ["OpenAI, in another form", "sk-", madeUp(48)],
  ["Anthropic, administrator", "sk-ant-admin01-", `${madeUp(80)}AA`],
  ["Groq", "gsk_", madeUp(52)],
  ["Figma", "figd_", madeUp(40)],
  ["Vercel", "vcp_", madeUp(24)],
  ["Notion", "ntn_", `12345678901${madeUp(35)}`],
  ["Grafana", "glsa_", `${madeUp(32)}_${hex(8)}`],
  ["Databricks", "dapi", hex(32)],
  ["Docker", "dckr_pat_", madeUp(27)],
  ["HashiCorp Vault", "hvs.", `${madeUp(86)}${madeUp(10)}`],
  [
    "1Password",
    "ops_",
    Buffer.from(JSON.stringify({ email: "anna", secretKey: madeUp(70), more: madeUp(33) })).toString("base64"),
  ],
  ["age", "AGE-SECRET-KEY-1", hex(58).toUpperCase()],
];

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

const credentials: readonly (readonly [name: string, text: string])[] = [
  ["an AWS access key", `The key is AKIA${madeUp(16).toUpperCase()}.`],
  ["an AWS secret", `export AWS_SECRET_ACCESS_KEY=${madeUp(40)}`],
  ["a GitHub token", `Push with ghp_${madeUp(36)}`],
  ["an Anthropic key", `ANTHROPIC_API_KEY=sk-ant-api03-${madeUp(80)}${madeUp(13)}AA`],
  ["an OpenAI key", `sk-${madeUp(20)}T3BlbkFJ${madeUp(20)}`],
  ["a Slack token", `Bot: xoxb-123456789012-1234567890123-${madeUp(24)}`],
  ["an npm token", `npm_${madeUp(36)}`],
  ["a private key", `Her key:\n${privateKey}`],
  ["a private key in a line of JSON", JSON.stringify({ type: "tool_result", result: privateKey })],
  ["an Ed25519 key in PKCS#8", pemOf("ed25519")],
  ["an encrypted key", pemOf("ed25519", "aes-256-cbc")],
  ["an X25519 key", pemOf("x25519")],
  ["an EC key in SEC1", sec1],
  ["an RSA key in PKCS#1", pkcs1],
  ["an encrypted key with a head of its own", encryptedPkcs1],
  ["a DSA key", armoured("DSA PRIVATE KEY", lines)],
  ["a key of OpenSSH", armoured("OPENSSH PRIVATE KEY", lines)],
  ["a key of PGP", armoured("PGP PRIVATE KEY BLOCK", `Version: GnuPG v2\nComment: of Anna\n\n${lines}`)],
  ["a key of SSH2", `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "rsa"\n${lines}`],
  ["a key of PuTTY", `PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n${madeUp(48)}\n`],
  ["a key with the line ends of Windows", pemOf("ed25519").replaceAll("\n", "\r\n")],
  ["a key that is indented", sec1.replaceAll(/^/gm, "    ")],
  ["a key in a quotation", sec1.replaceAll(/^/gm, "> ")],
  ["a key in a line of JSON in JSON", JSON.stringify(JSON.stringify({ key: pemOf("ed25519") }))],
  ["a key without an end", half(pkcs1)],
  ["a short key without an end", half(pemOf("ed25519"))],
  ["a service account", JSON.stringify({ private_key_id: hex(40), private_key: pemOf("ed25519") })],
  [
    "Azure's connection string",
    `DefaultEndpointsProtocol=https;AccountName=anna;AccountKey=${madeUp(86)}==;EndpointSuffix=core.windows.net`,
  ],
  ["a connection string of a bus", `Endpoint=sb://a.b/;SharedAccessKeyName=all;SharedAccessKey=${madeUp(43)}=`],
  ["a signed address of Azure", `https://a.blob.core.windows.net/c?sv=2024-01-01&sig=${madeUp(43)}%3D`],
  ["a signed address in JSON of Go", `"https://a.b/c?sv=2024-01-01\\u0026sig=${madeUp(43)}%3D"`],
  ["a password for SQL Server", `Server=db.corp;Database=x;User Id=anna;Password=${madeUp(12)};`],
  ["a password of other characters in a URL", `https://anna:p%40ss!${madeUp(6)}@corp.example/`],
  ["a password without a user", `redis://:${madeUp(16)}@cache.corp:6379/0`],
  ["a token behind a line break in JSON", String.raw`{"data":"{\"text\":\"Push:\\n` + `ghp_${madeUp(36)}"}`],
  ...tokens.map(([what, prefix, rest]) => [`a token: ${what}`, `It is ${prefix}${rest}, keep it.`] as const),
  ["a password in a URL", `Staging is ${url("https", "staging.example.com/admin")}`],
  ["a password in a connection string", url("postgres", "db.example.com:5432/users")],
  ["a credential beside a comment that switches rules off", `secretlint-disable ghp_${madeUp(36)}`],
  ["a credential at the end of 2 MiB", `${"a ".repeat(2 ** 20)}ghp_${madeUp(36)}`],
];

test.for(credentials)("finds %s", async ([, text]) => {
  expect(await detector.findsCredentials(text)).toBe(true);
});

const ordinary: readonly (readonly [name: string, text: string])[] = [
  ["prose", "Prefers short answers, works in Zürich, and often forgets the password of the router."],
  ["a UUID and a commit", "3f2504e0-4f89-41d3-9a0c-0305e82c3301 2e9eb133a1f0b4c5d6e7f8091a2b3c4d5e6f7a8b"],
  ["a hash in base64", `sha512-${createHash("sha512").update("x").digest("base64")}`],
  ["a connection string with variables", "postgres://${DB_USER}:${DB_PASS}@db/users"],
  ["a public key", publicKey],
  ["public keys and certificates", [armoured("PUBLIC KEY", lines), armoured("CERTIFICATE", lines)].join("")],
  ["heads of keys without a key", armoured("PRIVATE KEY", "...") + armoured("RSA PRIVATE KEY", "x".repeat(64))],
  ["what is said of a key", "Paste it between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----"],
  ["an image in base64", `![](data:image/png;base64,${madeUp(86).repeat(40)})`],
  ["prefixes alone", "glpat- AIza GOCSPX- sk_live_ whsec_ hf_ sk- ghp_ SG. AccountKey= ?sig="],
  ["names in code", "hf_hub_download, sk-learn, sk_live_mode, scikit-learn, pk_live_51Abcdefghijklmnop, hf_transfer"],
  ["keys from the environment", "process.env.STRIPE_KEY; os.environ['HF_TOKEN']; AccountKey=${AZURE_KEY}"],
  ["placeholders", "https://user:password@corp.example postgres://me:${DB_PASS}@db redis://:{{pass}}@h"],
  ["ports and digests", "http://localhost:3000/a@b docker://alpine:3.18@sha256:abc ssh://git@host:2222/r"],
  ["half a pair of surrogates", "\ud800"],
];

test.for(ordinary)("leaves %s alone", async ([, text]) => {
  expect(await detector.findsCredentials(text)).toBe(false);
});

/** As long as the longest text of a file, and made to be slow. */
const starts =
  "https://a glpat- glpat-gl sk- AccountKey= &sig= &sig=AAAA%2B a1Q~ AIza eyJ - Server=a; Server=a;b=c;".split(" ");
const others = "://a:b ://:aaaa \\ \\u0041 \\\\n A xoxb-1- SG.a 1//0 {".split(" ");
const keys = ["-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n", "Private-Lines: 1\n", "hf_a "];
const hostile = [...starts, ...others, ...keys];

test("a text of 2 MiB that is made to be slow takes less than the deadline", { timeout: 120_000 }, async () => {
  const slow: string[] = [];
  for (const part of oneIn(5, hostile)) {
    const text = part.repeat(Math.ceil(2 ** 21 / part.length));
    const startMs = performance.now();
    await detector.findsCredentials(text);
    if (performance.now() - startMs > 4_000) slow.push(part);
  }
  expect(slow).toEqual([]);
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
