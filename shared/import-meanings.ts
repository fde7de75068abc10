/** What each import does, for people who review a plugin. */
import { capabilityModule, capabilityRights, kernelModule } from "./abi.ts";
import type { CapabilityName, KernelFunction, Right } from "./abi.ts";

/** A block holds one text that host and guest exchange. It is outside the plugin's memory and ends with the call. */
export const kernelMeanings: Readonly<Record<KernelFunction, string>> = {
  input_length: "returns the length of the call's input",
  input_load_u8: "reads one byte of the call's input",
  input_load_u64: "reads eight bytes of the call's input",
  alloc: "allocates a block of this call, within the host's limits",
  free: "frees a block of this call",
  length: "returns the length of a block of this call",
  load_u8: "reads one byte of a block of this call",
  load_u64: "reads eight bytes of a block of this call",
  store_u8: "writes one byte into a block of this call",
  store_u64: "writes eight bytes into a block of this call",
  output_set: "names the block that is the call's answer",
  error_set: "names the block that is the call's error",
  config_get: "reads a setting that the host set for the plugin, such as its fuel",
  log_info: "adds a line to the host's log, at level info",
  log_warn: "adds a line to the host's log, at level warn",
  log_error: "adds a line to the host's log, at level error",
  log_debug: "adds a line to the host's log, at level debug",
};

/** They reach only the calling user's files, and only in the scopes of the called tool. */
export const capabilityMeanings: Readonly<Record<CapabilityName, string>> = {
  store_read: "reads a file of the calling user in the tool's scopes",
  store_list: "lists files of the calling user there: path, size, time",
  store_write: "creates or replaces a file of the calling user there",
  store_trash: "moves a file of the calling user to the trash there",
  clock_now: "returns the time of the call",
  grant_list: "tells which shared stores the calling user reaches, and to whom it has granted its own",
  grant_set: "grants another user access to the calling user's own shared store, or revokes it",
};

/** What the scope `store:*` changes about a capability, in version 2 of the ABI. */
const inStores = "; with the scope store:*, of the shared stores that the host lets the user reach";

/** What a tool with the scope `store:*` reaches. */
export const storesMeaning =
  "the scope store:* is the calling user's own shared store, and those that the host lets the user reach: by grants, " +
  "or because the program vouches for the user; with the right search, also those shared for searching alone";

export interface ImportMeaning {
  readonly meaning: string;
  /** The right that a capability needs; a kernel function needs none. */
  readonly right: Right | null;
}

/** Returns `null` for an import that the ABI does not have. `abi`: the version that the plugin is written for. */
export function meaningOfImport(module: string, name: string, abi: number): ImportMeaning | null {
  if (module === kernelModule && isNameIn(kernelMeanings, name)) return { meaning: kernelMeanings[name], right: null };
  if (module !== capabilityModule || !isNameIn(capabilityMeanings, name)) return null;
  const stores = abi >= 2 && name.startsWith("store_") ? inStores : "";
  return { meaning: capabilityMeanings[name] + stores, right: capabilityRights[name] };
}

function isNameIn<Name extends string>(table: Readonly<Record<Name, string>>, name: string): name is Name {
  return Object.hasOwn(table, name);
}
