import { capabilityModule, kernelModule } from "../../../shared/abi.ts";
import type { ArtifactImport } from "../../plugins/artifact/artifact.ts";
import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, counted } from "./phrases.ts";
import { section } from "./section.ts";
import { table } from "./table.ts";

/** All that the plugin can reach outside its own memory. Those that are unknown come first. */
export function importsSection({ artifact }: AuditReport, id: string): Markup {
  const { imports } = artifact;
  const known = imports.filter(({ meaning }) => meaning !== null).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const groups = [
    {
      key: "unknown",
      caption: html`Unknown to ABI version 1`,
      rows: imports.filter(({ meaning }) => meaning === null),
    },
    {
      key: "capabilities",
      caption: html`Capabilities, from ${code(capabilityModule)}: each use is checked against the rights of the tool`,
      rows: known.filter(({ module }) => module === capabilityModule),
    },
    {
      key: "kernel",
      caption: html`The Extism kernel, from ${code(kernelModule)}: how a call’s text goes in and comes out`,
      rows: known.filter(({ module }) => module !== capabilityModule),
    },
  ];
  const title = html`Imports`;
  if (imports.length === 0) return section(id, title, html`<p>No import of this file could be read.</p>`);
  return section(id, title, [
    html`<p>${howMany(imports)}</p>`,
    ...groups.map(({ key, caption, rows }) => (rows.length > 0 ? importTable(`${id}-${key}`, caption, rows) : null)),
  ]);
}

/** Of a file with an unknown import nothing good is said, and not even that these are all: some may not have been read. */
function howMany(imports: readonly ArtifactImport[]): Markup {
  const unknown = imports.filter(({ meaning }) => meaning === null).length;
  const all = counted(imports.length, html`import`, html`imports`);
  if (unknown > 0) return html`The file has ${all} that could be read, of which ${unknown} can do nobody knows what.`;
  return html`The file has ${all}. WebAssembly code can reach nothing else outside its own memory.`;
}

function importTable(id: string, caption: Markup, imports: readonly ArtifactImport[]): Markup {
  return table({
    id,
    caption,
    columns: [{ head: html`Import` }, { head: html`What it does` }],
    rows: imports.map((each) => [importName(each), meaningOf(each)]),
  });
}

function importName({ module, name, signature, meaning }: ArtifactImport): Markup {
  const place = meaning === null ? html`${code(module)} ` : null;
  return html`${place}${code(name)} <span class="note"><code>${signature}</code></span>`;
}

function meaningOf({ meaning, right }: ArtifactImport): Markup {
  if (meaning === null) {
    return html`<strong class="bad"
      ><span aria-hidden="true">✕</span> Nobody can say: no host of ABI version 1 offers it.</strong
    >`;
  }
  return right === null ? html`${meaning}` : html`${meaning}<span class="note">; needs the right ${code(right)}</span>`;
}
