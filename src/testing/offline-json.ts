import type { JsonSchema } from '../chat/tool-definition.js';
import { fillArguments } from './offline-arguments.js';
import { factsOf } from './offline-facts.js';
import { parametersOf } from './offline-parameters.js';
import { completeFromResults } from './offline-results.js';
import type { Turn } from './offline-turn.js';

/** An answer as JSON: what results and question say about the properties of the schema. What nobody said is left out. */
export function jsonReply({ question, answered }: Turn, schema: JsonSchema): string {
  const missing = parametersOf(schema);
  const results = answered.filter((call) => !call.isError);
  const args = missing.reduce(
    (found, parameter) => ({ ...found, ...completeFromResults({ args: {}, missing: [parameter], isOwn: false }, results)[0] }),
    {},
  );
  const facts = factsOf(question, () => false);
  const scope = { text: question, facts, start: 0, end: question.length, isToolWord: () => false, rivals: [], mayQuote: () => true };
  return JSON.stringify({ ...fillArguments(missing, scope)[0]?.args, ...args });
}
