/**
 * Which parts of the conformance suite apply to memcell. The suite expects a server with every feature and with tools,
 * prompts and resources of fixed names. `write-conformance-plugin.ts` offers the tools that memcell can have.
 */
import { runNames } from "./suite-runs.ts";
import type { RunName } from "./suite-runs.ts";

export interface Scenario {
  /** The runs that contain it. */
  readonly runs: readonly RunName[];
  /** Checks that fail in at least one run, by id, and why they cannot apply. All others succeed. */
  readonly without?: Readonly<Record<string, string>>;
  /** Limits of what its success shows. */
  readonly note?: string;
}

const every = runNames;
const former: readonly RunName[] = ["0.1.16", "2025-11-25"];
const next2025: readonly RunName[] = ["2025-11-25"];
const latest: readonly RunName[] = ["2026-07-28"];

const sentences = "results are text and JSON";
const noLogging = "clients get no logs";
const noProgress = "tools report no progress";
const noRequests = "no requests to clients";
const ownResources = "resources are memory, as text";
const onePrompt = "the only prompt is the index";
const fixedLists = "tools and prompts are fixed";
const noTasks = "no tasks extension";
const noChannel = "the suite cannot observe it yet";
const noHeaders = "no parameter goes into a header";

const all = (reason: string, ...ids: string[]): Record<string, string> =>
  Object.fromEntries(ids.map((id) => [id, reason]));

export const scenarios: Readonly<Record<string, Scenario>> = {
  "server-initialize": { runs: former },
  "logging-set-level": { runs: former, without: all(noLogging, "logging-set-level") },
  ping: { runs: former },
  "completion-complete": { runs: every, without: all(onePrompt, "completion-complete") },
  "tools-list": { runs: every },
  "tools-call-simple-text": { runs: every },
  "tools-call-image": { runs: every, without: all(sentences, "tools-call-image") },
  "tools-call-audio": { runs: every, without: all(sentences, "tools-call-audio") },
  "tools-call-embedded-resource": { runs: every, without: all(sentences, "tools-call-embedded-resource") },
  "tools-call-mixed-content": { runs: every, without: all(sentences, "tools-call-mixed-content") },
  "tools-call-with-logging": { runs: former, without: all(noLogging, "tools-call-with-logging") },
  "tools-call-error": { runs: every },
  "tools-call-with-progress": { runs: every, without: all(noProgress, "tools-call-with-progress") },
  "tools-call-sampling": { runs: former, without: all(noRequests, "tools-call-sampling") },
  "tools-call-elicitation": { runs: former, without: all(noRequests, "tools-call-elicitation") },
  "json-schema-2020-12": { runs: every },
  "elicitation-sep1034-defaults": { runs: former, without: all(noRequests, "elicitation-sep1034-general") },
  "server-sse-polling": { runs: former, note: "answers are JSON, not streams" },
  "server-sse-multiple-streams": { runs: every },
  "elicitation-sep1330-enums": { runs: former, without: all(noRequests, "elicitation-sep1330-general") },
  "resources-list": { runs: every },
  "resources-read-text": { runs: every, without: all(ownResources, "resources-read-text") },
  "resources-read-binary": { runs: every, without: all(ownResources, "resources-read-binary") },
  "resources-templates-read": { runs: every, without: all(ownResources, "resources-templates-read") },
  "resources-subscribe": { runs: former, without: all(ownResources, "resources-subscribe") },
  "resources-unsubscribe": { runs: former, without: all(ownResources, "resources-unsubscribe") },
  "prompts-list": { runs: every },
  "prompts-get-simple": { runs: every, without: all(onePrompt, "prompts-get-simple") },
  "prompts-get-with-args": { runs: every, without: all(onePrompt, "prompts-get-with-args") },
  "prompts-get-embedded-resource": { runs: every, without: all(onePrompt, "prompts-get-embedded-resource") },
  "prompts-get-with-image": { runs: every, without: all(onePrompt, "prompts-get-with-image") },
  "dns-rebinding-protection": { runs: every },
  "server-session-lifecycle": { runs: next2025 },
  "server-stateless": {
    runs: latest,
    without: {
      ...all(
        noRequests,
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
      ),
      ...all(
        fixedLists,
        "sep-2575-server-sends-prompts-list-changed-on-subscription",
        "sep-2575-server-sends-tools-list-changed-on-subscription",
      ),
    },
  },
  "sep-2164-resource-not-found": { runs: latest },
  caching: { runs: latest },
  "input-required-result-basic-elicitation": {
    runs: latest,
    without: all(noRequests, "sep-2322-elicitation-incomplete"),
  },
  "input-required-result-basic-sampling": { runs: latest, without: all(noRequests, "sep-2322-sampling-incomplete") },
  "input-required-result-basic-list-roots": {
    runs: latest,
    without: all(noRequests, "sep-2322-list-roots-incomplete"),
  },
  "input-required-result-request-state": {
    runs: latest,
    without: all(noRequests, "sep-2322-request-state-incomplete"),
  },
  "input-required-result-multiple-input-requests": {
    runs: latest,
    without: all(noRequests, "sep-2322-multiple-inputs-incomplete"),
  },
  "input-required-result-multi-round": { runs: latest, without: all(noRequests, "sep-2322-multi-round-r1") },
  "input-required-result-missing-input-response": {
    runs: latest,
    without: all(noRequests, "sep-2322-missing-response-rerequests"),
  },
  "input-required-result-non-tool-request": { runs: latest, without: all(onePrompt, "sep-2322-non-tool-incomplete") },
  "input-required-result-result-type": { runs: latest, without: all(noRequests, "sep-2322-result-type-included") },
  "input-required-result-unsupported-methods": { runs: latest },
  "input-required-result-tampered-state": { runs: latest, without: all(noRequests, "sep-2322-reject-tampered-state") },
  "input-required-result-capability-check": {
    runs: latest,
    without: all(noRequests, "sep-2322-respect-client-capabilities"),
  },
  "input-required-result-ignore-extra-params": {
    runs: latest,
    without: all(noRequests, "sep-2322-ignore-unexpected-params"),
  },
  "input-required-result-validate-input": { runs: latest, note: "passes if the server refuses the call" },
  "tasks-lifecycle": {
    runs: latest,
    without: all(
      noTasks,
      "tasks-sync-tool-call",
      "sep-2663-result-type-task-on-create",
      "sep-2663-tasks-get-status-working",
      "sep-2663-tasks-get-status-completed",
      "sep-2663-tool-error-uses-completed-status",
      "sep-2663-tasks-get-status-failed",
      "sep-2663-cancel-ack-empty-result",
      "tasks-cancel-terminal-idempotent-ack",
    ),
  },
  "tasks-capability-negotiation": {
    runs: latest,
    without: all(
      noTasks,
      "tasks-extension-advertised",
      "sep-2663-tasks-methods-non-declaring",
      "sep-2663-server-rejects-undeclared-client",
      "tasks-per-request-meta-opt-in",
    ),
  },
  "tasks-wire-fields": {
    runs: latest,
    without: all(
      noTasks,
      "tasks-wire-field-renames",
      "tasks-no-early-ttl-expiry",
      "tasks-no-related-task-meta-on-inlined-result",
    ),
  },
  "tasks-request-state-removal": { runs: latest, without: all(noTasks, "tasks-request-state-removal-setup") },
  "tasks-mrtr-input": {
    runs: latest,
    without: all(
      noTasks,
      "sep-2663-tasks-get-status-input-required",
      "tasks-mrtr-tasks-update-resumes",
      "tasks-mrtr-partial-fulfillment",
    ),
  },
  "tasks-request-headers": {
    runs: latest,
    without: all(
      noTasks,
      "tasks-headers-tolerate-mcp-method-on-tools-call",
      "sep-2663-routing-headers-accepted-on-tasks-get",
      "sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",
    ),
  },
  "tasks-dispatch-and-envelope": {
    runs: latest,
    without: all(
      noTasks,
      "tasks-server-directed-creation-no-hint",
      "sep-2663-legacy-task-param-ignored",
      "tasks-immediate-result-shortcut",
      "tasks-result-type-complete-on-non-task-responses",
      "sep-2663-durable-create-strong-consistency",
      "sep-2663-tasks-get-invalid-task-id-32602",
    ),
  },
  "tasks-status-notifications": { runs: latest, without: all(noChannel, "tasks-status-notifications") },
  "tasks-required-task-error": {
    runs: latest,
    without: all(noTasks, "sep-2663-server-returns-missing-capability-when-required"),
  },
  "tasks-mrtr-composition": { runs: latest, without: all(noTasks, "sep-2663-mrtr-synchronous-before-task-creation") },
  "http-header-validation": { runs: latest },
  "http-custom-header-server-validation": {
    runs: latest,
    without: all(
      noHeaders,
      "sep-2243-server-no-xmcp-tool",
      "sep-2243-server-decode-base64",
      "sep-2243-server-validate-param-match",
      "sep-2243-server-reject-invalid-param-chars",
      "sep-2243-server-reject-param-mismatch",
    ),
  },
};
