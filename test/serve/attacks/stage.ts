/**
 * A server with two users who have sessions and streams open: alice, whose valid token the attacker has, and bob, the
 * attacker's target. A third user, gus, does not exist.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { storeIdOf } from "memcell";

import { openHttpStage } from "../../stage/http.ts";
import type { HttpStage, ServerOptions } from "../../stage/http.ts";
import { claimsOf, Forge } from "./forge.ts";
import { Person } from "./person.ts";

/** The target of an attack. */
export interface Victim {
  readonly userId: string;
  /** The name of an entry that only the victim has. */
  readonly entry: string;
  /** The victim's live session. */
  readonly session: string;
  /** The victim's own expired token. */
  readonly expired: string;
  /** The victim's own store. */
  readonly store: string;
}

/** All that an attacker can use. */
export interface Scene extends Victim {
  readonly alice: Person;
  readonly forge: Forge;
  readonly dataDir: string;
  /** An attacker's key server. */
  readonly trapUrl: string;
}

export const aliceBody = "Alice plans a trip to Lisbon.";
/** Texts that must never be in an answer. */
export const bobSecrets = ["kumquat-body", "kumquat-description", "kumquat-plan"] as const;
const [secretBody, secretDescription, secretPlan] = bobSecrets;
const alicePlan = { name: "plan", description: "where Alice goes", body: aliceBody };
const bobPlan = { name: "plan", description: secretDescription, body: secretPlan };

/** The only origin that the server under attack allows. */
export const allowedOrigin = "https://app.example";

/** What every stream watches: the index and two entries of bob's. Alice has an entry with the name of one of them. */
const watched = ["memory://index", "memory://user-memory/entry/plan", "memory://user-memory/entry/bob-plan"];

/** One server of the stage's runtime, with its users. */
export interface Served {
  readonly port: number;
  readonly alice: Person;
  readonly bob: Person;
  readonly victims: { readonly bob: Scene; readonly ghost: Scene };
  readonly close: () => Promise<void>;
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
  readonly #keyFile: string;

  private constructor(http: HttpStage, forge: Forge) {
    this.http = http;
    this.forge = forge;
    this.#keyFile = join(http.folder, "forge-keys.json");
  }

  static async open(): Promise<AttackStage> {
    const stage = new AttackStage(await openHttpStage({ runtime: { memory: { sharingByModels: true } } }), new Forge());
    writeFileSync(stage.#keyFile, await stage.forge.keySet());
    stage.#trap.listen({ port: 0, host: "127.0.0.1" });
    await once(stage.#trap, "listening");
    await remember(stage.http);
    return stage;
  }

  /** A server that admits the forge's tokens, and has both users' sessions and streams open. */
  async serve({ token, ...options }: ServerOptions = {}): Promise<Served> {
    const keys = { kind: "jwks-file", file: this.#keyFile } as const;
    const more = { token: { keys, ...token }, allowedOrigins: [allowedOrigin], storage: {} };
    const served = await this.http.serve({ ...more, ...options });
    const [alice, bob] = [
      new Person(served.port, await this.forge.tokenFor("alice"), alicePlan),
      new Person(served.port, await this.forge.tokenFor("bob"), bobPlan),
    ];
    const hasTokens = options.access === undefined;
    for (const person of hasTokens ? [alice, bob] : []) await person.open(watched);
    const trapUrl = `http://127.0.0.1:${(this.#trap.address() as AddressInfo).port}/keys`;
    const sceneOf = (userId: string, session: string): Scene => ({
      userId,
      entry: `${userId}-plan`,
      session,
      expired: this.forge.issued({ ...claimsOf(userId), exp: Math.floor(Date.now() / 1000) - 86_400 }),
      store: storeIdOf(userId),
      alice,
      forge: this.forge,
      dataDir: this.http.dataDir,
      trapUrl,
    });
    return {
      port: served.port,
      alice,
      bob,
      victims: { bob: sceneOf("bob", bob.session || randomUUID()), ghost: sceneOf("gus", randomUUID()) },
      close: async () => {
        for (const person of [alice, bob]) person.close();
        await served[Symbol.asyncDispose]();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#trap.close();
    await this.http[Symbol.asyncDispose]();
  }
}

/** What both users have at the start. */
async function remember({ runtime }: HttpStage): Promise<void> {
  const [alice, bob] = [{ userId: "alice" }, { userId: "bob" }];
  const upsert = { action: "upsert", type: "project" };
  const bobsOwn = { name: "bob-plan", description: secretDescription, body: secretBody };
  const note = { command: "put", namespace: "owner", key: "plan", content: secretBody };
  for (const result of [
    await runtime.call("UpdateUserMemory", { ...upsert, ...alicePlan }, alice),
    await runtime.call("UpdateUserMemory", { ...upsert, ...bobPlan }, bob),
    await runtime.call("UpdateUserMemory", { ...upsert, ...bobsOwn }, bob),
    await runtime.call("memory", { command: "create", path: "/memories/plan", content: secretPlan }, bob),
    await runtime.callAsHost("stores/CallerNotes", note, bob),
  ]) {
    if (!result.ok) throw new Error(result.error.message);
  }
}
