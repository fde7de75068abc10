/** The plugin of a vector: a shipped one, a built one of `test/plugins/`, or a hand-written guest of `test/guests/`. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Right } from "../../shared/abi.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { writeGuest } from "../support/write-guest.ts";

interface Guest {
  /** Each tool and its export. */
  readonly tools: Record<string, string>;
  readonly rights?: Record<string, readonly Right[]>;
}

/** The hand-written guests that vectors may name. All of their tools are for models, and have the scope `memory`. */
const guests: Readonly<Record<string, Guest>> = {
  echo: { tools: { Echo: "echo", EchoAndFail: "echo_and_fail" } },
  spinner: { tools: { Spin: "spin" }, rights: { Spin: ["write"] } },
};

/** The file of a vector's plugin. A hand-written guest is assembled into `folder`, unless it lies there already. */
export function vectorPlugin(name: string, folder: string): string {
  if (name === "user-memory") return shippedPlugin(name);
  if (name === "puppet") return testPlugin(name);
  const guest = guests[name];
  if (guest === undefined) throw new Error(`Cannot use the plugin "${name}": no vector's plugin has this name`);
  const file = join(folder, `${name}.wasm`);
  return existsSync(file) ? file : writeGuest(folder, name, guest.tools, guest.rights);
}
