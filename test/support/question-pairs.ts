import type { EmbeddingModel, EmbeddingResponse } from '../../src/index.js';
import { seededHash } from '../../src/core/internal/text.js';

/** A question that is asked first, and one that is asked after it. */
export type QuestionPair = readonly [string, string];

/** Values that differ in one fact, and templates of questions around them. */
interface Differences {
  readonly values: readonly QuestionPair[];
  readonly templates: readonly string[];
}

const NUMBERS: Differences = {
  values: [
    ['5 km', '6 km'],
    ['10 %', '100 %'],
    ['$20', '€20'],
    ['1.5', '15'],
    ['three', 'four'],
    ['.5 mg', '5 mg'],
    ['-3', '3'],
    ['7 days', '7 weeks'],
    ['1,000', '10,000'],
    ['v2.1', 'v2.2'],
  ],
  templates: [
    'How much is {} in the other unit?',
    'Is {} enough for all of us?',
    'Wie viel ist {} im Monat?',
    'Combien coûte {} en moyenne ?',
    '¿Cuánto es {} al final?',
  ],
};

const NAMES: Differences = {
  values: [
    ['Paris', 'London'],
    ['Anna', 'Hannah'],
    ['iPhone', 'Pixel'],
    ['"foo"', '"bar"'],
    ['Anna and Ben', 'Ben and Anna'],
    ['Acme GmbH', 'Apex GmbH'],
    ['New York', 'New Delhi'],
    ['Anna Berg', 'Anna Burg'],
    ['paris', 'lyon'],
    ['北京', '上海'],
  ],
  templates: [
    'What should I know about {}?',
    '{} or something else: which is best?',
    'Wer kennt {} am besten?',
    'Que dit-on de {} ?',
    'Please tell me about {} in detail.',
  ],
};

const DATES: Differences = {
  values: [
    ['3 May', '4 May'],
    ['March 2024', 'March 2025'],
    ['Monday', 'Tuesday'],
    ['monday', 'friday'],
    ['2024-05-01', '2024-05-02'],
    ['5 de mayo', '5 de junio'],
    ['le 5 mai', 'le 5 juin'],
    ['today', 'tomorrow'],
    ['10:30', '11:30'],
    ['im Januar', 'im Februar'],
  ],
  templates: [
    'Is the shop open on {}?',
    'What happened on {} in the city?',
    'Hat das Büro {} geöffnet?',
    'Le musée est ouvert {} ?',
    'Will there be a train {} or afterwards?',
  ],
};

const NEGATIONS: Differences = {
  values: [
    ['is safe', 'is not safe'],
    ['can swim', "can't swim"],
    ['works with sugar', 'works without sugar'],
    ['always works', 'never works'],
    ['is possible', 'is impossible'],
    ['does work', 'doesn’t work'],
    ['ist erlaubt', 'ist nicht erlaubt'],
    ['a du sel', "n'a pas de sel"],
    ['tiene azúcar', 'no tiene azúcar'],
    ['可以', '不可以'],
  ],
  templates: [
    'Explain why it {} here.',
    'Why is it true that it {} for children?',
    'Stimmt es, dass es {}?',
    'Est-ce que cela {} ?',
    'The manual claims that it {}; why?',
  ],
};

/** 200 pairs of questions that differ in one number, name, date or negation. */
export const DIFFERENT_PAIRS: readonly QuestionPair[] = [NUMBERS, NAMES, DATES, NEGATIONS].flatMap(
  ({ values, templates }) =>
    values.flatMap(([one, other]) =>
      templates.map((each) => [each.replace('{}', one), each.replace('{}', other)] as const),
    ),
);

/** Questions, each with a synonym and with another wording. */
// prettier-ignore
const QUESTIONS: readonly (readonly [question: string, synonym: string, wording: string])[] = [
  ['How do I reset the password?', 'How do I renew the password?', 'I forgot the password, what now?'],
  ['What is the capital of France?', 'What is the main city of France?', 'Which city is the capital of France?'],
  ['How do I cancel the order?', 'How do I revoke the order?', 'I want to cancel the order.'],
  ['What is the best time to visit Rome?', 'What is the ideal time to visit Rome?', 'When should one visit Rome?'],
  ['How do I bake bread in the oven?', 'How do I make bread in the oven?', 'Which steps does bread in the oven take?'],
  ['Where is the nearest pharmacy?', 'Where is the closest pharmacy?', 'I need the nearest pharmacy.'],
  ['What is the refund policy?', 'What is the return policy?', 'Can I get the money back?'],
  ['How do I change the delivery address?', 'How do I edit the delivery address?', 'The delivery address is wrong, what now?'],
  ['Why is the sky blue?', 'What makes the sky blue?', 'The sky is blue: for what reason?'],
  ['What is the meaning of the word irony?', 'What is the sense of the word irony?', 'Define the word irony.'],
  ['How do I export the report as PDF?', 'How do I save the report as PDF?', 'The report as PDF: where is the button?'],
  ['Where is the invoice of 2024?', 'Where is the bill of 2024?', 'I am looking for the invoice of 2024.'],
  ['What is the price of the basic plan?', 'What is the cost of the basic plan?', 'How expensive is the basic plan?'],
  ['How do I contact the support?', 'How do I reach the support?', 'Which ways lead to the support?'],
  ['What is the difference between the plans?', 'What is the distinction between the plans?', 'How do the plans compare?'],
  ['How do I install the driver on Linux?', 'How do I set up the driver on Linux?', 'Steps to install the driver on Linux'],
  ['When is the office open?', 'When is the office accessible?', 'What are the hours of the office?'],
  ['What is the size limit of the upload?', 'What is the maximum size of the upload?', 'How large may the upload be?'],
  ['How do I remove the stain from the carpet?', 'How do I clean the stain from the carpet?', 'The carpet has a stain, what helps?'],
  ['What is the weather in Oslo like?', 'What is the climate in Oslo like?', 'Tell me about the weather in Oslo.'],
];

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Ways to write the same question, by kind. */
const WAYS: Readonly<Record<string, (question: string) => string>> = {
  'no mark at the end': (text) => text.replace('?', ''),
  'lower case': lowerFirst,
  thanks: (text) => `${text} Thanks!`,
  greeting: (text) => `Hello, ${lowerFirst(text)}`,
  'tell me': (text) => `Could you please tell me ${lowerFirst(text)}`,
  contraction: (text) =>
    text.replace(/^(What|Where|When|Why) is/, "$1's").replace('How do I', 'How can I'),
  'no article': (text) => text.replace(/ the /, ' '),
  typography: (text) => text.replace('?', ' ？').replaceAll(' ', '  '),
};

/** 200 pairs of questions that ask for the same. */
export const PARAPHRASES: readonly QuestionPair[] = QUESTIONS.flatMap(
  ([question, synonym, wording]) => [
    ...Object.values(WAYS).map((write) => [question, write(question)] as const),
    [question, synonym] as const,
    [question, wording] as const,
  ],
);

const DIMENSIONS = 64;

/** Embeds texts by their trigrams, so that any two of them are very similar: at least 0.96. */
export class SimilarEmbedding implements EmbeddingModel {
  /** All texts so far. */
  readonly texts: string[] = [];

  async embed(texts: readonly string[]): Promise<EmbeddingResponse> {
    this.texts.push(...texts);
    const usage = { inputTokens: texts.length, outputTokens: 0, totalTokens: texts.length };
    return { vectors: texts.map(vectorOf), usage, model: 'trigrams' };
  }
}

function vectorOf(text: string): Float32Array {
  const counts = new Float32Array(DIMENSIONS);
  for (let at = 0; at < text.length; at++) {
    const index = 1 + (Math.abs(seededHash(text.slice(at, at + 3), 7)) % (DIMENSIONS - 1));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  const length = Math.hypot(...counts) || 1;
  const vector = counts.map((count) => count / length);
  vector[0] = 5;
  return vector;
}
