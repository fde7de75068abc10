/** People sign in at a real OpenID provider; what an attacker tries on the way there and back, and with what he has. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { Seal } from "../../host/serve/page/sealed.ts";
import { askServer } from "../stage/http-requests.ts";
import { audience, CookieJar, openSignInStage, scopes, signIn } from "./oidc.ts";
import type { Looked, SignInStage } from "./oidc.ts";

let stage: SignInStage;
const memory = (): string => `${stage.origin}/memory`;
beforeAll(async () => {
  stage = await openSignInStage();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

const entry = (name: string, body = "Uses Helix.") => ({
  action: "upsert" as const,
  name,
  type: "user" as const,
  description: "Uses Helix",
  body,
});
beforeEach(async () => {
  for (const userId of ["alice", "bob"])
    await stage.runtime.call("UpdateUserMemory", entry(`of-${userId}`), { userId });
});

/** Whatever a request has said and got, without what the provider's pages say. */
const logged = (): string => `${stage.log.join("\n")}\n${readFileSync(stage.logFile, "utf8")}`;

const formKey = (page: Looked): string => /name="key" value="([^"]*)"/.exec(page.text)?.[1] ?? "";

test("somebody signs in, sees only the own memory, changes it, and signs out", async () => {
  const jar = new CookieJar();
  const waiting = await signIn(jar, `${memory()}/waiting`, "alice");
  expect(waiting).toMatchObject({ url: `${memory()}/waiting`, status: 200 });
  const list = await jar.go(memory());
  expect(list.text).toContain("of-alice");
  expect(list.text).not.toContain("of-bob");
  const editor = await jar.go(`${memory()}/edit/memory/of-alice.md`);
  const text = /<textarea[^>]*>\n(.*?)<\/textarea>/s.exec(editor.text)?.[1] ?? "";
  const saved = await jar.send(editor, /edit/, {
    text: text.replaceAll("&#39;", "'").replace("Uses Helix.", "Uses Vim."),
  });
  expect(saved).toMatchObject({ url: `${memory()}/entry/memory/of-alice.md?done=saved`, status: 200 });
  expect(saved.text).toContain("Uses Vim.");
  const leaving = await jar.send(saved, /leave/);
  expect(leaving.text).toContain(`content="0;url=/memory/left"`);
  const left = await jar.go(`${memory()}/left`);
  expect(left.text).toContain("You are signed out");
  expect(left.headers.get("clear-site-data")).toBe('"cache"');
  expect(left.text).toContain(`href="${stage.issuer}/session/end"`);
  expect([...jar.cookies.keys()].filter((key) => key.startsWith("memcell"))).toEqual(["memcell-left /memory"]);
  // Who signs in next at this browser has to say who it is, although the provider still knows the last one.
  const again = await jar.go(memory(), {}, 0);
  expect(new URL(again.headers.get("location") ?? "").searchParams.get("prompt")).toBe("login");
});

test("no code, no token and no cookie is in an address, a page or a log", async () => {
  const jar = new CookieJar();
  const page = await signIn(jar, memory(), "alice");
  const session = [...jar.cookies.values()].find(({ name }) => name === "memcell")?.value ?? "";
  expect(session.length).toBeGreaterThan(100);
  for (const secret of [session, formKey(page), "eyJ", "code=", "state="]) {
    expect(page.url).not.toContain(secret);
    expect(logged()).not.toContain(secret);
  }
  for (const secret of [session, "eyJ", "code=", "state="]) expect(page.text).not.toContain(secret);
});

test("a client without a secret signs people in, too", async () => {
  await using without = await openSignInStage({ hasSecret: false });
  const page = await signIn(new CookieJar(), `${without.origin}/memory`, "alice");
  expect(page).toMatchObject({ url: `${without.origin}/memory`, status: 200 });
});

describe("what a token allows", () => {
  test.for([
    ["all scopes", `${scopes.read} ${scopes.write} ${scopes.owner}`, true],
    ["only the owner's", scopes.owner, true],
    ["reading", scopes.read, false],
    ["reading and writing, as agents have it", `${scopes.read} ${scopes.write}`, false],
  ] as const)("%s", async ([, given, mayChange]) => {
    await using other = await openSignInStage({ given });
    await other.runtime.call("UpdateUserMemory", entry("editor"), { userId: "alice" });
    const jar = new CookieJar();
    const page = await signIn(jar, `${other.origin}/memory/entry/memory/editor.md`, "alice");
    expect(page.status).toBe(200);
    expect(page.text.includes(">Delete</button>")).toBe(mayChange);
    const sha = /name="sha" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
    const body = new URLSearchParams({ key: formKey(page), sha });
    const headers = { origin: other.origin, "sec-fetch-site": "same-origin" };
    const sent = await jar.go(`${other.origin}/memory/forget/memory/editor.md`, { method: "POST", body, headers });
    expect(sent.status).toBe(mayChange ? 200 : 403);
    const left = await other.runtime.upkeep.entries({ userId: "alice" });
    expect(left.entries.length).toBe(mayChange ? 0 : 1);
  });

  test("none: nobody comes in", async () => {
    await using other = await openSignInStage({ given: "something" });
    const page = await signIn(new CookieJar(), `${other.origin}/memory`, "alice");
    expect(page.status).toBe(403);
    expect(page.text).toContain("Your account may not use this memory");
  });
});

test("on a server that is read-only, nobody can change anything", async () => {
  await using other = await openSignInStage({ runtime: { readOnly: true } });
  const page = await signIn(new CookieJar(), `${other.origin}/memory`, "alice");
  expect(page.status).toBe(200);
  expect(page.text).toContain("You may only look here");
  expect(page.text).not.toContain("Add something yourself");
});

test("a session ends with its token", async () => {
  await using other = await openSignInStage({ tokenSeconds: 2 });
  const jar = new CookieJar();
  const page = await signIn(jar, `${other.origin}/memory`, "alice");
  expect(page.status).toBe(200);
  const session = [...jar.cookies.values()].find(({ name }) => name === "memcell");
  const seal = new Seal(Buffer.alloc(32, 7), `session of ${other.origin}`);
  const endsAtMs = Date.now() + 2_000;
  while ((await seal.open(session?.value ?? "")) !== null) expect(Date.now()).toBeLessThan(endsAtMs + 1_000);
  const body = new URLSearchParams({ key: formKey(page), text: "What I have typed" });
  const sent = await jar.go(`${other.origin}/memory/add`, { method: "POST", body, headers: { origin: other.origin } });
  expect(sent.status).toBe(401);
  expect(sent.text).toContain("What I have typed");
});

test("an agent with a token of the person, with every scope, can do nothing on the page", async () => {
  const token = await stage.agentToken();
  const asMcp = {
    path: "/mcp",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  };
  // The token is good: only its body is refused.
  expect((await askServer(stage.port, asMcp)).status).toBe(400);
  const headers = {
    authorization: `Bearer ${token}`,
    origin: stage.origin,
    "sec-fetch-site": "same-origin",
    "content-type": "application/x-www-form-urlencoded",
  };
  const paths = ["approve/w-1", "edit/memory/of-alice.md", "undo/hour", "erase", "forget/memory/of-alice.md"];
  for (const path of paths) {
    const asked = { path: `/memory/${path}`, headers, body: "key=&name=alice" };
    expect(await askServer(stage.port, asked)).toMatchObject({ status: 401 });
    const looked = await askServer(stage.port, { method: "GET", path: "/memory", headers });
    expect(looked.status).toBe(303);
    const asCookie = { ...headers, authorization: "", cookie: `memcell=${token}` };
    expect(await askServer(stage.port, { ...asked, headers: asCookie })).toMatchObject({ status: 401 });
  }
});

/** Goes to the provider and back, but stops before memcell gets the answer. */
async function untilAnswered(jar: CookieJar, userId = "alice"): Promise<URL> {
  const login = await jar.go(memory());
  const consent = await jar.send(login, /interaction/, { login: userId, password: "any" });
  const form = /action="([^"]*)"/.exec(consent.text)?.[1] ?? "";
  const hidden = Object.fromEntries(
    Array.from(consent.text.matchAll(/name="([^"]*)" value="([^"]*)"/g), ([, name = "", value = ""]) => [name, value]),
  );
  let url = new URL(form, consent.url).href;
  let request: RequestInit = { method: "POST", body: new URLSearchParams(hidden) };
  for (;;) {
    const { headers } = await jar.go(url, request, 0);
    const place = new URL(headers.get("location") ?? "", url);
    if (place.pathname === "/memory/signed-in") return place;
    [url, request] = [place.href, {}];
  }
}

const refused = async (jar: CookieJar, url: URL): Promise<void> => {
  const asked = stage.exchanges();
  const page = await jar.go(url.href, {}, 0);
  expect({ status: page.status, exchanges: stage.exchanges() - asked }).toEqual({ status: 403, exchanges: 0 });
  expect([...jar.cookies.values()].some(({ name }) => name === "memcell")).toBe(false);
  expect(page.headers.get("cache-control")).toBe("no-store");
};

describe("on the way back", () => {
  test("an answer without the browser's own cookie is refused: login CSRF", async () => {
    const url = await untilAnswered(new CookieJar());
    await refused(new CookieJar(), url);
    const other = new CookieJar();
    await other.go(memory(), {}, 0);
    await refused(other, url);
  });

  test.for([
    ["another state", "state", "x".repeat(43)],
    ["no state", "state", null],
    ["another issuer: mix-up", "iss", "https://id.example"],
    ["no issuer", "iss", null],
    ["no code", "code", null],
  ] as const)("%s is refused before anybody is asked", async ([, name, value]) => {
    const jar = new CookieJar();
    const url = await untilAnswered(jar);
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
    await refused(jar, url);
  });

  test("a code counts once, also with the cookie of before", async () => {
    const jar = new CookieJar();
    const url = await untilAnswered(jar);
    const before = new Map(jar.cookies);
    expect((await jar.go(url.href, {}, 0)).status).toBe(303);
    await refused(new CookieJar(), url);
    const again = new CookieJar();
    for (const [key, cookie] of before) again.cookies.set(key, cookie);
    const page = await again.go(url.href, {}, 0);
    expect(page.status).toBe(403);
    expect([...again.cookies.values()].some(({ name }) => name === "memcell")).toBe(false);
  });

  test("another code with one's own state is refused by the issuer: PKCE and the redirect bind it", async () => {
    const [victim, attacker] = [new CookieJar(), new CookieJar()];
    const [own, stolen] = [await untilAnswered(attacker), await untilAnswered(victim, "bob")];
    own.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    const page = await attacker.go(own.href, {}, 0);
    expect(page.status).toBe(403);
    expect([...attacker.cookies.values()].some(({ name }) => name === "memcell")).toBe(false);
  });

  test("somebody who does not want to sign in is told so", async () => {
    const jar = new CookieJar();
    const url = await untilAnswered(jar);
    url.searchParams.delete("code");
    url.searchParams.set("error", "access_denied");
    url.searchParams.set("error_description", "<script>alert(1)</script>");
    const page = await jar.go(url.href, {}, 0);
    expect(page.status).toBe(403);
    expect(page.text).toContain("You have not signed in");
    expect(page.text).not.toContain("alert(1)");
  });

  test("many answers from one address do not make the server ask the issuer without end", async () => {
    await using other = await openSignInStage();
    const jar = new CookieJar();
    const login = await jar.go(`${other.origin}/memory`, {}, 0);
    const { searchParams } = new URL(login.headers.get("location") ?? "");
    const back = `${other.origin}/memory/signed-in?${new URLSearchParams({ code: "made-up", state: searchParams.get("state") ?? "", iss: other.issuer }).toString()}`;
    const cookies = new Map(jar.cookies);
    for (let times = 0; times < 40; times++) {
      for (const [key, cookie] of cookies) jar.cookies.set(key, cookie);
      expect((await jar.go(back, {}, 0)).status).toBe(403);
    }
    expect(other.exchanges()).toBe(30);
  });
});

const looks = async (name: string, value: string): Promise<number> =>
  (await askServer(stage.port, { method: "GET", path: "/memory", headers: { cookie: `${name}=${value}` } })).status;

/** The first letter of the tag changes. The last one has bits that no decoder reads. */
const withOtherTag = (sealed: string): string => {
  const tag = sealed.lastIndexOf(".") + 1;
  return `${sealed.slice(0, tag)}${sealed[tag] === "A" ? "B" : "A"}${sealed.slice(tag + 1)}`;
};

describe("a cookie", () => {
  test("that was made by somebody else, for something else, or for another server is none", async () => {
    const jar = new CookieJar();
    await jar.go(memory(), {}, 0);
    const signing = [...jar.cookies.values()].find(({ name }) => name === "memcell-sign-in")?.value ?? "";
    const key = Buffer.alloc(32, 7);
    const content = { user: "bob", rights: "owner", key: "k", id: "i" };
    const soon = Date.now() + 60_000;
    const made = {
      signing,
      "another key": await new Seal(Buffer.alloc(32, 8), `session of ${stage.origin}`).close(content, soon),
      "another server": await new Seal(key, "session of https://memory.example").close(content, soon),
      "a sign-in": await new Seal(key, `sign-in of ${stage.origin}`).close(content, soon),
      "too old": await new Seal(key, `session of ${stage.origin}`).close(content, Date.now() - 60_000),
      "no user": await new Seal(key, `session of ${stage.origin}`).close({ rights: "owner", key: "k", id: "i" }, soon),
    };
    for (const [why, value] of Object.entries(made))
      expect({ why, status: await looks("memcell", value) }).toEqual({ why, status: 303 });
    const own = await new Seal(key, `session of ${stage.origin}`).close(content, soon);
    expect(await looks("memcell", own)).toBe(200);
    expect(await looks("memcell", withOtherTag(own))).toBe(303);
    expect(await looks("memcell", `${own}; memcell=${own}`)).toBe(303);
  });

  test("of somebody who has signed out is none any more", async () => {
    const jar = new CookieJar();
    const page = await signIn(jar, memory(), "alice");
    const kept = new Map(jar.cookies);
    await jar.send(page, /leave/);
    for (const [key, cookie] of kept) jar.cookies.set(key, cookie);
    expect((await jar.go(memory(), {}, 0)).status).toBe(303);
  });

  test("is new at each sign-in: nobody can fix a session before", async () => {
    const [first, second] = [new CookieJar(), new CookieJar()];
    await signIn(first, memory(), "alice");
    const fixed = [...first.cookies.values()].find(({ name }) => name === "memcell");
    if (fixed) second.cookies.set("memcell /memory", fixed);
    second.cookies.clear();
    if (fixed)
      second.cookies.set("memcell-sign-in /memory/signed-in", {
        ...fixed,
        name: "memcell-sign-in",
        path: "/memory/signed-in",
      });
    await signIn(second, memory(), "bob");
    const own = [...second.cookies.values()].find(({ name }) => name === "memcell");
    expect(own?.value).not.toBe(fixed?.value);
  });

  test("on a public server, only this host can set it, and only TLS carries it", async () => {
    await using served = await stage.serve({ publicUrl: "https://memory.example/mcp" });
    const headers = { host: "memory.example" };
    const answer = await askServer(served.port, { method: "GET", path: "/memory", headers });
    expect(answer.status).toBe(303);
    const [line = ""] = answer.headers["set-cookie"] ?? [];
    expect(line).toMatch(/^__Host-memcell-sign-in=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/);
    const { searchParams } = new URL(answer.headers.location ?? "");
    expect(searchParams.get("redirect_uri")).toBe("https://memory.example/memory/signed-in");
    expect(searchParams.get("resource")).toBe(audience);
    const session = await new Seal(Buffer.alloc(32, 7), "session of https://memory.example").close(
      { user: "alice", rights: "owner", key: "k", id: "i" },
      Date.now() + 60_000,
    );
    const look = (name: string) =>
      askServer(served.port, { method: "GET", path: "/memory", headers: { ...headers, cookie: `${name}=${session}` } });
    expect((await look("__Host-memcell")).status).toBe(200);
    expect((await look("memcell")).status).toBe(303);
  });
});

test.for(["//evil.example", "/https:%2f%2fevil.example", "/..%2f..%2fevil", "/entry/%2e%2e/x", "/%00"])(
  "nobody is led to another place: %s",
  async (path) => {
    const jar = new CookieJar();
    const login = await jar.go(`${memory()}${path}`, {}, 0);
    if (login.status === 404) return;
    const page = await signIn(jar, `${memory()}${path}`, "alice");
    expect(new URL(page.url).origin).toBe(stage.origin);
    expect(new URL(page.url).pathname.startsWith("/memory")).toBe(true);
  },
);

describe("an issuer", () => {
  test("that does not answer: people are told so, and the operator gets the reason", async () => {
    const access = {
      kind: "token" as const,
      token: { ...tokenOf("http://127.0.0.1:9"), keys: { kind: "jwks-url" as const, url: `${stage.issuer}/jwks` } },
    };
    await using served = await stage.serve({ access });
    const answer = await askServer(served.port, { method: "GET", path: "/memory" });
    expect(answer.status).toBe(503);
    expect(answer.body).toContain("does not answer");
    expect(stage.log.some((line) => line.includes("127.0.0.1:9") || line.includes("fetch failed"))).toBe(true);
  });

  test("that names an address without TLS on another machine is not believed", async () => {
    const server = createServer((_req, res) => {
      res.setHeader("content-type", "application/json");
      const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      res.end(
        JSON.stringify({
          issuer: own,
          authorization_endpoint: "http://evil.example/auth",
          token_endpoint: `${own}/token`,
        }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const access = {
      kind: "token" as const,
      token: tokenOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    };
    await using served = await stage.serve({ access });
    expect((await askServer(served.port, { method: "GET", path: "/memory" })).status).toBe(503);
    server.close();
  });
});

const tokenOf = (issuer: string) => ({
  issuer,
  audience,
  clientsWithoutAudience: [],
  keys: { kind: "jwks-url" as const, url: `${stage.issuer}/jwks` },
  userClaim: "sub",
  algorithms: ["RS256"] as const,
  clockToleranceS: 0,
  scopes,
  origins: { clientClaim: "client_id", ofClients: new Map(), claim: null },
});
