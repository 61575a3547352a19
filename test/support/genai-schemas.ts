import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** The attributes that are lists of messages, parts and definitions, as JSON. */
export const LISTS = [
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.system_instructions',
  'gen_ai.tool.definitions',
] as const;

const ROLES: readonly unknown[] = ['system', 'user', 'assistant', 'tool'];
/** Fields that a part must have besides its type, with their types. */
const PARTS: Readonly<Record<string, Readonly<Record<string, 'string' | 'anything'>>>> = {
  text: { content: 'string' },
  reasoning: { content: 'string' },
  tool_call: { name: 'string' },
  tool_call_response: { response: 'anything' },
  uri: { modality: 'string', uri: 'string' },
  // generic parts: omitted content by kind
  media: { modality: 'string', size: 'anything' },
  raw: {},
};

type Json = Readonly<Record<string, unknown>>;

/** Violations of the JSON schemas of the GenAI conventions in the lists of spans. */
export function malformedIn(spans: readonly ReadableSpan[]): readonly string[] {
  return spans.flatMap(({ name, attributes }) =>
    LISTS.flatMap((list) => {
      const text = attributes[list];
      if (text === undefined) return [];
      if (typeof text !== 'string') return [`${name}: ${list} is no text`];
      return problemsOf(list, text).map((problem) => `${name}: ${list}: ${problem}`);
    }),
  );
}

function problemsOf(list: (typeof LISTS)[number], text: string): readonly string[] {
  const entries = parsed(text);
  if (!Array.isArray(entries)) return [`no list: ${text.slice(0, 60)}`];
  switch (list) {
    case 'gen_ai.system_instructions':
      return entries.flatMap((part) =>
        isPart(part as Json) ? [] : [`no part: ${JSON.stringify(part)}`],
      );
    case 'gen_ai.tool.definitions':
      return entries.flatMap((tool) =>
        isDefinition(tool as Json) ? [] : [`no definition: ${JSON.stringify(tool)}`],
      );
    default:
      return entries.flatMap((message) =>
        messageProblems(message as Json, list === 'gen_ai.output.messages'),
      );
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageProblems(
  { role, parts, finish_reason: reason }: Json,
  isOutput: boolean,
): readonly string[] {
  if (!ROLES.includes(role)) return [`no role: ${String(role)}`];
  if (isOutput && (role !== 'assistant' || typeof reason !== 'string' || reason === ''))
    return [`no answer: ${String(role)}, ${String(reason)}`];
  if (!Array.isArray(parts)) return ['no parts'];
  return parts.flatMap((part) =>
    isPart(part as Json) ? [] : [`no part: ${JSON.stringify(part).slice(0, 80)}`],
  );
}

function isPart(part: Json): boolean {
  const fields = PARTS[String(part['type'])];
  if (!fields) return false;
  return Object.entries(fields).every(
    ([name, kind]) => name in part && (kind === 'anything' || typeof part[name] === kind),
  );
}

function isDefinition({ type, name, description, parameters }: Json): boolean {
  return (
    type === 'function' &&
    typeof name === 'string' &&
    typeof description === 'string' &&
    parameters !== undefined
  );
}
