/** Texts, and questions of which each is answered by one of them. */
export interface QuestionSet {
  readonly name: string;
  readonly texts: readonly { readonly id: number; readonly value: string }[];
  readonly questions: readonly { readonly question: string; readonly id: number }[];
}

export interface Answered {
  readonly question: string;
  readonly answer: string;
}

export function questionSet(name: string, answered: readonly Answered[]): QuestionSet {
  return {
    name,
    texts: answered.map(({ answer }, id) => ({ id, value: answer })),
    questions: answered.map(({ question }, id) => ({ question, id })),
  };
}
