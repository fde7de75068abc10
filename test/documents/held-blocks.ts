/**
 * For every block of a document that shows output, a file, a message or a request, in their order: the test that makes
 * it again, or reads it, and compares. The examples in the pages of tools are held by `tool-pages.test.ts`.
 */
export const heldBlocks: Readonly<Record<string, readonly string[]>> = {
  "README.md": ["test/cli/readme.test.ts", "test/cli/readme.test.ts", "test/serve/documents.test.ts"],
  "host/audit/README.md": [
    "test/audit/records.test.ts",
    "test/audit/records.test.ts",
    "test/audit/caller-fields.test.ts",
  ],
  "host/config/README.md": ["test/serve/documents.test.ts"],
  "host/owner/YOUR-MEMORY.md": Array.from({ length: 8 }, () => "test/cli/story.slow.test.ts"),
  "host/plugins/policy/README.md": [
    "test/cli/room-readmes.test.ts",
    "test/cli/room-readmes.test.ts",
    "test/cli/room-readmes.test.ts",
  ],
  "host/polyglot/README.md": ["test/polyglot/every-host.test.ts", "test/polyglot/every-host.test.ts"],
  "host/report/README.md": ["test/cli/room-readmes.test.ts"],
  "host/runtime/README.md": ["test/cli/room-readmes.test.ts"],
  "host/serve/README.md": ["test/serve/origins.test.ts"],
  "host/serve/http/README.md": ["test/audit/refusals.test.ts"],
  "host/serve/storage/README.md": ["test/serve/storage/agent-keys.test.ts"],
  "plugin/README.md": ["test/build/seal-module.slow.test.ts"],
  "plugin/stores/memory.md": ["test/documents/tool-pages.test.ts"],
  "shared/README.md": [
    "test/documents/specification.test.ts",
    "test/documents/specification.test.ts",
    "test/documents/specification.test.ts",
    "test/documents/specification.test.ts",
  ],
  "shared/anthropic/README.md": ["test/run-history/documents.test.ts"],
  "shared/langgraph/README.md": ["test/run-history/documents.test.ts"],
  "shared/run-history/README.md": ["test/run-history/documents.test.ts"],
  "test/agentool/README.md": ["test/agentool/errors.slow.test.ts"],
  "test/conformance/README.md": ["test/conformance/vector-coverage.test.ts"],
};
