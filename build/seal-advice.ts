/** Advice for the author of a module that is not a valid plugin: what to change. */

/** The first pattern that matches a clause of `shared/plugin-shape.ts` is used. */
const advices: readonly (readonly [clause: RegExp, advice: string])[] = [
  [
    /^it imports \w+ "wasi_/,
    "no plugin has WASI: build for wasm32-unknown-unknown, without the parts of a library that read files, clocks, " +
      "randomness or the environment, or print",
  ],
  [/^it imports function "env" "abort"/, "AssemblyScript: use a function of your own, --use abort=FILE/FUNCTION"],
  [/^it imports function "env" "(seed|trace|Date)/, "remove the code that needs it: randomness, traces and dates"],
  [
    /^it imports function "env"/,
    "the function is declared but not defined; to declare a function of the host, name its module, " +
      '"extism:host/env" or "extism:host/user"',
  ],
  [/no tool asks for the right/, "add the right to the tool in family.ts, or remove the call"],
  [
    /^its manifest asks for "\w+", which it does not import/,
    "remove the right from the tools in family.ts, or call the function",
  ],
  [/^it imports memory|does not define exactly one memory/, 'define one memory and export it as "memory"'],
  [
    /start function/,
    "no code may run before a call: no statements outside functions except constants (AssemblyScript), no constructors (C++)",
  ],
  [
    /to unlimited pages/,
    "give the memory a maximum: --maximumMemory 64 (AssemblyScript), -C link-arg=--max-memory=4194304 (Rust), " +
      "-Wl,--max-memory=4194304 (clang)",
  ],
  [/^it exports function "_(start|initialize)"/, "build a library, not a program: cdylib (Rust), --no-entry (clang)"],
  [/^it exports/, "remove it from the exports, or declare a tool of this export in family.ts"],
  [/^its manifest names "\w+", which it does not export/, "export a function of this name, () -> i32"],
];

/** Returns `null` when the clause needs no advice. */
export function adviceFor(clause: string): string | null {
  return advices.find(([pattern]) => pattern.test(clause))?.[1] ?? null;
}
