/** Notes that are not `<name>.md`, and names made of texts. Deferred (`build/README.md`): few calls need them. */
export { unfitAmong } from "./fit-paths.ts";
export { asciiOf, freeName, nameFrom } from "./name-from.ts";
export { longName, notePathOf, shortName } from "./note-name.ts";
