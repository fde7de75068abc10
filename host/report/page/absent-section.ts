import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, counted } from "./phrases.ts";
import { section } from "./section.ts";

/**
 * What the plugin cannot do, said outright. It follows from the list of imports, so it is said only when that list was
 * read and every entry of it is known. An empty list is one that could not be read: no plugin can do without an import.
 */
export function absentSection({ artifact }: AuditReport, id: string): Markup {
  const title = html`What is not there`;
  const unknown = artifact.imports.filter(({ meaning }) => meaning === null);
  if (artifact.manifest === null || artifact.imports.length === 0) {
    return section(id, title, html`<p>Of this file nothing can be said: it cannot be read as a plugin.</p>`);
  }
  if (unknown.length > 0) {
    return section(
      id,
      title,
      html`<p>
        <strong class="bad">Of this file nothing can be said:</strong> it has
        ${counted(unknown.length, html`import`, html`imports`)} that ABI version 1 does not know.
      </p>`,
    );
  }
  const hasClock = artifact.imports.some(({ name }) => name === "clock_now");
  return section(id, title, [
    html`<p>
      The list of imports is complete, and every one of them is known. There is no other way out of a WebAssembly
      module. So there is
    </p>`,
    html`<ul class="absent">
      ${absences(hasClock).map((each) => html`<li>${each}</li> `)}
    </ul>`,
  ]);
}

function absences(hasClock: boolean): Markup[] {
  return [
    html`<strong>no WASI</strong>: no environment variables, no arguments, no standard streams, no file descriptors`,
    html`<strong>no network</strong>: no sockets, no HTTP, no name resolution`,
    html`<strong>no file system</strong>: no path of the machine can be named, let alone opened`,
    hasClock
      ? html`<strong>no clock</strong> beside ${code("clock_now")}, which tells when the call began and then stands
          still`
      : html`<strong>no clock</strong>: nothing can be timed`,
    html`<strong>no randomness</strong>: the same call, at the same time and on the same files, does the same`,
    html`<strong>no other user</strong>: whose files these are is never told to the plugin, and cannot be chosen by it`,
    html`<strong>no processes, threads or devices</strong>, and no other plugin`,
  ];
}
