import { canonicalJson, type JsonValue } from '../../core/internal/json.js';
import { isPlainObject } from '../../core/internal/options.js';
import { readObjects, toWrittenCalls, type WrittenCall } from './written-calls.js';

/** Form in which a model writes the tools that it wants to call. */
export type PlanFormat = 'json' | 'tagged' | 'react';

/** A pattern, and one of its unfinished beginnings at the end of a text. */
export interface Opening {
  readonly whole: RegExp;
  readonly partial: RegExp;
}

/** Form of calls and results in one conversation. */
export interface PlanSyntax {
  /** Example of a call, with its explanation, for the model. */
  readonly explanation: string;
  /** Beginning of a plan: from here on nothing is shown. */
  readonly opening: Opening;
  /** Beginning of a plain answer after thoughts, in formats that have one. */
  readonly answer?: Opening;
  /** A mark of a plan, wherever it stands. */
  readonly mark: RegExp;
  readonly writeCalls: (calls: readonly { name: string; arguments: JsonValue }[]) => string;
  /** @param results JSON objects as text */
  readonly writeResults: (results: readonly string[]) => string;
  /** The calls of a plan, its problem, or undefined for other text. */
  readonly readCalls: (plan: string) => readonly WrittenCall[] | string | undefined;
}

/** Marks of a format in any text, with their number. */
const MARKS: Readonly<Record<PlanFormat, RegExp>> = {
  json: /tool_(?:calls|results)(?:_(\d+))?/g,
  tagged: /tool_(?:call|result)(?:_(\d+))?/g,
  react: /(?:Action|Observation)(?:_(\d+))?(?: Input)?:/g,
};

/**
 * The syntax for a conversation. Marks that one of its texts contains get a number that none has:
 * a model that quotes a text does not call a tool by that.
 */
export function syntaxFor(format: PlanFormat, texts: Iterable<string>): PlanSyntax {
  const taken = new Set<string>();
  for (const text of texts)
    for (const [, number = '1'] of text.matchAll(MARKS[format])) taken.add(number);
  let number = 1;
  while (taken.has(String(number))) number++;
  return SYNTAXES[format](number === 1 ? '' : `_${number}`);
}

const FENCE = '(?:`{3,8}[\\w+-]{0,20}\\s{0,20})?';
const LONE_FENCE = '(?:`{1,8}[\\w+-]{0,20}\\s{0,20})?';
const TWO_PLANS = 'there are two different plans; write one with all calls';
const OUTSIDE = 'a part of a call stands outside of the form that is described';

/** @param tokens patterns of one character or more, in order */
function openingOf(alternatives: readonly (readonly string[])[], fence = ''): Opening {
  const partials = alternatives.map((tokens) =>
    tokens.reduceRight((rest, token) => `(?:${token}${rest})?`, ''),
  );
  const wholes = alternatives.map((tokens) => tokens.join(''));
  return {
    whole: new RegExp(`${fence && FENCE}(?:${wholes.join('|')})`),
    partial: new RegExp(`${fence && LONE_FENCE}(?:${partials.join('|')})$`),
  };
}

const SYNTAXES: Readonly<Record<PlanFormat, (suffix: string) => PlanSyntax>> = {
  json: (suffix) => {
    const [calls, results] = [`tool_calls${suffix}`, `tool_results${suffix}`];
    const mark = new RegExp(`${calls}(?!\\w)`);
    const start = new RegExp(`(?=\\{\\s{0,20}"${calls}")`, 'g');
    const result = new RegExp(`"${results}"`);
    return {
      explanation: `To call tools, answer with one JSON object and nothing else:
{"${calls}": [{"name": "name of a tool", "arguments": {"name of an argument": "value"}}]}
Results follow in a message that begins with {"${results}":`,
      opening: openingOf([['\\{', '\\s{0,20}', '"', ...calls, '"']], FENCE),
      mark,
      writeCalls: (list) => JSON.stringify({ [calls]: list }),
      writeResults: (list) => `{"${results}": [${list.join(',\n')}]}`,
      readCalls: (plan) => {
        const read = readObjects(plan, start, result);
        if (typeof read === 'string') return read;
        if (mark.test(read.rest)) return OUTSIDE;
        const plans = read.objects.map(({ value }) => (isPlainObject(value) ? value[calls] : []));
        const keys = new Set(plans.map((each) => canonicalJson((each ?? null) as JsonValue)));
        if (keys.size > 1) return TWO_PLANS;
        return toWrittenCalls(plans.slice(0, 1).flat());
      },
    };
  },

  tagged: (suffix) => {
    const [call, result] = [`tool_call${suffix}`, `tool_result${suffix}`];
    const start = new RegExp(`<${call}>\\s*${FENCE}(?=\\{)`, 'g');
    const results = new RegExp(`<${result}>`);
    const mark = new RegExp(`<\\s*${call}(?!\\w)`);
    return {
      explanation: `To call tools, write for each call, and nothing else:
<${call}>
{"name": "name of a tool", "arguments": {"name of an argument": "value"}}
</${call}>
Results follow in a message with <${result}>`,
      opening: openingOf([[...`<${call}>`]], FENCE),
      mark,
      writeCalls: (list) =>
        list.map((each) => `<${call}>\n${JSON.stringify(each)}\n</${call}>`).join('\n'),
      writeResults: (list) => list.map((each) => `<${result}>\n${each}\n</${result}>`).join('\n'),
      readCalls: (plan) => {
        const read = readObjects(plan, start, results);
        if (typeof read === 'string') return read;
        if (mark.test(read.rest)) return OUTSIDE;
        return toWrittenCalls(read.objects.map(({ value }) => value));
      },
    };
  },

  react: (suffix) => {
    const [action, observation] = [`Action${suffix}`, `Observation${suffix}`];
    const line = `\\n[ \\t]{0,8}`;
    const start = new RegExp(
      `${line}${action}:([^\\n]*)\\n\\s*${action} Input:\\s*${FENCE}(?=\\{)`,
      'g',
    );
    const results = new RegExp(`${line}${observation}:`);
    const mark = new RegExp(`(?:^|\\n)[ \\t*]*${action}(?: Input)?[ \\t*]*:`);
    const lines = ['Thought:', `${action}:`, 'Final Answer:'].map((label) => [
      '\\n',
      '[ \\t]{0,8}',
      ...label,
    ]);
    return {
      explanation: `To call a tool, write these lines and nothing after them, again for each further call:
Thought: why the call is needed
${action}: name of a tool
${action} Input: {"name of an argument": "value"}
Results follow in lines that begin with "${observation}:". To answer, write:
Final Answer: the answer`,
      opening: openingOf(lines),
      answer: openingOf(lines.slice(2)),
      mark,
      writeCalls: (list) =>
        list
          .map(
            (call) => `${action}: ${call.name}\n${action} Input: ${JSON.stringify(call.arguments)}`,
          )
          .join('\n'),
      writeResults: (list) => list.map((each) => `${observation}: ${each}`).join('\n'),
      readCalls: (plan) => {
        const read = readObjects(plan, start, results);
        if (typeof read === 'string') return read;
        if (mark.test(read.rest)) return OUTSIDE;
        if (read.objects.length === 0) return undefined;
        if (/\n[ \t]*Final Answer:/.test(read.rest))
          return 'it both calls a tool and gives the final answer';
        return toWrittenCalls(
          read.objects.map(({ name, value }) => ({ name: name?.trim(), arguments: value })),
        );
      },
    };
  },
};
