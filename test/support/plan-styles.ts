import { planOf, type Format } from './prompted-tools.js';

/** A call that a model should write. */
export interface WantedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Outcome for an answer: its call runs, another one is asked for, or it is the answer. */
export type Fate = 'runs' | 'asked again' | 'answers';

interface Style {
  readonly fate: Fate;
  readonly write: (call: WantedCall, format: Format) => string;
}

const plan = ({ name, arguments: args }: WantedCall, format: Format): string =>
  planOf(format, name, args);
const fenced = (text: string): string => `\`\`\`json\n${text}\n\`\`\``;
const isJson = (format: Format): boolean => format !== 'react';

/** Ways in which models write a call, and ways in which they fail to. */
export const STYLES: Readonly<Record<string, Style>> = {
  plain: { fate: 'runs', write: plan },
  fenced: {
    fate: 'runs',
    write: (call, format) =>
      isJson(format)
        ? fenced(plan(call, format))
        : plan(call, format).replace(
            /Input: (.*)/,
            (_all, json: string) => `Input:\n${fenced(json)}`,
          ),
  },
  'prose around': {
    fate: 'runs',
    write: (call, format) =>
      `Sure! I need {one} tool for that:\n\n${plan(call, format)}\n\nI will wait.`,
  },
  'trailing commas': {
    fate: 'runs',
    write: (call, format) =>
      plan(call, format).replace(/(?<=["\d\w}\]])(\s*\})(?=\]?\}?(?:\n|$))/, ',$1'),
  },
  'after thinking with a draft': {
    fate: 'runs',
    write: (call, format) =>
      `<think>Perhaps ${planOf(format, 'other', {})}?</think>\n${plan(call, format)}`,
  },
  'twice the same': {
    fate: 'runs',
    write: (call, format) =>
      format === 'json' ? `${plan(call, format)}\n${plan(call, format)}` : plan(call, format),
  },
  'with invented results': {
    fate: 'runs',
    write: (call, format) => {
      const results = {
        json: '{"tool_results": [1]}',
        tagged: '<tool_result>1</tool_result>',
        react: 'Observation: 1',
      };
      return `${plan(call, format)}\n${results[format]}\n${planOf(format, 'other', {})}`;
    },
  },
  'a wrong name': {
    fate: 'asked again',
    write: ({ name, arguments: args }, format) => planOf(format, `functions.${name}`, args),
  },
  'two plans': {
    fate: 'asked again',
    write: (call, format) =>
      `Either ${plan(call, format)}\n${format === 'react' ? 'Final Answer: or not' : `or\n${planOf(format, 'other', {})}`}`,
  },
  'a plan that is cut off': {
    fate: 'asked again',
    write: (call, format) => plan(call, format).replace(/\}[^}]*$/, ''),
  },
  'arguments that are no object': {
    fate: 'asked again',
    write: ({ name }, format) => planOf(format, name, ['value']),
  },
  'another form': {
    fate: 'asked again',
    write: ({ name }, format) =>
      ({
        json: `{'tool_calls': [{'name': '${name}'}]}`,
        tagged: `<tool_call name="${name}" />`,
        react: `Action: ${name}()`,
      })[format],
  },
  'no plan': { fate: 'answers', write: () => 'That is {"done": true} already: 42.' },
};
