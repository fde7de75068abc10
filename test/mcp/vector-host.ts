/** The host behind its own HTTP server: for each plugin and limits a runtime with a settable clock, as vectors need. */
import { createRuntime, fileStore } from "memcell";
import type { Runtime } from "memcell";

import { RenewedStore } from "../conformance/renewed-store.ts";
import { serveRuntime } from "../stage/http.ts";
import type { ServedHttp } from "../stage/http.ts";
import { TokenIssuer } from "../stage/token-issuer.ts";
import { policyFor } from "../support/policy-for.ts";

export interface Hosted {
  /** The plugin's file. */
  readonly plugin: string;
  readonly limits: { readonly fuelPolls?: number; readonly deadlineMs?: number };
  readonly dataDir: string;
}

interface Served {
  readonly runtime: Runtime;
  readonly server: ServedHttp;
  readonly store: RenewedStore;
}

export class VectorHost implements AsyncDisposable {
  readonly issuer: TokenIssuer;
  readonly #served = new Map<string, Promise<Served>>();
  #clockMs = 0;

  private constructor(issuer: TokenIssuer) {
    this.issuer = issuer;
  }

  static async start(): Promise<VectorHost> {
    return new VectorHost(await TokenIssuer.start());
  }

  /** Sets the clock of all servers, and returns the URL of one, which starts if needed. */
  async urlOf(hosted: Hosted, epochMs: number): Promise<string> {
    this.#clockMs = epochMs;
    return (await this.#servedFor(hosted)).server.url;
  }

  /** The data folder is about to be replaced: the next call opens it anew. */
  async renew(hosted: Hosted): Promise<void> {
    const { store } = await this.#servedFor(hosted);
    await store.renew(fileStore({ dir: hosted.dataDir }));
  }

  #servedFor(hosted: Hosted): Promise<Served> {
    const key = JSON.stringify(hosted);
    const served = this.#served.get(key) ?? this.#serve(hosted);
    this.#served.set(key, served);
    return served;
  }

  async #serve({ plugin, limits, dataDir }: Hosted): Promise<Served> {
    const policy = policyFor([plugin], limits);
    const renewed = new RenewedStore(fileStore({ dir: dataDir }));
    const clock = (): number => this.#clockMs;
    const { definition: store } = renewed;
    const runtime = await createRuntime({ store, plugins: [plugin], policy, clock, threadsMax: 1 });
    return { runtime, server: await serveRuntime(runtime, this.issuer), store: renewed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { runtime, server } of await Promise.all(this.#served.values())) {
      await server[Symbol.asyncDispose]();
      await runtime.close();
    }
    await this.issuer[Symbol.asyncDispose]();
  }
}
