/** Reports to draw pages of: the shipped plugin, one that has drifted, one that was made to deceive, and two logs. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import type { Artifact } from "../../host/artifact/artifact.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { rights } from "../../shared/abi.ts";
import { meaningOfImport } from "../../shared/import-meanings.ts";
import { callLimits, guestLimits } from "../../shared/limits.ts";
import { manifestSchema, manifestSection } from "../../shared/manifest.ts";
import { customSections, readMemoryLimits, readSections, sectionIds, WasmReader } from "../../shared/wasm-sections.ts";
import { readInterface } from "../../shared/wasm-signatures.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const policyHash = createHash("sha256").update("a policy").digest("hex");

export function passingReport(): AuditReport {
  const artifact = shippedArtifact();
  return {
    verdict: "PASS",
    deviations: [],
    artifact,
    policy: { name: "default", sha256: policyHash, pins: [artifact.sha256] },
    tools: toolsOf(artifact),
    limits: {
      deadlineMs: guestLimits.deadlineMs,
      fuelPolls: guestLimits.fuelPollsMax,
      memoryPages: guestLimits.memoryPagesMax,
      inputBytes: callLimits.inputBytesMax,
      hostCalls: 2_500,
      stagedBytes: callLimits.stagedBytesMax,
    },
    dependencies: [
      { name: "gray-matter", version: "4.0.3", licence: "MIT" },
      { name: "js-yaml", version: "5.5.0", licence: "MIT" },
      { name: "zod", version: "4.6.7", licence: "MIT" },
    ],
  };
}

export function failingReport(): AuditReport {
  const report = passingReport();
  const { artifact, tools } = report;
  return {
    ...report,
    verdict: "FAIL",
    deviations: [
      {
        about: "file",
        text: 'It imports function "wasi_snapshot_preview1" "fd_write", which its manifest does not account for.',
      },
      { about: "file", text: "Its memory is 42 to unlimited pages, its manifest says 42 to 512." },
      {
        about: "policy",
        text: `Its SHA-256 is ${artifact.sha256}, the policy pins "user-memory" to ${policyHash}.`,
      },
      {
        about: "policy",
        text: 'Its tool "ReadUserMemory" asks for the right "write", the policy "strict.json" allows read.',
      },
      { about: "policy", text: 'Its tool "RestoreEntry" is not named by the policy "strict.json".' },
    ],
    artifact: {
      ...artifact,
      memory: { min: 42, max: null },
      imports: [
        ...artifact.imports,
        {
          module: "wasi_snapshot_preview1",
          name: "fd_write",
          signature: "i32,i32,i32,i32->i32",
          meaning: null,
          right: null,
        },
      ],
    },
    policy: { name: "strict.json", sha256: policyHash, pins: [policyHash] },
    tools: tools.map((tool) => {
      if (tool.name === "RestoreEntry") return { ...tool, allowed: null };
      if (tool.name !== "ReadUserMemory") return tool;
      return { ...tool, rights: ["read", "write"], scopes: ["memory", "secrets"] };
    }),
    dependencies: null,
  };
}

function toolsOf({ manifest }: Artifact): AuditReport["tools"] {
  return (manifest?.tools ?? []).map(({ name, audience, rights: asked, scopes }) => ({
    name,
    audience,
    rights: asked,
    scopes,
    allowed: { rights: name === "PromptIndex" ? rights.slice(0, 3) : asked, scopes },
  }));
}

function shippedArtifact(): Artifact {
  const bytes = readFileSync(shippedPlugin("user-memory"));
  const sections = readSections(bytes);
  const { imports, exports } = readInterface(sections);
  const [manifest] = customSections(sections, manifestSection);
  return {
    file: "user-memory.wasm",
    sha256: createHash("sha256").update(bytes).digest("hex"),
    bytes: bytes.length,
    imports: imports.map(({ module, name, signature }) => ({
      module,
      name,
      signature: signature ?? "",
      ...(meaningOfImport(module, name) ?? { meaning: null, right: null }),
    })),
    exports: exports.map(({ name, kind, signature }) => ({ name, kind, signature: signature ?? "" })),
    memory: readMemoryLimits(sections)[0] ?? null,
    customSections: sections
      .filter(({ id }) => id === sectionIds.custom)
      .map(({ payload }) => {
        const reader = new WasmReader(payload);
        return { name: new TextDecoder().decode(reader.bytes(reader.u32())), bytes: payload.length };
      }),
    manifest: manifestSchema.parse(JSON.parse(new TextDecoder().decode(manifest))),
    deviations: [],
  };
}

/** A file that is no module at all. */
export function unreadableReport(): AuditReport {
  const report = passingReport();
  return {
    ...report,
    verdict: "FAIL",
    deviations: [
      { about: "file", text: "It is not a valid WebAssembly module: its first eight bytes are not those of one." },
    ],
    artifact: {
      ...report.artifact,
      bytes: 12,
      imports: [],
      exports: [],
      memory: null,
      customSections: [],
      manifest: null,
      deviations: ["it is not a valid WebAssembly module: its first eight bytes are not those of one"],
    },
    tools: [],
    dependencies: null,
  };
}
