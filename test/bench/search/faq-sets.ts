/** Questions and answers that people wrote, from Debian's packages. The texts are the answers without their questions. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** Texts, and questions of which each is answered by one of them. */
export interface QuestionSet {
  readonly name: string;
  readonly texts: readonly { readonly id: number; readonly value: string }[];
  readonly questions: readonly { readonly question: string; readonly id: number }[];
}

interface Answered {
  readonly question: string;
  readonly answer: string;
}

function questionSet(name: string, answered: readonly Answered[]): QuestionSet {
  return {
    name,
    texts: answered.map(({ answer }, id) => ({ id, value: answer })),
    questions: answered.map(({ question }, id) => ({ question, id })),
  };
}

const perl = "/usr/share/perl";

/** Perl's questions, `perlfaq1` to `perlfaq9`. */
export function perlFaq(): QuestionSet {
  const folders = readdirSync(perl).map((version) => `${perl}/${version}/pod`);
  const folder = folders.find((each) => existsSync(`${each}/perlfaq1.pod`)) ?? "";
  const pods = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => readFileSync(`${folder}/perlfaq${number}.pod`, "utf8"));
  return questionSet("Perl FAQ", pods.flatMap(answeredInPod));
}

function answeredInPod(pod: string): Answered[] {
  return pod
    .split(/^=head2 /m)
    .slice(1)
    .map((section) => {
      const [question = "", ...lines] = section.split("\n");
      const answer = lines
        .join("\n")
        .replace(/^X<.*>$/gm, "")
        .replace(/^=head1[^]*/m, "");
      return { question, answer: answer.trim() };
    });
}

export const debianLanguages = {
  en: "English",
  de: "German",
  ja: "Japanese",
  "zh-cn": "Chinese",
  ko: "Korean",
} as const;

/** Debian's questions. Sections almost without text, which only have subsections, are left out. */
export function debianFaq(language: keyof typeof debianLanguages): QuestionSet {
  const text = gunzipSync(readFileSync(debianFaqFile(language))).toString();
  const parts = text.split(/^(\d+\.\d+(?:\.\d+)?\.\s.*(?:\n(?!\n).*)*)\n\n/m).slice(1);
  const answered = parts.flatMap((question, at): Answered[] => {
    const answer = (parts[at + 1] ?? "").trim();
    return at % 2 === 0 && answer.length > 60
      ? [{ question: question.replace(/^[\d.]+\s/, "").replace(/\s+/g, " "), answer }]
      : [];
  });
  return questionSet(`Debian FAQ, ${debianLanguages[language]}`, answered);
}

export const debianFaqFile = (language: keyof typeof debianLanguages): string =>
  `/usr/share/doc/debian/FAQ/debian-faq.${language}.txt.gz`;
