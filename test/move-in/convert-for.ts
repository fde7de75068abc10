/** The plugin's tool through a runtime, for one user. */
import type { Runtime } from "memcell";
import { expect } from "vitest";

import type { ConvertOutput } from "../../shared/roles.ts";
import type { Convert } from "../support/move-in.ts";

export const convertFor =
  (runtime: Runtime, userId: string): Convert =>
  async (input) => {
    const result = await runtime.callAsHost("move-in/ConvertFiles", input, { userId });
    if (!result.ok) expect.fail(`${result.error.code}: ${result.error.message}`);
    return result.data as ConvertOutput;
  };
