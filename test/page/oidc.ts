/** A real OpenID provider in this process, a server with the page, and a browser's cookies without a browser. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import type { Runtime, RuntimeOptions } from "memcell";
import { Provider } from "oidc-provider";

import { startHttpServer } from "../../host/serve/http/start-http-server.ts";
import { tokenAlgorithms } from "../../host/serve/serve-options.ts";
import type { HttpServeOptions, TokenScopes } from "../../host/serve/serve-options.ts";
import { openStage } from "../stage/runtime.ts";

export const audience = "https://memory.example/mcp";
export const scopes: TokenScopes = {
  claim: "scope",
  read: "memcell:read",
  write: "memcell:write",
  owner: "memcell:owner",
};
const signingKey = {
  ...generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({ format: "jwk" }),
  alg: "RS256",
};
const clientSecret = "a secret of the page's client";

/** A listener on a free port, whose requests are answered later. */
async function listening() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** A port that was free a moment ago: the page's address has to be known before its server starts. */
async function freePort(): Promise<number> {
  const { server, port } = await listening();
  server.close();
  await once(server, "close");
  return port;
}

export interface IssuerOptions {
  /** Which scopes the provider gives. Default: all. */
  readonly given?: string;
  readonly tokenSeconds?: number;
  readonly runtime?: Partial<RuntimeOptions>;
  /** Whether the page's client has a secret. Default: yes. */
  readonly hasSecret?: boolean;
}

export interface SignInStage extends AsyncDisposable {
  readonly issuer: string;
  readonly origin: string;
  readonly port: number;
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly logFile: string;
  /** The lines of the operator's log. */
  readonly log: readonly string[];
  readonly keyFile: string;
  /** Everything that a request has asked the provider's token endpoint for. */
  readonly exchanges: () => number;
  /** The same page again, of another server with these options. */
  serve(
    changed?: Partial<HttpServeOptions>,
  ): Promise<AsyncDisposable & { readonly origin: string; readonly port: number }>;
  /** An access token of an agent, with every scope. Its user is called `agent`. */
  agentToken(): Promise<string>;
}

export async function openSignInStage({
  given,
  tokenSeconds = 600,
  hasSecret = true,
  runtime,
}: IssuerOptions = {}): Promise<SignInStage> {
  const log: string[] = [];
  const stage = await openStage({ onLog: ({ text }) => void log.push(text), ...runtime });
  const [{ server, port: issuerPort }, port] = [await listening(), await freePort()];
  const issuer = `http://127.0.0.1:${issuerPort}`;
  const origin = `http://127.0.0.1:${port}`;
  const all = [scopes.read, scopes.write, scopes.owner].join(" ");
  const redirects = new Set([`${origin}/memory/signed-in`]);
  let exchanges = 0;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "memcell-page",
        ...(hasSecret && { client_secret: clientSecret }),
        token_endpoint_auth_method: hasSecret ? "client_secret_basic" : "none",
        redirect_uris: [...redirects],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
      {
        client_id: "agent",
        client_secret: clientSecret,
        redirect_uris: [],
        response_types: [],
        grant_types: ["client_credentials"],
      },
    ],
    cookies: { keys: ["a key of the provider's cookies"] },
    jwks: { keys: [signingKey] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: tokenSeconds, IdToken: 600, AuthorizationCode: 60 },
    pkce: { required: () => true },
    scopes: ["openid", ...all.split(" ")],
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: given ?? all,
          audience,
          accessTokenFormat: "jwt",
          accessTokenTTL: tokenSeconds,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    findAccount: (_ctx: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  });
  const answer = provider.callback();
  server.on("request", (req, res) => {
    if (req.url === "/token") exchanges++;
    void answer(req, res);
  });
  const keyFile = join(stage.folder, "page.key");
  const secretFile = join(stage.folder, "client-secret");
  writeFileSync(keyFile, Buffer.alloc(32, 7).toString("base64"));
  writeFileSync(secretFile, `${clientSecret}\n`);
  const serve = async (changed: Partial<HttpServeOptions> = {}) => {
    const options: HttpServeOptions = {
      access: {
        kind: "token",
        token: {
          issuer,
          audience,
          clientsWithoutAudience: [],
          keys: { kind: "jwks-url", url: `${issuer}/jwks` },
          userClaim: "sub",
          algorithms: tokenAlgorithms,
          clockToleranceS: 0,
          scopes,
          origins: { clientClaim: "client_id", ofClients: new Map(), claim: null },
        },
      },
      host: "127.0.0.1",
      port: 0,
      path: "/mcp",
      page: { clientId: "memcell-page", clientSecretFile: hasSecret ? secretFile : null, keyFile },
      allowedHosts: [],
      allowedOrigins: [],
      storage: null,
      originClass: "unstated",
      publicUrl: `${origin}/mcp`,
      bodyBytesMax: 1_048_576,
      requestsPerMinute: 1_000_000,
      streamsPerUserMax: 32,
      closeGraceMs: 1_000,
      ...changed,
    };
    const opened = await startHttpServer(stage.runtime, options, ({ text }) => log.push(text));
    return { origin: opened.origin, port: opened.port, [Symbol.asyncDispose]: () => opened.close() };
  };
  const served = await serve({ port });
  return {
    issuer,
    origin,
    port,
    runtime: stage.runtime,
    dataDir: stage.dataDir,
    logFile: stage.logFile,
    log,
    keyFile,
    exchanges: () => exchanges,
    serve,
    agentToken: async () => {
      const body = new URLSearchParams({ grant_type: "client_credentials", scope: all, resource: audience });
      const authorization = `Basic ${Buffer.from(`agent:${encodeURIComponent(clientSecret).replaceAll("%20", "+")}`).toString("base64")}`;
      const answered = await fetch(`${issuer}/token`, { method: "POST", body, headers: { authorization } });
      return ((await answered.json()) as { access_token: string }).access_token;
    },
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
      await stage[Symbol.asyncDispose]();
    },
  };
}

/** What a browser is asked for, and gets. */
export interface Looked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The address after all redirects. */
  readonly url: string;
}

/** Keeps cookies by their host and path, as browsers do: not by their port. */
export class CookieJar {
  readonly cookies = new Map<string, { readonly value: string; readonly path: string; readonly name: string }>();

  /** Goes to an address, and follows redirects. */
  async go(address: string, init: RequestInit = {}, followsMax = 20): Promise<Looked> {
    let [url, request] = [address, init];
    for (let left = followsMax; ; left--) {
      const response = await fetch(url, {
        ...request,
        redirect: "manual",
        headers: { ...(request.headers as Record<string, string> | undefined), cookie: this.#for(url) },
      });
      for (const line of response.headers.getSetCookie()) this.#keep(line, url);
      const place = response.headers.get("location");
      if (place === null || left === 0) {
        return { status: response.status, headers: response.headers, text: await response.text(), url };
      }
      await response.arrayBuffer();
      [url, request] = [new URL(place, url).href, {}];
    }
  }

  /** Sends the only form of a page that has this action, with these fields beside its hidden ones. */
  async send(page: Looked, action: RegExp, fields: Readonly<Record<string, string>> = {}): Promise<Looked> {
    const form = Array.from(page.text.matchAll(/<form[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)).find(([, at]) =>
      action.test(at ?? ""),
    );
    if (form === undefined) throw new Error(`There is no form ${String(action)} in ${page.text}`);
    const [, at = "", inside = ""] = form;
    const hidden = Array.from(
      inside.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g),
      ([, name = "", value = ""]) => [name, value] as const,
    );
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
    const headers = { origin: new URL(page.url).origin, "sec-fetch-site": "same-origin" };
    return await this.go(new URL(at, page.url).href, { method: "POST", body, headers });
  }

  #for(address: string): string {
    const { pathname } = new URL(address);
    return Array.from(this.cookies.values(), (each) => each)
      .filter(({ path }) => pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }

  #keep(line: string, address: string): void {
    const [pair = "", ...attributes] = line.split(/;\s*/);
    const [name = "", ...value] = pair.split("=");
    const attribute = (of: string): string | undefined =>
      attributes.find((each) => each.toLowerCase().startsWith(`${of}=`))?.slice(of.length + 1);
    const path = attribute("path") ?? new URL(address).pathname.replace(/\/[^/]*$/, "/");
    const key = `${name} ${path}`;
    const isOver = attribute("max-age") === "0" || Date.parse(attribute("expires") ?? "") < Date.now();
    if (isOver) this.cookies.delete(key);
    else this.cookies.set(key, { name, value: value.join("="), path });
  }
}

/** Signs in at the provider's own forms. Returns the first page of memcell. */
export async function signIn(jar: CookieJar, address: string, userId: string): Promise<Looked> {
  const login = await jar.go(address);
  const consent = await jar.send(login, /interaction/, { login: userId, password: "any" });
  return await jar.send(consent, /interaction/);
}
