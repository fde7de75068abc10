/** What the plugin can reach outside its own memory, and what it therefore cannot do. */
import { capabilityModule, kernelModule } from "../../../shared/abi.ts";
import type { ArtifactImport } from "../../plugins/artifact/artifact.ts";
import { reachesStores } from "../report.ts";
import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { code, counted } from "./phrases.ts";
import { table, text } from "./table.ts";

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
