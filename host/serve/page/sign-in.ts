/**
 * The door of a server for many users: OpenID Connect's code flow with PKCE. The issuer gives memcell an access token for memcell,
 * which is checked as every client's, so nobody comes in here who could not use MCP. The token is then forgotten: the browser
 * keeps a sealed cookie that says who it is and what the person may do, until the token would have ended.
 */
import * as oauth from "oauth4webapi";

import { addressBelow, addressOf, html } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";
import { RateLimit, putLast } from "../../values/rate-limit.ts";
import { isSafeAddress } from "../loopback.ts";
import { barePage, redirect, refusedPage } from "./frame.ts";
import { cookie, cookieIn, secret } from "./page-request.ts";
import type { Cookie, Door, PageAnswer, PageRequest } from "./page-request.ts";
import type { Person } from "./screens/visit.ts";
import { Seal } from "./sealed.ts";

export interface SignInOptions {
  readonly issuer: string;
  /** What the access token has to be for: RFC 8707's `resource`. */
  readonly audience: string;
  readonly scopes: readonly string[];
  readonly clientId: string;
  /** `null`: the client has none, and PKCE alone protects it. */
  readonly clientSecret: string | null;
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** The path of the page, and the origin that browsers have for it. */
  readonly base: string;
  readonly origin: string;
  /** Checks an access token as one of a client. Throws if it is none for this server. */
  readonly verify: (token: string) => Promise<SignedIn>;
  /** Gets what went wrong, for the operator. */
  readonly onError: (error: unknown) => void;
}

/** Whom an access token is for, and what it allows. */
export interface SignedIn {
  readonly userId: string;
  readonly mayLook: boolean;
  /** Whether the person may decide, edit and erase. */
  readonly mayChange: boolean;
  readonly endsAtMs: number;
}

/** How long a person may take to sign in. */
const signInMs = 600_000;
/** How long the issuer may take to answer, and how long what it says of itself is used. */
const issuerMs = 10_000;
const metadataMs = 600_000;
/** Sign-ins from one address in a minute that make the server ask the issuer. */
const signInsPerMinute = 30;
/** Sessions that were ended before their time, and addresses. */
const countedMax = 20_000;

const callback = "signed-in";

const linkOut = (url: URL): Markup => html`<p><a href="${addressOf(url)}">Sign out of ${url.host}, too</a></p>`;

export class SignIn implements Door {
  readonly leaving = "Sign out";
  readonly #options: SignInOptions;
  readonly #client: oauth.Client;
  readonly #auth: oauth.ClientAuth;
  readonly #sessions: Seal;
  readonly #signIns: Seal;
  readonly #ended = new Set<string>();
  readonly #rate = new RateLimit(signInsPerMinute, countedMax);
  readonly #cookies: Readonly<Record<"session" | "signIn" | "left", Cookie>>;
  #issuer: { readonly server: oauth.AuthorizationServer; readonly untilMs: number } | null = null;

  constructor(options: SignInOptions) {
    const { clientId, clientSecret, key, origin, base } = options;
    this.#options = options;
    this.#client = { client_id: clientId };
    this.#auth = clientSecret === null ? oauth.None() : oauth.ClientSecretBasic(clientSecret);
    this.#sessions = new Seal(key, `session of ${origin}`);
    this.#signIns = new Seal(key, `sign-in of ${origin}`);
    const isSecure = origin.startsWith("https:");
    // With this prefix, no other host and no page over plain HTTP can set the cookie: it is for every path then. Lax: the way back
    // from the issuer comes from another site.
    const [prefix, everywhere] = isSecure ? (["__Host-", "/"] as const) : ["", null];
    const own = (name: string, path: string): Cookie => {
      return { name: prefix + name, path: everywhere ?? path, sameSite: "Lax", isSecure };
    };
    const signIn = own("memcell-sign-in", `${base}/${callback}`);
    this.#cookies = { session: own("memcell", base), signIn, left: own("memcell-left", base) };
  }

  async personOf({ headers }: PageRequest): Promise<Person | null> {
    const sent = cookieIn(headers, this.#cookies.session.name);
    const session = sent === null ? null : await this.#sessions.open(sent);
    const [userId, rights, formKey, sessionId] = ["user", "rights", "key", "id"].map((name) => session?.get(name));
    if (userId === undefined || formKey === undefined || sessionId === undefined) return null;
    return this.#ended.has(sessionId) ? null : { userId, mayChange: rights === "owner", formKey, sessionId };
  }

  async answer(request: PageRequest): Promise<PageAnswer | null> {
    const [name, ...others] = request.names;
    if (name !== callback || others.length > 0 || request.method !== "GET") return null;
    try {
      return await this.#comeBack(request);
    } catch (error) {
      if (error instanceof oauth.AuthorizationResponseError) return this.#refused(request, "You have not signed in.");
      this.#options.onError(error);
      return this.#refused(request, "Signing in did not work.");
    }
  }

  /** Sends the browser to the issuer. Where it goes back to is in the sealed cookie, and in no address. */
  async enter({ names, headers }: PageRequest): Promise<PageAnswer> {
    const { issuer, audience, scopes } = this.#options;
    const server = await this.#server().catch(this.#options.onError);
    const endpoint = server?.authorization_endpoint;
    const silent = html`<p>${issuer} does not answer. Try again later.</p>`;
    if (endpoint === undefined) return barePage({ title: "Signing in is not possible now", status: 503, body: silent });
    const [verifier, state, nonce] = [secret(), secret(), secret()];
    const url = new URL(endpoint);
    const asked = {
      client_id: this.#client.client_id,
      redirect_uri: this.#redirectUri,
      response_type: "code",
      scope: ["openid", ...scopes].join(" "),
      resource: audience,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      nonce,
      // The issuer may still know somebody who has signed out here, and let the next one at this browser in unasked.
      ...(cookieIn(headers, this.#cookies.left.name) !== null && { prompt: "login" }),
    };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    const back = JSON.stringify(names);
    const sealed = await this.#signIns.close({ verifier, state, nonce, back }, Date.now() + signInMs);
    return redirect(url.href, { "Set-Cookie": cookie(this.#cookies.signIn, sealed, signInMs / 1_000) });
  }

  leave({ sessionId }: Person): PageAnswer["headers"] {
    putLast(this.#ended, sessionId, countedMax);
    return { "Set-Cookie": [cookie(this.#cookies.session, "", 0), cookie(this.#cookies.left, "yes", null)] };
  }

  async left(): ReturnType<Door["left"]> {
    const server = await this.#server().catch(() => null);
    const there = server?.end_session_endpoint;
    const link = there === undefined ? null : linkOut(new URL(there));
    const again = html`<p><a href="${addressBelow(this.#options.base, [])}">Sign in again</a></p>`;
    return {
      headers: { "Set-Cookie": cookie(this.#cookies.left, secret(), null), "Clear-Site-Data": '"cache"' },
      shown: { title: "You are signed out", body: html`${link}${again}` },
    };
  }

  /** The browser comes back from the issuer with a code. The answer leads away from the address with the code at once. */
  async #comeBack(request: PageRequest): Promise<PageAnswer> {
    const { audience, base, verify } = this.#options;
    const sent = cookieIn(request.headers, this.#cookies.signIn.name);
    const signIn = sent === null ? null : await this.#signIns.open(sent);
    const [verifier, state, nonce, back] = ["verifier", "state", "nonce", "back"].map((name) => signIn?.get(name));
    if (verifier === undefined || state === undefined || nonce === undefined || back === undefined)
      return this.#refused(request, "You took too long to sign in, or began in another window.");
    if (this.#rate.count(request.peer ?? "") > 0)
      return this.#refused(request, "Too many sign-ins in a minute. Try again later.");
    const server = await this.#server();
    const found = oauth.validateAuthResponse(server, this.#client, new URLSearchParams(request.query), state);
    const [client, auth, to] = [this.#client, this.#auth, this.#redirectUri];
    const asking = { additionalParameters: { resource: audience }, ...this.#asking() };
    const response = await oauth.authorizationCodeGrantRequest(server, client, auth, found, to, verifier, asking);
    const options = { expectedNonce: nonce, requireIdToken: true };
    const { access_token: token } = await oauth.processAuthorizationCodeResponse(server, client, response, options);
    const person = await verify(token);
    if (!person.mayLook) return this.#refused(request, "Your account may not use this memory.");
    const place = addressBelow(base, JSON.parse(back) as string[]).toString();
    const rights = person.mayChange ? "owner" : "look";
    const content = { user: person.userId, rights, key: secret(), id: secret() };
    const session = await this.#sessions.close(content, person.endsAtMs);
    const cookies = [
      cookie(this.#cookies.session, session, null),
      cookie(this.#cookies.signIn, "", 0),
      cookie(this.#cookies.left, "", 0),
    ];
    return redirect(place, { "Set-Cookie": cookies });
  }

  /** A new attempt begins with another state and another cookie. */
  #refused(request: PageRequest, words: string): PageAnswer {
    const again = html`<p>${words} <a href="${addressBelow(this.#options.base, [])}">Sign in</a></p>`;
    const answer = refusedPage("page-sign-in", request, again);
    return { ...answer, headers: { ...answer.headers, "Set-Cookie": cookie(this.#cookies.signIn, "", 0) } };
  }

  /** What the issuer says of itself. Its addresses are as safe as its own. */
  async #server(): Promise<oauth.AuthorizationServer> {
    if (this.#issuer !== null && performance.now() < this.#issuer.untilMs) return this.#issuer.server;
    const issuer = new URL(this.#options.issuer);
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, this.#asking()));
    for (const address of [server.authorization_endpoint, server.token_endpoint, server.end_session_endpoint]) {
      if (address !== undefined && !isSafeAddress(new URL(address)))
        throw new RangeError(`The issuer names an unsafe address: ${address}`);
    }
    this.#issuer = { server, untilMs: performance.now() + metadataMs };
    return server;
  }

  #asking() {
    const isLocal = this.#options.issuer.startsWith("http:") && isSafeAddress(new URL(this.#options.issuer));
    return { signal: AbortSignal.timeout(issuerMs), [oauth.allowInsecureRequests]: isLocal };
  }

  get #redirectUri(): string {
    return `${this.#options.origin}${this.#options.base}/${callback}`;
  }
}
