/**
 * The text report of `memcell audit` on one plugin file. A report without faults fits on one screen, but for what the
 * plugin tells models. Only this file imports `wrap-ansi`.
 */
import { styleText } from "node:util";

import wrapAnsi from "wrap-ansi";

import { capabilityModule, capabilityNames, kernelModule } from "../../shared/abi.ts";
import { storesMeaning } from "../../shared/import-meanings.ts";
import { pageLimits, pluginLimits } from "../../shared/limits.ts";
import type { PluginError } from "../../shared/manifest.ts";
import { counted, quoted } from "../../shared/text.ts";
import type { Artifact } from "../plugins/artifact/artifact.ts";
import { visibleName, visibleText } from "../values/visible-text.ts";
import { modelGranting, reachesStores, rightGranting, scopeGrantings, shownRights } from "./report.ts";
import type { AuditReport, Granting, ReportedTool } from "./report.ts";

/** A line, with or without a style. */
type Line = string | { readonly text: string; readonly style: "bold" | "green" | "red" };

/**
 * A report as text, with lines of at most 80 columns where its words allow it. `visibleText` runs on every line before
 * colours are added, so no name in a file, a policy or a path can send control characters to the terminal.
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
  const named = manifest && `${manifest.name} ${manifest.version}, ABI version ${manifest.abi}`;
  return [
    { text: `file      ${visibleName(file)}: ${named ?? "no plugin that can be read"}, ${bytes} bytes`, style: "bold" },
    ...(sha256 === "" ? [] : [`sha256    ${sha256}`]),
    `policy    ${visibleName(policy.name)} (sha256 ${policy.sha256.slice(0, 16)}…)${manifest ? pinning(policy.pins, sha256) : ""}`,
  ];
}

function pinning(pins: readonly string[] | null, sha256: string): string {
  if (pins === null) return ", pins no file for it";
  return pins.includes(sha256) ? ", pins this file" : ", pins another file";
}

function contentLines(report: AuditReport): Line[] {
  const { artifact, tools } = report;
  return [
    ...toolMatrix(report).map((text, at) => (at === 0 ? { text, style: "bold" as const } : text)),
    ...instructionLines(artifact),
    ...codeLines(artifact),
    ...importLines(artifact),
    ...(reachesStores(tools) ? labelled("stores", [storesMeaning]) : []),
    ...exportLines(report),
    ...labelled("limits", limitTexts(report)),
    ...labelled("sections", sectionTexts(artifact)),
    ...labelled("packages", packageTexts(report)),
  ];
}

/** What the plugin tells models about itself. */
function instructionLines({ manifest }: Artifact): string[] {
  return manifest?.instructions === undefined ? [] : wrapText("tells     ", shownWords(manifest.instructions));
}

/** The plugin's own error codes, up to the allowed number. The JSON report has all codes of a file with more. */
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
  return [`  ${code}, of ${of}`, ...wrapText("    ", shownWords(meaning))];
}

/** A bounded text of bounded words. A plugin's text can be anything: many combining marks would cover other lines. */
function shownWords(text: string): string {
  const { textCharsMax } = pageLimits;
  const words = visibleText(text.slice(0, textCharsMax)).split(/\s+/u);
  const shown = words.map((word) => (word.length > wordCharsMax ? `${word.slice(0, wordCharsMax)}…` : word)).join(" ");
  return text.length > textCharsMax ? `${shown}…` : shown;
}

const wordCharsMax = 36;

/** Capabilities and unknown imports have their own lines. Kernel imports reach only the call's blocks. */
function importLines({ imports }: Artifact): Line[] {
  if (imports.length === 0) return [];
  const unknown = imports.filter(({ meaning }) => meaning === null);
  const known = imports.filter(({ meaning }) => meaning !== null);
  const kernel = known.filter(({ module }) => module === kernelModule);
  const capabilities = capabilityNames.flatMap((each) =>
    known.filter(({ module, name }) => module === capabilityModule && name === each),
  );
  const counts = [
    ...(unknown.length > 0 ? [`${unknown.length} that no plugin may have`] : []),
    `${capabilities.length} capabilities`,
    `${kernel.length} kernel functions (input, output, blocks, log)`,
  ];
  const rightChars = Math.max(...capabilities.map(({ right }) => right?.length ?? 0));
  return [
    ...labelled("imports", counts),
    ...capabilities.flatMap(({ name, right, meaning }) =>
      wrapText(`  ${name.padEnd(11)}  ${right?.padEnd(rightChars) ?? ""}  `, meaning ?? ""),
    ),
    ...unknown.map(({ module, name, signature }) => ({
      text: `  ${quoted(module)} ${quoted(name)}  ${signature}`,
      style: "red" as const,
    })),
  ];
}

/** One line for a file that passes: it exports its memory and the manifest's tools, which the table already shows. */
function exportLines({ verdict, artifact, limits }: AuditReport): string[] {
  const { memory, exports, manifest } = artifact;
  const pages = memory ? [`${memory.min} to ${memory.max ?? "unlimited"} pages of 64 KiB`] : [];
  if (verdict === "PASS" && memory) {
    return labelled("exports", ["a function per tool", `memory of ${pages.join()} (${limits.memoryPages} allowed)`]);
  }
  const allowed = memory && manifest ? [`of which the host allows ${limits.memoryPages}`] : [];
  const names = exports.map(({ name }) => visibleName(name));
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
  return customSections.map(({ name, bytes }, at) => `${visibleName(name)} ${bytes}${at === last ? " bytes" : ""}`);
}

function packageTexts({ dependencies, artifact }: AuditReport): string[] {
  if (dependencies) return dependencies.map(({ name, version }) => `${name} ${version}`);
  return artifact.manifest ? ["no list of what was linked in accounts for this file"] : [];
}

function verdictLines({ verdict, deviations, narrowings }: AuditReport): Line[] {
  if (verdict === "PASS") return [...narrowingLines(narrowings), { text: passLine(narrowings), style: "green" }];
  const found = deviations.flatMap(({ about, text }) => wrapText(`  ${about}: `, text));
  return [...found, { text: `FAIL  ${counted(deviations.length, "deviation")}`, style: "red" }];
}

function narrowingLines(narrowings: readonly string[]): string[] {
  const left = narrowings.length - pluginLimits.deviationsMax;
  const shown = narrowings.slice(0, pluginLimits.deviationsMax).flatMap((text) => wrapText("  policy: ", text));
  return left > 0 ? [...shown, `  and ${left} more`] : shown;
}

const passLine = ({ length }: readonly string[]): string =>
  `PASS  it is what its manifest says, ${length > 0 ? "and the policy takes away what is above" : "and asks for no more than the policy grants"}`;

const kib = 1024;
const mib = 1024 * kib;

/** A size in the largest unit that is exact. */
function bytesText(bytes: number): string {
  if (bytes % mib === 0) return `${bytes / mib} MiB`;
  if (bytes % kib === 0) return `${bytes / kib} KiB`;
  return counted(bytes, "byte");
}

function labelled(label: string, parts: readonly string[]): string[] {
  return parts.length === 0 ? [] : wrapText(label.padEnd(10), parts.join(", "));
}

const marks: Readonly<Record<Granting, string>> = { granted: "yes", refused: "NO", spare: "may", neither: "-" };

/** A table of tools and rights: what each tool asks for, and whether the policy allows it. */
function toolMatrix({ tools, verdict }: AuditReport): string[] {
  if (tools.length === 0) return [];
  const shown = shownRights(tools);
  const rows = tools.map((tool) => [
    tool.name,
    // In a file that is loaded, other tools are for somebody.
    verdict === "PASS" && tool.callers === "nobody" ? "nobody" : audienceOf(tool),
    ...shown.map((right) => marks[rightGranting(tool, right)]),
    scopesOf(tool),
  ]);
  const heading = ["tools", "for", ...shown, "scopes"];
  const widths = heading.map((_, column) => Math.max(...[heading, ...rows].map((row) => row[column]?.length ?? 0)));
  const lines = [heading, ...rows].map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  return [...lines.map((cells) => cells.join("  ").trimEnd()), ...legendOf(rows)];
}

function audienceOf(tool: ReportedTool): string {
  const granting = modelGranting(tool);
  if (granting === "granted") return "model";
  return granting === "neither" ? "host" : `${tool.audience === "host" ? "host, " : ""}model (${marks[granting]})`;
}

function scopesOf(tool: ReportedTool): string {
  return scopeGrantings(tool)
    .map(({ scope, granting }) => (granting === "granted" ? scope : `${scope} (${marks[granting]})`))
    .join(", ");
}

/** Explains the marks `NO` and `may`, if they occur. */
function legendOf(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.flat().join(" ");
  const meanings = ["NO: asked for, not granted", "may: granted, not asked for"];
  const shown = meanings.filter((each) => new RegExp(`\\b${each.split(":", 1)[0]}\\b`).test(cells));
  return shown.length === 0 ? [] : [`  ${shown.join("; ")}`];
}

/** The usual minimum width of a terminal. */
const columnsMax = 80;

/**
 * Wraps text: the label before the first line, as many spaces before the others. Breaks longer words: a terminal would
 * continue them at the start of a line, where they look like the report's own text.
 */
function wrapText(label: string, text: string): string[] {
  const lines = wrapAnsi(visibleText(text), columnsMax - label.length, { hard: true }).split("\n");
  return lines.map((line, at) => `${at === 0 ? label : " ".repeat(label.length)}${line}`);
}
