/** The plugin of a vector: a shipped one, a built one of `test/plugins/`, or a hand-written guest of `test/guests/`. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Right } from "../../shared/abi.ts";
import type { Manifest, PluginError } from "../../shared/manifest.ts";
import { traps } from "../guests/traps.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { writeSealedGuest } from "../support/write-guest.ts";

interface Guest {
  /** Each tool and its export. */
  readonly tools: Record<string, string>;
  readonly rights?: Record<string, readonly Right[]>;
  /** Codes of its own. */
  readonly errors?: readonly PluginError[];
}

/** The hand-written guests that vectors can name. All their tools are for models and have the scope `memory`. */
const guests: Readonly<Record<string, Guest>> = {
  answerer: {
    tools: {
      ErrorAndCode0: "error_and_code_0",
      ErrorAndCode1: "error_and_code_1",
      ErrorAndOutput: "error_and_output",
      OutputAndCode2: "output_and_code_2",
      NothingAndCode0: "nothing_and_code_0",
      NothingAndCode1: "nothing_and_code_1",
      OutputHex: "output_hex",
      ErrorHex: "error_hex",
    },
    errors: [
      { code: "SEAT_TAKEN", of: "NAME_CONFLICT", meaning: "Somebody sits there." },
      { code: "SEAT_UNKNOWN", of: "ENTRY_NOT_FOUND", meaning: "There is no such seat." },
      { code: "ROW_INVALID", of: "INPUT_INVALID", meaning: "The row is no letter from A to F." },
    ],
  },
  asker: {
    tools: {
      ReadHex: "read_hex",
      ReadHandle0: "read_handle_0",
      ReadNoBlock: "read_no_block",
      AskTimes: "ask_times",
      WriteTimes: "write_times",
    },
    rights: {
      ReadHex: ["read"],
      ReadHandle0: ["read"],
      ReadNoBlock: ["read"],
      AskTimes: ["clock"],
      WriteTimes: ["write"],
    },
  },
  echo: { tools: { Echo: "echo", EchoAndFail: "echo_and_fail" } },
  liar: {
    tools: { Write: "write", WriteUnasked: "write_unasked", WriteTwice: "write_twice" },
    rights: { Write: ["write"], WriteUnasked: ["read"], WriteTwice: ["write"] },
  },
  trapper: { tools: traps },
  spinner: { tools: { Spin: "spin" }, rights: { Spin: ["write"] } },
};

/** The file of a vector's plugin. A hand-written guest is assembled into `folder` unless it is there already. */
export function vectorPlugin(name: string, folder: string): string {
  const built = [shippedPlugin(name), testPlugin(name)].find((file) => existsSync(file));
  if (built !== undefined) return built;
  const guest = guests[name];
  if (guest === undefined) throw new Error(`Cannot use the plugin "${name}": no vector's plugin has this name`);
  const file = join(folder, `${name}.wasm`);
  return existsSync(file) ? file : writeSealedGuest(folder, manifestOf(name, guest));
}

function manifestOf(name: string, { tools, rights, errors }: Guest): Manifest {
  return { ...guestManifest(name, tools, rights), ...(errors && { errors: [...errors] }) };
}
