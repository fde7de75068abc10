import { callLimits, guestLimits, storeLimits } from "../../../shared/limits.ts";
import type { Manifest } from "../../../shared/manifest.ts";
import type { PolicyLimits } from "../../plugins/policy/policy.ts";
import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { bytesShown, wasmPagesShown } from "./quantities.ts";
import { section } from "./section.ts";
import { table } from "./table.ts";

/** What bounds a call of this plugin, and whose word it is. */
export function limitsSection({ limits, artifact }: AuditReport, id: string): Markup {
  return section(id, html`Limits`, [
    table({
      id: `${id}-call`,
      caption: html`What bounds a call of this plugin: the least of what host, policy and manifest say`,
      columns: [{ head: html`Limit` }, { head: html`Value` }, { head: html`Set by` }],
      rows: callBounds.map((bound) => [
        html`${bound.name} <span class="note below"><code>${bound.key}</code></span>`,
        bound.shown(limits[bound.key]),
        setBy(bound, limits, artifact.manifest),
      ]),
    }),
    table({
      id: `${id}-host`,
      caption: html`The same for every plugin, set by the host`,
      columns: [{ head: html`Limit` }, { head: html`Value` }],
      rows: fixedBounds,
    }),
  ]);
}

interface Bound {
  readonly key: keyof PolicyLimits;
  readonly name: Markup;
  readonly shown: (value: number) => Markup;
  readonly hostMax: number;
  /** What the manifest says; of some limits it has no say. */
  readonly ofManifest?: (manifest: Manifest) => number;
}

const callBounds: readonly Bound[] = [
  {
    key: "deadlineMs",
    name: html`Time in its thread`,
    shown: (value) => html`${value} ms`,
    hostMax: guestLimits.deadlineMs,
    ofManifest: ({ deadlineMs }) => deadlineMs,
  },
  {
    key: "fuelPolls",
    name: html`Computing budget`,
    shown: (value) => html`${value} polls of some 5,000 loop turns`,
    hostMax: guestLimits.fuelPollsMax,
    ofManifest: ({ fuelPolls }) => fuelPolls,
  },
  {
    key: "memoryPages",
    name: html`Wasm memory`,
    shown: wasmPagesShown,
    hostMax: guestLimits.memoryPagesMax,
    ofManifest: ({ memoryPages }) => memoryPages.max,
  },
  { key: "inputBytes", name: html`Input`, shown: bytesShown, hostMax: callLimits.inputBytesMax },
  {
    key: "hostCalls",
    name: html`Uses of capabilities`,
    shown: (value) => html`${value} in a call`,
    hostMax: callLimits.hostCallsMax,
  },
  { key: "stagedBytes", name: html`What a call writes`, shown: bytesShown, hostMax: callLimits.stagedBytesMax },
];

/** The least wins; when several say the same, all of them did. */
function setBy({ key, hostMax, ofManifest }: Bound, limits: PolicyLimits, manifest: Manifest | null): Markup {
  const value = limits[key];
  const isManifest = manifest !== null && ofManifest?.(manifest) === value;
  if (isManifest && hostMax === value) return html`host and manifest`;
  if (isManifest) return html`manifest`;
  return hostMax === value ? html`host` : html`policy`;
}

const fixedBounds: readonly (readonly Value[])[] = [
  [html`Answer`, bytesShown(callLimits.outputBytesMax)],
  [html`One capability request`, bytesShown(callLimits.requestBytesMax)],
  [html`Writes and moves of a call`, html`${storeLimits.changesMax}`],
  [html`A file`, bytesShown(storeLimits.fileBytesMax)],
  [html`A user’s scope, trash included`, bytesShown(storeLimits.scopeBytesMax)],
  [html`Lines that a call may log`, html`${callLimits.logLinesMax} of ${callLimits.logLineCharsMax} characters`],
];
