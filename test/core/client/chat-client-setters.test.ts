import { expect } from 'chai';
import { AdvisorSpec } from '../../../src/core/client/advisor-spec.js';
import {
  ChatClient,
  ContextKey,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  toolCallingAutoRegister,
  ToolCallingAdvisor,
} from '../../../src/index.js';
import type { PromptSpec } from '../../../src/index.js';
import { AdvisorChainError } from '../../../src/core/errors/errors.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';

/** Calls a method with values that its types forbid, as JavaScript code could. */
function invoke(target: object, method: string, ...values: readonly unknown[]): unknown {
  return Reflect.apply(
    Reflect.get(target, method) as (...args: readonly unknown[]) => unknown,
    target,
    values,
  );
}

const model = new ScriptedChatModel([]);
const spec = (): PromptSpec => ChatClient.create(model).prompt();
const builder = () => ChatClient.builder(model);
const tool = (name: string) => defineTool({ name, execute: () => 'ok' });
const advisor = (name: string) => defineAdvisor({ name, order: 0, before: () => undefined });

/** Setters of a spec, which a builder has with the prefix `default`, with the message of both. */
type Call = (set: (name: string) => (...values: readonly unknown[]) => unknown) => unknown;

const BOTH: readonly (readonly [title: string, call: Call, message: string])[] = [
  [
    '[CLI-36] null as system text',
    (set) => set('system')(null),
    'system(…): text must be a non-blank string, not null',
  ],
  [
    '[CLI-36] a blank system text',
    (set) => set('system')(' \n'),
    'system(…): text must be a non-blank string, not " \\n"',
  ],
  [
    '[CLI-36] a number as system text',
    (set) => set('system')(7),
    'system(…): text must be a non-blank string, not 7',
  ],
  [
    '[CLI-36] null as user text',
    (set) => set('user')(null),
    'user(…): text must be a non-blank string, not null',
  ],
  [
    '[CLI-36] a blank user text',
    (set) => set('user')(''),
    'user(…): text must be a non-blank string, not ""',
  ],
  [
    '[CLI-36] a blank text in a function',
    (set) => set('user')((u: object) => invoke(u, 'text', '')),
    'user(…): text must be a non-blank string, not ""',
  ],
  [
    'a function that returns nothing',
    (set) => set('system')(() => undefined),
    'system(…): the function must return the spec it was given',
  ],
  [
    'a user function that returns another spec',
    (set) => set('user')(() => ({})),
    'user(…): the function must return the spec it was given',
  ],
  [
    '[CLI-37] null as params',
    (set) => set('user')('x', null),
    'user(…): params must be an object of named values, not null',
  ],
  [
    '[CLI-37] an array as params',
    (set) => set('user')('x', [1]),
    'user(…): params must be an object of named values, not an array of 1',
  ],
  [
    '[CLI-37] a Map as params',
    (set) => set('user')('x', new Map()),
    'user(…): params must be an object of named values, not an object',
  ],
  [
    '[CLI-37] a blank name in params',
    (set) => set('user')('x', { ' ': 1 }),
    'user(…): a name in params must be a non-blank string, not " "',
  ],
  [
    '[CLI-37] a null value in params',
    (set) => set('system')('x', { a: null }),
    'system(…): "a" must be a value, not null',
  ],
  [
    '[CLI-37] a null value in param',
    (set) => set('system')((s: object) => invoke(s, 'param', 'a', null)),
    'system(…): "a" must be a value, not null',
  ],
  [
    '[CLI-37] a blank name in param',
    (set) => set('system')((s: object) => invoke(s, 'param', '', 1)),
    'system(…): a name in params must be a non-blank string, not ""',
  ],
  [
    '[CLI-37] an undefined value in metadata',
    (set) => set('user')((u: object) => invoke(u, 'metadata', { a: undefined })),
    'user(…): "a" must be a value, not undefined',
  ],
  [
    '[CLI-37] null as metadata',
    (set) => set('system')((s: object) => invoke(s, 'metadata', null)),
    'system(…): metadata must be an object of named values, not null',
  ],
  [
    'a part without content',
    (set) => set('user')((u: object) => invoke(u, 'image', {})),
    'user(…): content[0] needs `url`, a string, or `data`',
  ],
  [
    'a part of unknown type',
    (set) => set('user')([{ type: 'video' }]),
    'user(…): content[0] has unknown type "video"',
  ],
  ['a list without parts', (set) => set('user')([]), 'user(…): expected at least one part'],
  [
    '[CLI-38] null as message',
    (set) => set('messages')(null),
    'messages(…): message 0: a message must be an object with a role, not null',
  ],
  [
    '[CLI-38] a null among messages',
    (set) => set('messages')({ role: 'user', content: 'x' }, undefined),
    'messages(…): message 1: a message must be an object with a role, not undefined',
  ],
  [
    '[CLI-38] null as options',
    (set) => set('options')(null),
    'options(…): options must be a plain object, not null',
  ],
  [
    'an unknown option',
    (set) => set('options')({ temprature: 1 }),
    'options(…): there is no option `temprature`; did you mean `temperature`?',
  ],
  [
    'an option out of range',
    (set) => set('options')({ topP: 2 }),
    'options(…): topP must be a number from 0 to 1, not 2',
  ],
  [
    'a tool in options without call',
    (set) => set('options')({ tools: [{ definition: { name: 'a' } }] }),
    'tools(…): expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not an object',
  ],
  [
    '[CLI-41] [OPT-08] null as tool',
    (set) => set('tools')(null),
    'tools(…): expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not null',
  ],
  [
    '[CLI-41] a null among tools',
    (set) => set('tools')([tool('a'), null]),
    'tools(…): expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not null',
  ],
  [
    'a plain object as tool',
    (set) => set('tools')({ name: 'a' }),
    'tools(…): expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not an object',
  ],
  [
    '[F23] two tools of one name',
    (set) => set('tools')(tool('a'), tool('b'), tool('a')),
    'two tools have the same name: a. Rename one of them or leave it out.',
  ],
  [
    '[CLI-42] null as tool context',
    (set) => set('toolContext')(null),
    'toolContext(…): values must be an object of named values, not null',
  ],
  [
    '[CLI-42] a null value in a tool context',
    (set) => set('toolContext')({ a: null }),
    'toolContext(…): "a" must be a value, not null',
  ],
  [
    '[CLI-42] a blank name in a tool context',
    (set) => set('toolContext')({ '': 1 }),
    'toolContext(…): a name in values must be a non-blank string, not ""',
  ],
  [
    '[CLI-38] null as advisor',
    (set) => set('advisors')(null),
    'advisors(…): an advisor must be an object with name and order, such as new MessageChatMemoryAdvisor({ chatMemory }), not null',
  ],
  [
    '[CLI-38] a null among advisors',
    (set) => set('advisors')(advisor('a'), undefined),
    'advisors(…): an advisor must be an object with name and order, such as new MessageChatMemoryAdvisor({ chatMemory }), not undefined',
  ],
  [
    'an advisor without name',
    (set) => set('advisors')({ order: 0 }),
    'advisors(…): an advisor must be an object with name and order, such as new MessageChatMemoryAdvisor({ chatMemory }), not an object',
  ],
  [
    'an advisor without order',
    (set) => set('advisors')({ name: 'a' }),
    'advisors(…): advisor "a": order must be a finite number, not undefined',
  ],
  [
    'an advisor that does nothing',
    (set) => set('advisors')({ name: 'a', order: 0 }),
    'advisors(…): advisor "a" needs before, advise, around or adviseToolCall',
  ],
  [
    '[F78] two advisors of one name',
    (set) => set('advisors')(advisor('a'), advisor('a')),
    'two advisors are named "a"; give one of them another name',
  ],
  [
    '[REG-11] two tool loops',
    (set) =>
      set('advisors')(new ToolCallingAdvisor(), {
        name: 'other',
        order: 1,
        role: 'tool-loop',
        advise: () => undefined,
      }),
    'a chain can have one tool loop, this one has 2: "tool-calling" (order 5000), "other" (order 1)',
  ],
  [
    'an advisor function that returns nothing',
    (set) => set('advisors')(() => undefined),
    'advisors(…): the function must return the spec it was given, as in (a) => a.param(key, value)',
  ],
  [
    '[CLI-37] a text as key of an advisor param',
    (set) => set('advisors')((a: object) => invoke(a, 'param', 'id', 'x')),
    'advisors(…): the key of a param must be a ContextKey, such as CONVERSATION_ID, not "id"',
  ],
  [
    '[CLI-37] [F66] a missing value of an advisor param',
    (set) => set('advisors')((a: object) => invoke(a, 'param', CONVERSATION_ID, undefined)),
    'advisors(…): param chat_memory_conversation_id must be a value, not undefined',
  ],
  [
    '[CLI-37] null as value of an advisor param',
    (set) =>
      set('advisors')((a: object) =>
        invoke(a, 'param', new ContextKey<string | null>('k', null), null),
      ),
    'advisors(…): param k must be a value, not null',
  ],
];

function rejection(action: () => unknown): AdvisorChainError {
  try {
    action();
  } catch (error) {
    if (error instanceof AdvisorChainError) return error;
    throw error;
  }
  throw new Error('nothing was rejected');
}

describe('PromptSpec setters', () => {
  for (const [title, call, message] of BOTH) {
    it(`reject ${title} at once`, () => {
      const { message: actual } = rejection(() =>
        call(
          (name) =>
            (...values) =>
              invoke(spec(), name, ...values),
        ),
      );

      expect(actual.startsWith(message), actual).to.equal(true);
    });
  }

  it('[F23] reject a tool with the name of a default tool', () => {
    const client = builder().defaultTools(tool('a')).build();

    expect(() => client.prompt('x').tools(tool('a'))).to.throw(
      AdvisorChainError,
      'two tools have the same name: a',
    );
  });

  it('reject an invalid signal', () => {
    expect(() => spec().signal({} as AbortSignal)).to.throw(
      AdvisorChainError,
      'signal(…): signal must be an AbortSignal, not an object',
    );
    expect(() => spec().signal(null as never)).to.throw(
      AdvisorChainError,
      'signal(…): signal must be an AbortSignal, not null',
    );
  });

  for (const value of [null, '', ' ', 7, {}]) {
    it(`[CLI-36] reject prompt(${JSON.stringify(value)})`, () => {
      expect(() => ChatClient.create(model).prompt(value as string)).to.throw(
        AdvisorChainError,
        'prompt(…): input must be a non-blank string or a Prompt; use messages(…) for messages, not ',
      );
    });
  }

  it('never call the model', () => {
    expect(model.prompts).to.deep.equal([]);
  });
});

describe('ChatClientBuilder setters', () => {
  for (const [title, call, message] of BOTH) {
    it(`reject ${title} at once`, () => {
      const nameOf = (name: string): string => `default${name[0]?.toUpperCase()}${name.slice(1)}`;

      const { message: actual } = rejection(() =>
        call(
          (name) =>
            (...values) =>
              invoke(builder(), nameOf(name), ...values),
        ),
      );

      expect(actual.startsWith(message), actual).to.equal(true);
    });
  }

  for (const value of [null, undefined, {}, { call: () => undefined }, 'gpt-5']) {
    it(`[CLI-15] reject ${JSON.stringify(value)} as a model`, () => {
      expect(() => ChatClient.create(value as never)).to.throw(
        AdvisorChainError,
        'ChatClient: model must be a chat model with call and stream, not ',
      );
      expect(() => ChatClient.builder(value as never)).to.throw(
        AdvisorChainError,
        'ChatClient: model must be a chat model with call and stream, not ',
      );
    });
  }

  it('[CLI-51] reject a template renderer that is not a function', () => {
    expect(() => builder().templateRenderer(null as never)).to.throw(
      AdvisorChainError,
      'templateRenderer(…): renderer must be a function, not null',
    );
  });

  it('leave the builder unchanged when they throw', () => {
    const started = builder().defaultTools(tool('a'));

    expect(() => started.defaultTools(tool('a'))).to.throw(AdvisorChainError);

    expect(() => started.defaultTools(tool('b')).build()).not.to.throw();
  });

  it('reject toolCallingAutoRegister with a value that is not a boolean', () => {
    expect(() => toolCallingAutoRegister('false' as never)).to.throw(
      AdvisorChainError,
      'toolCallingAutoRegister(…): enabled must be true or false, not "false"',
    );
  });

  it('name the setter in errors of an AdvisorSpec that is used alone', () => {
    expect(() => new AdvisorSpec([], undefined as never).advisors(null as never)).to.throw(
      AdvisorChainError,
      'advisors(…): an advisor must be',
    );
  });
});
