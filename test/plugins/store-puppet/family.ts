import type { Right } from "../../../shared/abi.ts";
import type { Family } from "../../../shared/manifest.ts";
import { anyStore } from "../../../shared/shared-scope.ts";
import * as z from "../../../shared/zod.ts";

const anything = z.unknown();
const every: Right[] = ["read", "list", "write", "trash", "clock", "grant_list", "grant_set"];

const puppet = (name: string, exportName: string, rights: Right[]): Family["tools"][number] => ({
  name,
  export: exportName,
  audience: "host",
  description: "Does what its input says.",
  input: anything,
  output: anything,
  scopes: [anyStore],
  rights,
});

/** The puppet of `../puppet`, with rights on shared stores. */
export const family: Family = {
  name: "store-puppet",
  version: "0.1.0",
  tools: [
    puppet("StorePuppet", "store_puppet", every),
    puppet("ReadingStorePuppet", "reading_store_puppet", ["read", "list", "grant_list"]),
    puppet("SearchingStorePuppet", "searching_store_puppet", ["read", "list", "search", "grant_list"]),
    puppet("BlindStorePuppet", "blind_store_puppet", ["read", "list", "write", "trash"]),
  ],
};
