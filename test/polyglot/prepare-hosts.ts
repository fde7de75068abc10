/** Runs once before the tests of this folder and all others of the same run. Builds the hosts while others are downloaded. */
import type { TestProject } from "vitest/node";

import { hostKinds, prepareHost } from "./hosts.ts";
import type { PreparedHost } from "./hosts.ts";

declare module "vitest" {
  interface ProvidedContext {
    hosts: readonly PreparedHost[];
  }
}

export default async function prepareHosts(project: TestProject): Promise<void> {
  const preparing = hostKinds.map(async (kind): Promise<PreparedHost> => {
    const host = await prepareHost(kind);
    console.log(`prepared the ${kind.language} host`);
    return host;
  });
  project.provide("hosts", await Promise.all(preparing));
}
