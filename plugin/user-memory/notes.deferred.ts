/** Notes that are not `<name>.md`. Deferred (`build/README.md`): most folders have none. */
export { unfitAmong } from "./fit-paths.ts";
export { latinIn, longName, notePathOf, shortName } from "./note-name.ts";
