/** The part of commander that memcell uses, and the only file that imports it. */
export { Command as Parser, CommanderError, Option } from "commander";
