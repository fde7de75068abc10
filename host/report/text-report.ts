/** What `memcell audit` prints of one plugin file: on one screen, when there is nothing to find fault with. */
import { styleText } from "node:util";

import { capabilityModule, capabilityNames, kernelModule } from "../../shared/abi.ts";
import { pageLimits, pluginLimits } from "../../shared/limits.ts";
import type { PluginError } from "../../shared/manifest.ts";
import { quoted } from "../../shared/text.ts";
import type { Artifact } from "../plugins/artifact/artifact.ts";
import { visibleText } from "../values/visible-text.ts";
import type { AuditReport } from "./report.ts";
import { toolMatrix } from "./tool-matrix.ts";
import { wrapText } from "./wrap-text.ts";

/** A line as it is, or with how it is to look. */
type Line = string | { readonly text: string; readonly style: "bold" | "green" | "red" };

/**
 * A report as text, lines of at most 80 columns where its words allow it. All of it passes through `visibleText`, and
 * colours come after: no name in a file, a policy or a path writes to the terminal anything but letters.
 */
export function textReport(report: AuditReport, { isColoured }: { readonly isColoured: boolean }): string {
  const lines = [...identityLines(report), ...contentLines(report), ...verdictLines(report)];
  const printed = lines.map((line) => {
    if (typeof line === "string") return visibleText(line);
    const shown = visibleText(line.text);
    return isColoured ? styleText(line.style, shown, { validateStream: false }) : shown;
  });
  return printed.join("\n");
}

function identityLines({ artifact, policy }: AuditReport): Line[] {
  const { file, sha256, bytes, manifest } = artifact;
  const of = manifest
    ? `${manifest.name} ${manifest.version}, ABI version ${manifest.abi}`
    : "no plugin that can be read";
  const pinned = manifest ? pinning(policy.pins, sha256) : "";
  return [
    { text: `file      ${nameOf(file)}: ${of}, ${bytes} bytes`, style: "bold" },
    ...(sha256 === "" ? [] : [`sha256    ${sha256}`]),
    `policy    ${nameOf(policy.name)} (sha256 ${policy.sha256.slice(0, 16)}…)${pinned}`,
  ];
}

function pinning(pins: readonly string[] | null, sha256: string): string {
  if (pins === null) return ", pins no file for it";
  return pins.includes(sha256) ? ", pins this file" : ", pins another file";
}

function contentLines(report: AuditReport): Line[] {
  const { artifact, tools } = report;
  return [
    ...toolMatrix(tools).map((text, at) => (at === 0 ? { text, style: "bold" as const } : text)),
    ...codeLines(artifact),
    ...importLines(artifact),
    ...exportLines(report),
    ...labelled("limits", limitTexts(report)),
    ...labelled("sections", sectionTexts(artifact)),
    ...labelled("packages", packageTexts(report)),
  ];
}

/** Codes of the plugin's own. A file that has more than are allowed is refused; who wants to see them all takes the JSON. */
function codeLines({ manifest }: Artifact): Line[] {
  const errors = manifest?.errors ?? [];
  if (errors.length === 0) return [];
  const shown = errors.slice(0, pluginLimits.errorsMax);
  const left = errors.length - shown.length;
  return [
    ...labelled("codes", [`${errors.length} of its own, each a case of one that every plugin has`]),
    ...shown.flatMap(meaningLines),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ];
}

function meaningLines({ code, of, meaning }: PluginError): string[] {
  const { textCharsMax } = pageLimits;
  const words = visibleText(meaning.slice(0, textCharsMax)).split(/\s+/u);
  const shown = words.map((word) => (word.length > wordCharsMax ? `${word.slice(0, wordCharsMax)}…` : word)).join(" ");
  const rest = meaning.length > textCharsMax ? "…" : "";
  return [`  ${code}, of ${of}`, ...wrapText("    ", `${shown}${rest}`)];
}

/** Of a word in a meaning, which may be anything: with marks piled on each other it would cover other lines. */
const wordCharsMax = 36;

/** Each import that can reach anything on a line of its own; those of the kernel reach the call's own blocks only. */
function importLines({ imports }: Artifact): Line[] {
  if (imports.length === 0) return [];
  const capabilities = capabilityNames.flatMap((each) =>
    imports.filter(({ module, name, meaning }) => module === capabilityModule && name === each && meaning !== null),
  );
  const kernel = imports.filter(({ module, meaning }) => module === kernelModule && meaning !== null);
  const unknown = imports.filter(({ meaning }) => meaning === null);
  const counts = [
    ...(unknown.length > 0 ? [`${unknown.length} that no plugin may have`] : []),
    `${capabilities.length} capabilities`,
    `${kernel.length} kernel functions (input, output, blocks, log)`,
  ];
  return [
    ...labelled("imports", counts),
    ...capabilities.map(
      ({ name, right, meaning }) => `  ${name.padEnd(11)}  ${right?.padEnd(5) ?? ""}  ${meaning ?? ""}`,
    ),
    ...unknown.map(({ module, name, signature }) => ({
      text: `  ${quoted(module)} ${quoted(name)}  ${signature}`,
      style: "red" as const,
    })),
  ];
}

/** What passes exports what its manifest names, which is in the table already, and its memory: one line says both. */
function exportLines({ verdict, artifact, limits }: AuditReport): string[] {
  const { memory, exports, manifest } = artifact;
  const pages = memory ? [`${memory.min} to ${memory.max ?? "unlimited"} pages of 64 KiB`] : [];
  if (verdict === "PASS" && memory) {
    return labelled("exports", ["a function per tool", `memory of ${pages.join()} (${limits.memoryPages} allowed)`]);
  }
  const allowed = memory && manifest ? [`of which the host allows ${limits.memoryPages}`] : [];
  const names = exports.map(({ name }) => nameOf(name));
  return [...labelled("exports", names), ...labelled("memory", [...pages, ...allowed])];
}

function limitTexts({ limits, artifact }: AuditReport): string[] {
  if (!artifact.manifest) return [];
  return [
    limits.deadlineMs % 1_000 === 0 ? `${limits.deadlineMs / 1_000} s` : `${limits.deadlineMs} ms`,
    `${limits.fuelPolls} fuel polls`,
    `${bytesText(limits.inputBytes)} input`,
    `${limits.hostCalls} requests`,
    `${bytesText(limits.stagedBytes)} written`,
  ];
}

function sectionTexts({ customSections }: Artifact): string[] {
  const last = customSections.length - 1;
  return customSections.map(({ name, bytes }, at) => `${nameOf(name)} ${bytes}${at === last ? " bytes" : ""}`);
}

function packageTexts({ dependencies, artifact }: AuditReport): string[] {
  if (dependencies) return dependencies.map(({ name, version }) => `${name} ${version}`);
  return artifact.manifest ? ["no list of what was linked in accounts for this file"] : [];
}

function verdictLines({ verdict, deviations }: AuditReport): Line[] {
  const pass = "PASS  it is what its manifest says, and asks for no more than the policy grants";
  if (verdict === "PASS") return [{ text: pass, style: "green" }];
  const found = deviations.flatMap(({ about, text }) => wrapText(`  ${about}: `, text));
  const count = deviations.length === 1 ? "1 deviation" : `${deviations.length} deviations`;
  return [...found, { text: `FAIL  ${count}`, style: "red" }];
}

const kib = 1024;
const mib = 1024 * kib;

/** A size in the largest unit that loses nothing. */
function bytesText(bytes: number): string {
  if (bytes % mib === 0) return `${bytes / mib} MiB`;
  if (bytes % kib === 0) return `${bytes / kib} KiB`;
  return bytes === 1 ? "1 byte" : `${bytes} bytes`;
}

function labelled(label: string, parts: readonly string[]): string[] {
  return parts.length === 0 ? [] : wrapText(label.padEnd(10), parts.join(", "));
}

/** A name as it is, when nothing about it can be mistaken for the report's own words. */
function nameOf(name: string): string {
  return /^[A-Za-z0-9_.:-]{1,64}$/.test(name) ? name : quoted(name);
}
