/** The text search. Deferred (`build/README.md`): few calls need it. */
export { searchFiles } from "../search/search-files.ts";
