import type { ToolDefinition } from '../../chat/tool-definition.js';
import { KeywordToolIndex } from '../../tool-indexes/keyword-tool-index.js';
import { valuesIn, wordsOf } from './text-values.js';

/** A part of a question and the tool that fits it. */
export interface ToolRequest {
  readonly tool: ToolDefinition;
  /** Offsets of the part in the question. */
  readonly start: number;
  readonly end: number;
}

/** Ends of sentences, commas, `and` and `then`. */
const SEPARATOR = /(?<=[.!?;])\s+|,\s+(?:(?:and|then)\s+)?|\s+(?:and|then)\s+/gi;
const SESSION = 'question';

/**
 * The tools that fit the parts of a question best, in order. A part without a match belongs to the
 * part before it, or repeats its tool with another value, as in `the weather in Oslo and Rome`.
 */
export function pickTools(
  question: string,
  tools: readonly ToolDefinition[],
): readonly ToolRequest[] {
  const index = new KeywordToolIndex();
  index.index({ session: SESSION, references: tools });
  const starts = valuesIn(question).map(({ start }) => start);
  const requests: ToolRequest[] = [];
  for (const { start, end } of partsOf(question)) {
    const query = question.slice(start, end);
    const { references } = index.search({ session: SESSION, query });
    const found = references.find(({ name }) => namesSubject(query, name));
    const last = requests.at(-1);
    const isRepeated = starts.some((at) => at >= start && at < end) && takesOneValue(last?.tool);
    const tool =
      tools.find(({ name }) => name === found?.name) ?? (isRepeated ? last?.tool : undefined);
    if (tool) requests.push({ tool, start: last ? start : 0, end });
    else if (last) requests.splice(-1, 1, { ...last, end });
  }
  return requests;
}

/** Ignores the verb of a name: many tools get or find something, few get the weather. */
function namesSubject(query: string, name: string): boolean {
  const words = wordsOf(name);
  const asked = wordsOf(query);
  return (words.length > 1 ? words.slice(1) : words).some((word) => asked.includes(word));
}

function partsOf(question: string): readonly Omit<ToolRequest, 'tool'>[] {
  // a quoted text is one value; the mask keeps its length, so that offsets stay correct
  const masked = question.replaceAll(/"[^"]*"/g, (quoted) => '"'.repeat(quoted.length));
  const separators = [...masked.matchAll(SEPARATOR)];
  const starts = [0, ...separators.map(({ 0: separator, index }) => index + separator.length)];
  return starts.map((start, at) => ({ start, end: separators[at]?.index ?? question.length }));
}

function takesOneValue(tool: ToolDefinition | undefined): boolean {
  const { properties, required } = tool?.inputSchema ?? {};
  const takesMore = /"type":"(?:array|object)"/.test(JSON.stringify(properties ?? {}));
  return Array.isArray(required) && required.length === 1 && !takesMore;
}
