/**
 * The person's page as `memcell open` serves it: a server with a one-time link, on a runtime with all families, and people who
 * have followed the link. Requests are raw; what a form sends is read from the page, as a browser does it.
 */
import { EventEmitter, once } from "node:events";

import type { LogEntry, Refusal, Runtime } from "memcell";

import type { OwnPage } from "../../host/serve/http/open-page.ts";
import type * as HttpModule from "../../host/serve/http/start-http-server.ts";
import type * as LinkModule from "../../host/serve/page/one-time-link.ts";
import type { HttpServeOptions } from "../../host/serve/serve-options.ts";
import type { AuditRecord } from "../stage/audit-log.ts";
import { askServer } from "../stage/http-requests.ts";
import type { Answer, Asked } from "../stage/http-requests.ts";
import { openStage } from "../stage/runtime.ts";
import { waitingId } from "../support/waiting-id.ts";
import { formsIn, wordsIn } from "./page-forms.ts";
import type { Fields } from "./page-forms.ts";

const built = (path: string): string =>
  new URL(path, new URL("dist/", import.meta.resolve("memcell/package.json"))).href;
// From what was built: errors of the runtime are known by their class.
const { startHttpServer } = (await import(built("host/serve/http/start-http-server.js"))) as typeof HttpModule;
const { OneTimeLink } = (await import(built("host/serve/page/one-time-link.js"))) as typeof LinkModule;

export type Ending = "closed" | "not opened" | "not used";

export interface OpenOptions extends Partial<HttpServeOptions> {
  /** Default: somebody whom no other test has. */
  readonly userId?: string;
  /** Default: a runtime that may change everything. */
  readonly runtime?: Runtime;
  /** Opens a runtime for a change. Default: the same runtime. */
  readonly toChange?: OwnPage["toChange"];
  readonly linkMs?: number;
  readonly idleMs?: number;
}

/** A page that nobody has opened yet. */
export interface ServedPage extends AsyncDisposable {
  readonly userId: string;
  readonly port: number;
  readonly origin: string;
  /** The path of the page. */
  readonly base: string;
  /** The path of the link, until it is used. */
  readonly link: string;
  /** How the page has ended. */
  readonly over: Promise<Ending>;
  /** One request as it is. */
  ask(asked: Asked): Promise<Answer>;
  /** Comes in by the link. */
  enter(): Promise<Visitor>;
}

/** A person with a browser. Paths are below that of the page: "" or "/waiting". */
export interface Visitor extends ServedPage {
  readonly cookie: string;
  /** What each form of this session has. */
  readonly key: string;
  /** What a browser sends with a form, to which a test can add, and from which it can take (`undefined`). */
  headers(changed?: Readonly<Record<string, string | undefined>>): Record<string, string>;
  look(path: string): Promise<Answer>;
  /** Sends a form with the key and these fields, whether or not a page has it. */
  send(path: string, fields?: Fields, headers?: Readonly<Record<string, string | undefined>>): Promise<Answer>;
  /** Fills in the form of a page that leads to this path, and sends it with its other fields. */
  submit(page: Answer, path: string, typed?: Fields): Promise<Answer>;
  /** Looks at the page to which an answer leads. */
  follow(answer: Answer): Promise<Answer>;
}

export interface PageStage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly log: readonly LogEntry[];
  readonly refusals: readonly Refusal[];
  records(userId?: string): AuditRecord[];
  /** What is stored of a user, by path. */
  files(userId: string): Record<string, string>;
  user(name?: string): string;
  serve(options?: OpenOptions): Promise<ServedPage>;
  /** A page whose link has been followed. */
  visit(options?: OpenOptions): Promise<Visitor>;
}

/**
 * @example
 * const stage = await openPageStage();
 * await using alice = await stage.visit();
 * expect((await alice.look("/waiting")).status).toBe(200);
 */
export async function openPageStage(): Promise<PageStage> {
  const stage = await openStage();
  const { runtime, dataDir } = stage;
  const refusals: Refusal[] = [];
  const heard = new Set<Runtime>();
  const listen = (to: Runtime): void => {
    if (heard.has(to)) return;
    heard.add(to);
    const refused = to.refused.bind(to);
    to.refused = (refusal) => {
      refusals.push(refusal);
      refused(refusal);
    };
  };
  const serve = ({ runtime: other = runtime, ...options }: OpenOptions = {}): Promise<ServedPage> => {
    listen(other);
    return servePage(other, { userId: stage.user(), ...options }, (entry) => {
      (stage.log as LogEntry[]).push(entry);
    });
  };
  return {
    runtime,
    dataDir,
    log: stage.log,
    refusals,
    records: (userId) => stage.records(userId),
    files: (userId) => stage.files(userId),
    user: (name) => stage.user(name),
    serve,
    visit: async (options) => await (await serve(options)).enter(),
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

/** As `memcell open` does it. */
const ownMachine: Omit<HttpServeOptions, "access"> = {
  host: "127.0.0.1",
  port: 0,
  path: null,
  page: null,
  allowedHosts: [],
  allowedOrigins: [],
  publicUrl: null,
  storage: null,
  originClass: "unstated",
  bodyBytesMax: 8 * 1_024 * 1_024,
  requestsPerMinute: 100_000,
  streamsPerUserMax: 1,
  closeGraceMs: 10_000,
};

const same =
  (runtime: Runtime): OwnPage["toChange"] =>
  async () => ({ runtime, [Symbol.asyncDispose]: async () => {} });

async function servePage(
  runtime: Runtime,
  {
    userId,
    toChange = same(runtime),
    linkMs = 60_000,
    idleMs = 60_000,
    ...changed
  }: Omit<OpenOptions, "runtime"> & { readonly userId: string },
  onLog: (entry: LogEntry) => void,
): Promise<ServedPage> {
  const endings = new EventEmitter<{ over: [how: Ending] }>();
  const over = once(endings, "over").then(([how]) => how as Ending);
  const onOver = (how: Ending): void => void endings.emit("over", how);
  const mayChange = runtime.asReadOnly() !== runtime;
  const door = new OneTimeLink({ userId, mayChange, linkMs, idleMs, onOver });
  const options = {
    ...ownMachine,
    access: { kind: "one-user", userId } as const,
    ...changed,
  };
  const server = await startHttpServer(runtime, options, onLog, { door, toChange });
  const { origin, port } = server;
  const served: ServedPage = {
    userId,
    port,
    origin,
    base: door.base,
    link: door.path,
    over,
    ask: (asked) => askServer(port, { method: "GET", ...asked }),
    enter: async () => await enter(served),
    [Symbol.asyncDispose]: async () => {
      door[Symbol.dispose]();
      await server.close();
    },
  };
  return served;
}

async function enter(served: ServedPage): Promise<Visitor> {
  const { base, origin, link } = served;
  const ask = (asked: Asked): Promise<Answer> => served.ask(asked);
  const opened = await ask({ path: link });
  const [cookie = ""] = opened.headers["set-cookie"]?.map((each) => each.split(";")[0] ?? "") ?? [];
  const look = (path: string): Promise<Answer> => ask({ path: `${base}${path}`, headers: { cookie } });
  const [form] = formsIn((await look("")).body);
  const key = form?.fields.get("key") ?? "";
  const headers: Visitor["headers"] = (changed = {}) => {
    const all = {
      cookie,
      origin,
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded",
      ...changed,
    };
    return Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined));
  };
  const post = (path: string, fields: Fields, changed = {}): Promise<Answer> =>
    ask({ method: "POST", path, headers: headers(changed), body: new URLSearchParams(fields).toString() });
  return {
    ...served,
    cookie,
    key,
    headers,
    look,
    send: (path, fields = {}, changed = {}) => post(`${base}${path}`, { key, ...fields }, changed),
    submit: async (page, path, typed = {}) => {
      const found = formsIn(page.body).find(({ action }) => action === `${base}${path}`);
      if (found === undefined) throw new Error(`There is no form to ${path} in: ${wordsIn(page.body)}`);
      return await post(found.action, Object.fromEntries([...found.fields, ...Object.entries(typed)]));
    },
    follow: async ({ status, headers: { location } }) => {
      if (status !== 303 || location === undefined) throw new Error(`It leads nowhere: ${status}`);
      return await ask({ path: location, headers: { cookie } });
    },
  };
}

/** What an agent is told to remember. */
export interface Told {
  readonly name?: string;
  readonly description?: string;
  readonly body?: string;
  readonly origin?: object;
}

export async function remember(runtime: Runtime, userId: string, { origin, ...told }: Told = {}) {
  const entry = { name: "tea", type: "user", description: "Likes tea", body: "Green tea.\n", ...told } as const;
  const ctx = { userId, ...(origin && { origin }) } as Parameters<Runtime["call"]>[2];
  const answer = await runtime.call("UpdateUserMemory", { action: "upsert", ...entry }, ctx);
  if (!answer.ok && answer.pending === undefined) throw new Error(answer.error.message);
  return answer;
}

/** The id of a suggestion that comes from a web page. */
export async function suggest(runtime: Runtime, userId: string, told: Told = {}): Promise<string> {
  const origin = { class: "tool_external", source: "https://shop.example/menu", run: "run-7" };
  return waitingId(await remember(runtime, userId, { origin, ...told }));
}
