/** The file's identity, what it can reach and therefore cannot do, its content and packages, and the limits of its calls. */
import { capabilityModule, kernelModule } from "../../../shared/abi.ts";
import { callLimits, storeLimits } from "../../../shared/limits.ts";
import { exportsOf } from "../../../shared/manifest.ts";
import { code, counted, facts } from "../../markup/elements.ts";
import { html } from "../../markup/markup.ts";
import type { Markup, Value } from "../../markup/markup.ts";
import type { ArtifactImport } from "../../plugins/artifact/artifact.ts";
import { policyLimitsMax } from "../../plugins/policy/policy.ts";
import type { PolicyLimits } from "../../plugins/policy/policy.ts";
import { manifestLimits } from "../make-report.ts";
import type { AuditReport } from "../report.ts";
import { reachesStores } from "../report.ts";
import { bytesShown, hash, wasmPagesShown } from "./phrases.ts";
import { number, table, text } from "./table.ts";

/** Identifies the file and the policy. */
export function identityBody(report: AuditReport): Markup {
  const { artifact, policy } = report;
  const { manifest } = artifact;
  const unreadable = html`unknown: the file has no readable manifest`;
  return facts([
    [html`File`, code(artifact.file)],
    [html`SHA-256`, hashOfFile(artifact.sha256)],
    [html`Size`, bytesShown(artifact.bytes)],
    [html`Plugin`, manifest ? html`${code(manifest.name)} version ${manifest.version}` : unreadable],
    [html`Capability ABI`, manifest ? html`version ${manifest.abi}` : unreadable],
    [html`Policy`, code(policy.name)],
    [html`SHA-256 of the policy`, hash(policy.sha256)],
    [html`Pinned`, pinned(report)],
  ]);
}

function pinned({ artifact, policy: { pins } }: AuditReport): Markup {
  if (artifact.manifest === null) return html`unknown: the file does not say which plugin it is`;
  if (pins === null) {
    return html`No. The policy accepts any file with this plugin’s name that asks for no more than it grants.`;
  }
  const accepted = pins.length === 1 ? html`the one file` : html`one of the ${pins.length} files`;
  if (artifact.sha256 !== "" && pins.includes(artifact.sha256)) {
    return html`Yes: this is ${accepted} with its name that the policy accepts.`;
  }
  return html`<strong class="bad">To another file.</strong> This is not ${accepted} with its name that the policy
    accepts: ${pins.slice(0, pinsShownMax).map((pin, at) => (at === 0 ? hash(pin) : html`, ${hash(pin)}`))}`;
}

/** During a rollout, a policy pins an old and a new file. Longer lists are in the policy itself. */
const pinsShownMax = 8;

function hashOfFile(sha256: string): Markup {
  return sha256 === "" ? html`unknown: the file could not be read` : hash(sha256);
}

const isUnknown = ({ meaning }: ArtifactImport): boolean => meaning === null;

/** Shows unknown imports first. */
export function importsBody({ artifact: { imports } }: AuditReport, id: string): Value {
  if (imports.length === 0) return html`<p>No import of this file could be read.</p>`;
  const unknown = imports.filter(isUnknown);
  const known = imports.filter((each) => !isUnknown(each)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const ofCapabilities = html`Capabilities, from ${code(capabilityModule)}: each use is checked against the rights of
  the tool`;
  const ofKernel = html`The Extism kernel, from ${code(kernelModule)}: how a call’s text goes in and comes out`;
  const groups = [
    { key: "unknown", caption: html`Unknown to the ABI`, rows: unknown },
    { key: "capabilities", caption: ofCapabilities, rows: known.filter(({ module }) => module === capabilityModule) },
    { key: "kernel", caption: ofKernel, rows: known.filter(({ module }) => module !== capabilityModule) },
  ].filter(({ rows }) => rows.length > 0);
  const tables = groups.map(({ key, caption, rows }) =>
    table({
      id: `${id}-${key}`,
      caption,
      columns: [text`Import`, text`What it does`],
      rows: rows.map((each) => [importName(each), meaningOf(each)]),
    }),
  );
  return [html`<p>${howMany(imports.length, unknown.length)}</p>`, ...tables];
}

/** For a file with an unknown import, does not claim that the list is complete: some imports can be unread. */
function howMany(count: number, unknown: number): Markup {
  const all = counted(count, html`import`, html`imports`);
  if (unknown > 0) return html`The file has ${all} that could be read. The effect of ${unknown} of them is unknown.`;
  return html`The file has ${all}. WebAssembly code can reach nothing else outside its own memory.`;
}

function importName({ module, name, signature, meaning }: ArtifactImport): Markup {
  const from = meaning === null ? html`${code(module)} ` : null;
  return html`${from}${code(name)} <span class="note"><code>${signature}</code></span>`;
}

function meaningOf({ meaning, right }: ArtifactImport): Markup {
  if (meaning === null) {
    return html`<strong class="bad"><span aria-hidden="true">✕</span> Unknown: no host offers it.</strong>`;
  }
  return right === null ? html`${meaning}` : html`${meaning}<span class="note">; needs the right ${code(right)}</span>`;
}

/**
 * What the plugin cannot do. This follows from the list of imports, so it is shown only if the list was read and every
 * entry is known. An empty list was not readable, because every plugin needs imports.
 */
export function absentBody({ artifact: { manifest, imports }, tools }: AuditReport): Value {
  if (manifest === null || imports.length === 0) {
    return html`<p>Nothing can be said about this file: it cannot be read as a plugin.</p>`;
  }
  const unknown = imports.filter(isUnknown).length;
  if (unknown > 0) {
    return html`<p>
      <strong class="bad">Nothing can be said about this file:</strong> it has
      ${counted(unknown, html`import`, html`imports`)} that the ABI does not know.
    </p>`;
  }
  const hasClock = imports.some(({ name }) => name === "clock_now");
  return [
    html`<p>
      The list of imports is complete, and every import is known. There is no other way out of a WebAssembly module. So
      the plugin has
    </p>`,
    html`<ul class="absent">
      ${absences(hasClock, reachesStores(tools)).map((each) => html`<li>${each}</li> `)}
    </ul>`,
  ];
}

function absences(hasClock: boolean, hasStores: boolean): Markup[] {
  return [
    html`<strong>no WASI</strong>: no environment variables, no arguments, no standard streams, no file descriptors`,
    html`<strong>no network</strong>: no sockets, no HTTP, no name resolution`,
    html`<strong>no file system</strong>: it can neither name nor open a path of the machine`,
    hasClock
      ? html`<strong>no clock</strong> except ${code("clock_now")}, which always returns the time when the call began`
      : html`<strong>no clock</strong>: it cannot measure time`,
    html`<strong>no randomness</strong>: the same call, at the same time and on the same files, has the same result`,
    hasStores
      ? html`<strong>no other user</strong> except in shared stores that the host lets the calling user reach`
      : html`<strong>no other user</strong>: it does not know whose files these are, and cannot choose another user`,
    html`<strong>no processes, threads or devices</strong>, and no other plugin`,
  ];
}

/** The file's memory, its exports, and its custom sections. */
export function contentsBody({ artifact }: AuditReport, id: string): Value {
  const toolOf = new Map(
    artifact.manifest?.tools.flatMap((tool) => exportsOf(tool).map((name) => [name, code(tool.name)] as const)),
  );
  return [
    memory(artifact.memory),
    table({
      id: `${id}-exports`,
      caption: html`Exports: what a host can call or see`,
      columns: [text`Export`, text`Kind`, text`Tool`],
      rows: artifact.exports.map(({ name, kind, signature }) => [
        code(name),
        kind === "function" ? html`${kind} <span class="note"><code>${signature}</code></span>` : kind,
        toolOf.get(name) ?? html`<span class="quiet">none</span>`,
      ]),
    }),
    table({
      id: `${id}-custom`,
      caption: html`Custom sections: data that is never run`,
      columns: [text`Section`, number`Size`],
      rows: artifact.customSections.map(({ name, bytes }) => [code(name), bytesShown(bytes)]),
    }),
  ];
}

function memory(limits: AuditReport["artifact"]["memory"]): Markup {
  if (limits === null) return html`<p>The file defines no memory that can be read.</p>`;
  const most =
    limits.max === null ? html`<strong class="bad">no maximum is declared</strong>` : wasmPagesShown(limits.max);
  return facts([
    [html`Memory at first`, wasmPagesShown(limits.min)],
    [html`Memory at most`, most],
  ]);
}

export function dependenciesBody({ dependencies }: AuditReport, id: string): Markup {
  if (dependencies === null) {
    return html`<p>There is no list of components for this file. The packages linked into it are unknown.</p>`;
  }
  const packages = counted(dependencies.length, html`package`, html`packages`);
  return table({
    id: `${id}-packages`,
    caption: html`${packages} linked into this file, as its build recorded them`,
    columns: [text`Package`, text`Version`, text`Licence`],
    rows: dependencies.map(({ name, version, licence }) => [code(name), version, licence]),
  });
}

/** The limits of a call of this plugin, and who set each. */
export function limitsBody({ limits, artifact }: AuditReport, id: string): Value {
  const own: Partial<PolicyLimits> = artifact.manifest ? manifestLimits(artifact.manifest) : {};
  return [
    table({
      id: `${id}-call`,
      caption: html`Limits of a call of this plugin: the lowest of host, policy and manifest`,
      columns: [text`Limit`, text`Value`, text`Set by`],
      rows: callBounds.map(([key, name, shown]) => [
        html`${name} <span class="note below"><code>${key}</code></span>`,
        shown(limits[key]),
        setBy(limits[key], policyLimitsMax[key], own[key]),
      ]),
    }),
    table({
      id: `${id}-host`,
      caption: html`Limits of every plugin, set by the host`,
      columns: [text`Limit`, text`Value`],
      rows: fixedBounds,
    }),
  ];
}

const callBounds: readonly (readonly [key: keyof PolicyLimits, name: Markup, shown: (value: number) => Markup])[] = [
  ["deadlineMs", html`Time in its thread`, (ms) => html`${ms} ms`],
  ["fuelPolls", html`Computing budget`, (polls) => html`${polls} polls of about 5,000 loop turns`],
  ["memoryPages", html`Wasm memory`, wasmPagesShown],
  ["inputBytes", html`Input`, bytesShown],
  ["hostCalls", html`Uses of capabilities`, (calls) => html`${calls} in a call`],
  ["stagedBytes", html`What a call writes`, bytesShown],
];

/** The lowest value applies; those that set the same value are named together. A manifest cannot set all limits. */
function setBy(value: number, ofHost: number, ofManifest: number | undefined): Markup {
  if (ofManifest === value) return ofHost === value ? html`host and manifest` : html`manifest`;
  return ofHost === value ? html`host` : html`policy`;
}

const fixedBounds: readonly (readonly Value[])[] = [
  [html`Answer`, bytesShown(callLimits.outputBytesMax)],
  [html`One capability request`, bytesShown(callLimits.requestBytesMax)],
  [html`Writes and moves of a call`, html`${storeLimits.changesMax}`],
  [html`A file`, bytesShown(storeLimits.fileBytesMax)],
  [html`A user’s scope, trash included`, bytesShown(storeLimits.scopeBytesMax)],
  [html`Lines that a call may log`, html`${callLimits.logLinesMax} of ${callLimits.logLineCharsMax} characters`],
];
