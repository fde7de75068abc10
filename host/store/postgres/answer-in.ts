import type { ReadAnswers, ReadQuestion } from "../bridge/read-question.ts";
import type { HeldHome } from "./held-home.ts";

/** Answers a thread that reads a home. */
export function answerIn(
  home: HeldHome,
  { asked, scope, path }: Pick<ReadQuestion, "asked" | "scope" | "path">,
): Promise<ReadAnswers[typeof asked]> {
  switch (asked) {
    case "read":
      return home.bytesOf(scope, path);
    case "list":
      return home.list(scope, path);
    case "sizeOf":
      return home.sizeOf(scope, path);
    case "scopeSize":
      return home.scopeSize(scope);
  }
}
