/** The page's one style sheet. It names no font, picture or other file. */
import { colourStyle } from "./style-colours.ts";
import { layoutStyle } from "./style-layout.ts";
import { printStyle } from "./style-print.ts";
import { tableStyle } from "./style-tables.ts";
import { timelineStyle } from "./style-timeline.ts";

export const styleSheet: string = [colourStyle, layoutStyle, tableStyle, timelineStyle, printStyle].join("");
