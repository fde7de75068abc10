import { posix } from "node:path";

import { filesAt, textOf } from "./tracked-files.ts";

/** Whether a path of the documents names something that tests: a vector, or a suite that holds an assertion. */
export const namesTest = (path: string): boolean => filesAt(path).some(isTest);

function isTest(file: string): boolean {
  if (file.includes("/vectors/")) return file.endsWith(".json");
  return file.endsWith(".test.ts") && [file, ...declaringModules(file)].some((each) => hasAssertion(textOf(each)));
}

const hasAssertion = (text: string): boolean => /\bexpect\w*\(|fc\.assert\(/.test(text);

/** The modules beside a suite from which it imports a function that declares its tests, such as `testScripts`. */
function declaringModules(suite: string): string[] {
  const imports = textOf(suite).matchAll(/^import \{[^}]*\btest[A-Z]\w*[^}]*\} from "(\.\/[\w.-]+)";$/gm);
  return Array.from(imports, ([, module = ""]) => posix.join(posix.dirname(suite), module));
}
