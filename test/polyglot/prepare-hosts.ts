/** Runs once before the tests of this folder and all others of the same run. Builds the hosts, one by one. */
import type { TestProject } from "vitest/node";

import { hostKinds, prepareHost } from "./hosts.ts";
import type { PreparedHost } from "./hosts.ts";

declare module "vitest" {
  interface ProvidedContext {
    hosts: readonly PreparedHost[];
  }
}

export default async function prepareHosts(project: TestProject): Promise<void> {
  const hosts: PreparedHost[] = [];
  for (const kind of hostKinds) {
    console.log(`preparing the ${kind.language} host`);
    // oxlint-disable-next-line no-await-in-loop -- a build uses all processors by itself
    hosts.push(await prepareHost(kind));
  }
  project.provide("hosts", hosts);
}
