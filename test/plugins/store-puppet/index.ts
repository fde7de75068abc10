import { puppet } from "../puppet/index.ts";

export const store_puppet: () => number = puppet;
export const reading_store_puppet: () => number = puppet;
export const searching_store_puppet: () => number = puppet;
export const blind_store_puppet: () => number = puppet;
