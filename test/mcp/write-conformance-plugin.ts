/** A plugin with the tools that the conformance suite calls, as far as memcell can have them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { guestText } from "../support/write-guest.ts";

const exportsByTool = {
  test_simple_text: "succeed",
  test_error_handling: "fail",
  test_logging_tool: "succeed",
  json_schema_2020_12_tool: "succeed",
  test_header_parameter: "succeed",
} as const;

/** The schema of the scenario `json-schema-2020-12`. Each keyword must reach the client unchanged. */
const manyKeywords = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const inputs: Readonly<Record<string, object>> = {
  json_schema_2020_12_tool: manyKeywords,
  // A parameter that clients repeat in a header. The 2026-07-28 revision wants servers to compare the two.
  test_header_parameter: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
};

/** Assembles the plugin into a folder and returns its path. */
export function writeConformancePlugin(folder: string): string {
  const manifest = guestManifest("conformance", exportsByTool);
  const tools = manifest.tools.map((tool) => ({ ...tool, input: inputs[tool.name] ?? { type: "object" } }));
  const file = join(folder, "conformance.wasm");
  writeFileSync(file, assembleGuest(guestText("responder"), [JSON.stringify({ ...manifest, tools })]));
  return file;
}
