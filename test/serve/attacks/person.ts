/** A user of the server under attack: a token, a live session of 2025 with its stream, and a stream of 2026. */
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";

import { authorised, bare, bytesOf, callTool, initialize, inSession, modern, notification } from "./asking.ts";
import type { Ask } from "./asking.ts";
import { exchange } from "./exchange.ts";
import type { Answer } from "./exchange.ts";

/** An event on an open stream. */
interface Event {
  readonly method?: string;
  readonly params?: { readonly uri?: string };
}

export class Person {
  readonly token: string;
  session = "";
  readonly #port: number;
  readonly #plan: object;
  readonly #heard: { readonly on: string; readonly what: string }[] = [];
  readonly #streams: IncomingMessage[] = [];
  #onHeard: () => void = () => {};

  constructor(port: number, token: string, plan: object) {
    this.#port = port;
    this.token = token;
    this.#plan = plan;
  }

  /** A further session, without a stream. */
  async newSession(): Promise<string> {
    return (await this.ask(initialize())).headers["mcp-session-id"] ?? "";
  }

  /** Sends the request as this user. */
  async ask(ask: Ask): Promise<Answer> {
    const [answer] = await exchange(this.#port, { bytes: [bytesOf(authorised(ask, this.token))] });
    if (!answer) throw new Error("The server has not answered");
    return answer;
  }

  /** Opens a session and both streams, which watch `uris`. */
  async open(uris: readonly string[]): Promise<void> {
    this.session = await this.newSession();
    await this.ask(notification("notifications/initialized", {}, this.session));
    for (const uri of uris) await this.ask(inSession("resources/subscribe", { uri }, this.session));
    await this.#listen("session", bare("GET", ["Mcp-Session-Id", this.session]));
    await this.openStream("listen", { resourcesListChanged: true, resourceSubscriptions: uris });
  }

  /** Opens a stream of the 2026 revision. */
  async openStream(name: string, notifications: object): Promise<void> {
    await this.#listen(name, modern("subscriptions/listen", { notifications }));
  }

  /** All events on the streams so far, each as "stream: what", in order for each stream. */
  heard(): string[] {
    const of = (stream: string) => this.#heard.filter(({ on }) => on === stream);
    return [...of("session"), ...of("listen")].map(({ on, what }) => `${on}: ${what}`);
  }

  /** Resolves when the streams have delivered `count` events. */
  async hears(count: number): Promise<string[]> {
    while (this.#heard.length < count) {
      await new Promise<void>((resolve) => {
        this.#onHeard = resolve;
      });
    }
    return this.heard();
  }

  /** Writes the entry that both users have, as it was. */
  async writePlan(): Promise<Answer> {
    return await this.ask(callTool("UpdateUserMemory", { action: "upsert", type: "project", ...this.#plan }));
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  async #listen(name: string, { method, target, headers, body }: Ask): Promise<void> {
    const all = { ...Object.fromEntries(headers), Authorization: `Bearer ${this.token}` };
    const asked = request({ port: this.#port, host: "127.0.0.1", method, path: target, headers: all });
    asked.end(body);
    const [stream] = (await once(asked, "response")) as [IncomingMessage];
    if (stream.statusCode !== 200) throw new Error(`The stream ${name} is refused: ${stream.statusCode}`);
    this.#streams.push(stream);
    stream.on("error", () => {});
    createInterface({ input: stream }).on("line", (line) => {
      if (!line.startsWith("data: {")) return;
      const { method: what = "an answer", params } = JSON.parse(line.slice("data: ".length)) as Event;
      if (what === "notifications/subscriptions/acknowledged") return;
      this.#heard.push({ on: name, what: [what.replace("notifications/", ""), params?.uri ?? ""].join(" ").trim() });
      this.#onHeard();
    });
  }
}
