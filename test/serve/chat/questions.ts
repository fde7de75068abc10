/**
 * What a model asks the memory in `entries.ts` for, in its own words, after something that the user has said. Each
 * question has one right entry. No question and no entry was changed after the search had answered, and none may be:
 * a question that is made to fit the search says nothing about it.
 */
import type { EntryType } from "./entries.ts";

export interface Question {
  readonly query: string;
  readonly type?: EntryType;
  /** The only entry with the answer. */
  readonly name: string;
  /** The answer, as the entry's body has it. */
  readonly fact: string;
}

export const questions: readonly Question[] = [
  { query: "how to undo a bad production release", name: "harborRollback", fact: "harborctl promote --previous" },
  { query: "deploying the blog", name: "deploy-blog", fact: "make publish" },
  { query: "phone number of Anna who does the taxes", name: "anna-berger", fact: "040 555 0142" },
  { query: "cancelling a violin lesson", name: "anna-lindgren", fact: "less than a day ahead" },
  { query: "Momo tablets dosage", name: "momo-thyroid", fact: "thiamazole" },
  { query: "noodle place that only takes cash", name: "ramen_zuru", fact: "spicy miso" },
  { query: "restaurant for dinner with vegetarians", name: "supraGeorgian", fact: "khachapuri" },
  { query: "how to quit the gym membership", name: "contract-gym", fact: "four weeks ahead" },
  { query: "mocking in tests", type: "feedback", name: "no-mocks-for-database", fact: "Start a container" },
  { query: "text editor for remote servers", name: "neovimOnServers", fact: "no language server" },
  { query: "where are the GitHub backup codes", name: "recovery_codes", fact: "fireproof box" },
  { query: "medication allergies", name: "penicillinAllergy", fact: "macrolide" },
  {
    query: "choice of database for shipment events",
    type: "project",
    name: "decision-shipment-store",
    fact: "auditors",
  },
  { query: "carrier price increase in January", name: "meeting-carrier-prices", fact: "400 boxes" },
  { query: "preferred train seat", type: "user", name: "trainSeats", fact: "Facing forward" },
  { query: "port of the primary PostgreSQL server", type: "reference", name: "host-atlas", fact: "5433" },
  { query: "hydration of the bread dough", name: "sourdough-loaf", fact: "Autolyse" },
  { query: "Welche Kündigungsfrist hat die Wohnung?", name: "mietvertrag-wohnung", fact: "drei Monaten" },
  { query: "Omas Rezept mit Beeren", name: "roteGruetzeOma", fact: "Johannisbeeren" },
  { query: "祖母に誕生日プレゼントを買う", name: "obaachan-gift", fact: "ひざ掛け" },
];
