/**
 * A server with two users who have streams open: alice, whose valid token the attacker has, and bob, the
 * attacker's target. A third user, gus, does not exist.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

import { storeIdOf } from "memcell";
import { expect } from "vitest";

import { openHttpStage } from "../../stage/http.ts";
import type { HttpStage, ServedHttp, ServerOptions } from "../../stage/http.ts";
import { claimsOf, Forge } from "./forge.ts";

/** A user of the server: a token, the id that a session would have, and a stream. */
export interface Person {
  readonly userId: string;
  readonly token: string;
  readonly session: string;
  /** All events on the streams so far, each as what has changed. */
  readonly heard: string[];
}

/** All that an attacker can use, and the target. */
export interface Scene {
  /** The victim. */
  readonly userId: string;
  /** The name of an entry that only the victim has. */
  readonly entry: string;
  /** The id that a session of the victim would have, the victim's own expired token, and own store. */
  readonly session: string;
  readonly expired: string;
  readonly store: string;
  readonly alice: Person;
  readonly server: ServedHttp;
  readonly forge: Forge;
  /** An attacker's key server. */
  readonly trapUrl: string;
}

export const aliceBody = "Alice plans a trip to Lisbon.";
/** Texts that must never be in an answer. */
export const bobSecrets = ["kumquat-body", "kumquat-description", "kumquat-plan"] as const;
const [secretBody, secretDescription, secretPlan] = bobSecrets;
const upsert = { action: "upsert", name: "plan", type: "project" };
/** The entry that both users have. */
const plans: Readonly<Record<string, object>> = {
  alice: { ...upsert, description: "where Alice goes", body: aliceBody },
  bob: { ...upsert, description: secretDescription, body: secretPlan },
};

/** The only origin that the server under attack allows. */
export const allowedOrigin = "https://app.example";

/** What every stream watches: the index and two entries of bob's. Alice has an entry with the name of one of them. */
const watched = ["memory://index", "memory://user-memory/entry/plan", "memory://user-memory/entry/bob-plan"];

/** One server of the stage's runtime, with its users. */
export interface Served {
  readonly server: ServedHttp;
  readonly alice: Person;
  readonly bob: Person;
  readonly victims: { readonly bob: Scene; readonly ghost: Scene };
}

export class AttackStage implements AsyncDisposable {
  readonly http: HttpStage;
  readonly forge: Forge;
  /** How often an attacker's key server was asked. It listens. */
  trapVisits = 0;
  readonly #trap = createServer((socket) => {
    this.trapVisits++;
    socket.destroy();
  });

  private constructor(http: HttpStage) {
    this.http = http;
    this.forge = new Forge(http.issuer);
  }

  static async open(): Promise<AttackStage> {
    const stage = new AttackStage(await openHttpStage({ runtime: { memory: { sharingByModels: true } } }));
    stage.#trap.listen({ port: 0, host: "127.0.0.1" });
    await once(stage.#trap, "listening");
    await stage.#remember();
    return stage;
  }

  /** A server that has both users' streams open, unless it is one of alice alone, without tokens. */
  async serve(options: ServerOptions = {}): Promise<Served> {
    const server = await this.http.serve({ allowedOrigins: [allowedOrigin], storage: {}, ...options });
    const hasTokens = options.access === undefined;
    const open = async (userId: string): Promise<Person> => {
      const [token, heard] = [this.forge.issued(claimsOf(userId)), [] as string[]];
      if (hasTokens) await openStream(server, token, heard);
      return { userId, token, session: randomUUID(), heard };
    };
    const [alice, bob] = [await open("alice"), await open("bob")];
    const sceneOf = (userId: string, session: string): Scene => ({
      userId,
      entry: `${userId}-plan`,
      session,
      expired: this.forge.issued({ ...claimsOf(userId), exp: Math.floor(Date.now() / 1000) - 86_400 }),
      store: storeIdOf(userId),
      alice,
      server,
      forge: this.forge,
      trapUrl: `http://127.0.0.1:${(this.#trap.address() as AddressInfo).port}/keys`,
    });
    return { server, alice, bob, victims: { bob: sceneOf("bob", bob.session), ghost: sceneOf("gus", randomUUID()) } };
  }

  /** Writes the entry that both users have, as it was. */
  async writePlan(userId: string): Promise<void> {
    await this.#call("UpdateUserMemory", userId, plans[userId] ?? {});
  }

  /** What both users have at the start. */
  async #remember(): Promise<void> {
    for (const userId of ["alice", "bob"]) await this.writePlan(userId);
    const bobsOwn = { ...upsert, name: "bob-plan", description: secretDescription, body: secretBody };
    await this.#call("UpdateUserMemory", "bob", bobsOwn);
    await this.#call("memory", "bob", { command: "create", path: "/memories/plan", content: secretPlan });
    const note = { command: "put", namespace: "owner", key: "plan", content: secretBody };
    const put = await this.http.runtime.callAsHost("stores/CallerNotes", note, { userId: "bob" });
    expect(put).toMatchObject({ ok: true });
  }

  async #call(tool: string, userId: string, input: object): Promise<void> {
    expect(await this.http.runtime.call(tool, input, { userId })).toMatchObject({ ok: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#trap.close();
    await this.http[Symbol.asyncDispose]();
  }
}

async function openStream(server: ServedHttp, token: string, heard: string[]): Promise<void> {
  const client = await server.client(token);
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void heard.push("the list"));
  await client.listen({ resourceSubscriptions: watched, resourcesListChanged: true });
}
