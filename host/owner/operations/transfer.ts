import * as z from "../../../shared/zod.ts";
import { defineOperation } from "../define-operation.ts";
import { exportUser } from "../export.ts";
import { flag, listOf, optional, passed, text } from "../field.ts";
import { fileFault, memoryFiles, memoryFilesExpected } from "../import-files.ts";
import { importFiles, planFiles } from "../import.ts";
import type { OnProgress } from "../memory-files.ts";
import type { Operation } from "../operation.ts";

// The commands "export" and "import" read and write files: they do more than one operation.

const isFunction = (value: unknown): boolean => typeof value === "function";
const progress = z.unknown().check(z.refine(isFunction)) as unknown as z.ZodMiniType<OnProgress>;

export const exportMemory = defineOperation({
  name: "export",
  action: "export a user's memory",
  changes: false,
  fields: {
    scopes: listOf(text("NAME", "a scope to export (default: all scopes of the user)")),
    onProgress: optional(passed(progress, "a function")),
  },
  run: exportUser,
});

const asked = {
  files: passed(memoryFiles, memoryFilesExpected),
  scopes: listOf(text("NAME", "a scope to import (default: all scopes)")),
  replace: flag("moves existing entries with other content to the trash; without it, the import is refused"),
};

type Asked = Parameters<typeof importFiles>[2] & { readonly files: Parameters<typeof importFiles>[1] };

export const importMemory = defineOperation({
  name: "import",
  action: "import a user's memory",
  changes: true,
  fields: asked,
  check: fileFault,
  run: (operation: Operation, { files, ...options }: Asked) => importFiles(operation, files, options),
  plan: {
    name: "planImport",
    action: "plan an import",
    changes: true,
    run: (operation: Operation, { files, ...options }: Asked) => planFiles(operation, files, options),
  },
});
