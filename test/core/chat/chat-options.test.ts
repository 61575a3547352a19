import { expect } from 'chai';
import fc from 'fast-check';
import {
  checkChatOptions,
  mergeOptions,
  type ChatOptions,
} from '../../../src/core/chat/chat-options.js';
import type { OfferedTool } from '../../../src/core/chat/tool-definition.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { sweep } from '../../support/sweep.js';

const offered = (name: string): OfferedTool => ({
  definition: { name, description: name, inputSchema: { type: 'object' } },
});
const A = offered('a');
const B = offered('b');

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
const map = fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.string({ maxLength: 2 }));

const anyOptions: fc.Arbitrary<ChatOptions> = fc.record(
  {
    model: maybe(fc.constantFrom('m1', 'm2')),
    temperature: maybe(fc.constantFrom(0, 1)),
    logprobs: maybe(fc.boolean()),
    stopSequences: maybe(fc.uniqueArray(fc.constantFrom('x', 'y', 'z'))),
    tools: maybe(fc.array(fc.constantFrom(A, B), { maxLength: 2 })),
    metadata: maybe(map),
    extraBody: maybe(map),
    providerTools: maybe(fc.array(map, { maxLength: 2 })),
    toolContext: maybe(map),
  },
  { requiredKeys: [] },
);

/** Options without the undefined ones. */
const given = (options: ChatOptions): ChatOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

describe('mergeOptions', () => {
  it('is associative', () => {
    const property = fc.property(anyOptions, anyOptions, anyOptions, (a, b, c) => {
      const left = mergeOptions(mergeOptions(a, b), c);
      const right = mergeOptions(a, mergeOptions(b, c));

      expect(given(left)).to.deep.equal(given(right));
    });

    fc.assert(property, { numRuns: sweep(2_000) });
  });

  it('prefers set values of the upper layer', () => {
    const property = fc.property(anyOptions, anyOptions, (base, over) => {
      const merged = mergeOptions(base, over);

      for (const name of ['model', 'temperature', 'logprobs'] as const)
        expect(merged[name]).to.equal(over[name] ?? base[name]);
    });

    fc.assert(property, { numRuns: sweep(1_000) });
  });

  it('[OPT-13] modifies neither layer', () => {
    const property = fc.property(anyOptions, anyOptions, (base, over) => {
      const before = structuredClone([base, over]);

      mergeOptions(Object.freeze(base), Object.freeze(over));

      expect([base, over]).to.deep.equal(before);
    });

    fc.assert(property, { numRuns: sweep(500) });
  });

  it('[OPT-04] [OPT-14] joins lists in order and maps by key', () => {
    const merged = mergeOptions(
      {
        stopSequences: ['x', 'y'],
        tools: [A],
        metadata: { k: '1', l: '1' },
        extraBody: { a: 1 },
        toolContext: { t: 1, u: 1 },
        providerTools: [{ type: 'x' }],
      },
      {
        stopSequences: ['y', 'z'],
        tools: [B],
        metadata: { k: '2' },
        extraBody: { b: 2 },
        toolContext: { t: 2 },
        providerTools: [{ type: 'y' }],
      },
    );

    expect(merged).to.deep.equal({
      stopSequences: ['x', 'y', 'z'],
      tools: [A, B],
      metadata: { k: '2', l: '1' },
      extraBody: { a: 1, b: 2 },
      toolContext: { t: 2, u: 1 },
      providerTools: [{ type: 'x' }, { type: 'y' }],
    });
  });

  it('[OPT-02] [OPT-05] keeps lists and maps if the upper layer has empty ones or none', () => {
    const base: ChatOptions = { tools: [A], toolContext: { t: 1 } };

    expect(mergeOptions(base, { tools: [], toolContext: {} })).to.deep.equal(base);
    expect(given(mergeOptions(base, { tools: undefined, toolContext: undefined }))).to.deep.equal(
      base,
    );
    expect(mergeOptions({}, base)).to.deep.equal(base);
  });

  it('[OPT-03] [OPT-11] adds no options', () => {
    expect(mergeOptions({}, {})).to.deep.equal({});
    expect(mergeOptions({ tools: [] }, {})).to.deep.equal({ tools: [] });
  });

  it('returns the base itself if the upper layer is absent', () => {
    const base = { model: 'm' };

    expect(mergeOptions(base, undefined)).to.equal(base);
    expect(mergeOptions(base, base)).to.equal(base);
  });

  it('[F17] ignores the prototype of a layer parsed from JSON', () => {
    const merged = mergeOptions({}, JSON.parse('{"__proto__":{"temperature":2}}') as ChatOptions);

    expect(merged.temperature).to.equal(undefined);
    expect(Object.getPrototypeOf(merged)).to.equal(Object.prototype);
  });

  it('replaces a token limit of the lower layer under either name', () => {
    expect(mergeOptions({ maxCompletionTokens: 4000 }, { maxTokens: 10 })).to.deep.equal({
      maxTokens: 10,
    });
    expect(mergeOptions({ maxTokens: 4000 }, { maxCompletionTokens: 10 })).to.deep.equal({
      maxCompletionTokens: 10,
    });
  });
});

describe('checkChatOptions', () => {
  const good: readonly ChatOptions[] = [
    {},
    { model: undefined },
    {
      temperature: 0,
      topP: 1,
      topK: 1,
      frequencyPenalty: -2,
      presencePenalty: 2,
      maxTokens: 1,
      maxCompletionTokens: 1,
      seed: -1,
    },
    {
      stopSequences: [],
      toolChoice: { tool: 'a' },
      parallelToolCalls: false,
      strictTools: true,
      responseFormat: { schema: {} },
    },
    {
      reasoningEffort: 'low',
      logprobs: true,
      topLogprobs: 0,
      user: 'u',
      metadata: {},
      extraBody: {},
      tools: [A],
      toolContext: {},
    },
    { toolChoice: 'required', responseFormat: 'json', providerTools: [{ type: 'web_search' }] },
  ];

  for (const options of good) {
    it(`[OPT-07] [OPT-12] accepts ${JSON.stringify(options)}`, () => {
      expect(() => checkChatOptions(options, 'here')).not.to.throw();
    });
  }

  const bad: readonly (readonly [unknown, string])[] = [
    [null, 'options must be a plain object, not null'],
    [[], 'options must be a plain object, not an array of 0'],
    [{ temprature: 1 }, 'there is no option `temprature`; did you mean `temperature`?'],
    [
      JSON.parse('{"__proto__":1}'),
      'there is no option `__proto__`; see the methods signal, stopWhen, conversation; put fields of a provider into extraBody',
    ],
    [
      { constructor: 1 },
      'there is no option `constructor`; see the methods signal, stopWhen, conversation; put fields of a provider into extraBody',
    ],
    [{ model: ' ' }, 'model must be a non-blank string, not " "'],
    [{ temperature: -1 }, 'temperature must be a number >= 0, not -1'],
    [{ temperature: NaN }, 'temperature must be a number >= 0, not NaN'],
    [{ temperature: '1' }, 'temperature must be a number >= 0, not "1"'],
    [{ temperature: null }, 'temperature must be a number >= 0, not null'],
    [{ topP: 1.1 }, 'topP must be a number from 0 to 1, not 1.1'],
    [{ topK: 0 }, 'topK must be an integer >= 1, not 0'],
    [{ frequencyPenalty: 3 }, 'frequencyPenalty must be a number from -2 to 2, not 3'],
    [{ presencePenalty: -3 }, 'presencePenalty must be a number from -2 to 2, not -3'],
    [{ maxTokens: 1.5 }, 'maxTokens must be an integer >= 1, not 1.5'],
    [{ maxCompletionTokens: 0 }, 'maxCompletionTokens must be an integer >= 1, not 0'],
    [{ stopSequences: 'x' }, 'stopSequences must be an array of strings, not "x"'],
    [{ stopSequences: [1] }, 'stopSequences must be an array of strings, not an array of 1'],
    [{ seed: 0.5 }, 'seed must be an integer, not 0.5'],
    [
      { toolChoice: 'any' },
      "toolChoice must be 'auto', 'none', 'required' or { tool: name }, not \"any\"",
    ],
    [
      { toolChoice: { tool: '' } },
      "toolChoice must be 'auto', 'none', 'required' or { tool: name }, not an object",
    ],
    [{ parallelToolCalls: 1 }, 'parallelToolCalls must be true or false, not 1'],
    [{ strictTools: 'yes' }, 'strictTools must be true or false, not "yes"'],
    [
      { responseFormat: { schema: 1 } },
      "responseFormat must be 'text', 'json' or { schema }, not an object",
    ],
    [{ reasoningEffort: '' }, 'reasoningEffort must be a non-blank string, not ""'],
    [{ logprobs: 0 }, 'logprobs must be true or false, not 0'],
    [{ topLogprobs: 21 }, 'topLogprobs must be an integer from 0 to 20, not 21'],
    [{ user: 1 }, 'user must be a non-blank string, not 1'],
    [{ metadata: [] }, 'metadata must be a plain object, not an array of 0'],
    [{ extraBody: 'x' }, 'extraBody must be a plain object, not "x"'],
    [{ providerTools: {} }, 'providerTools must be an array of plain objects, not an object'],
    [
      { providerTools: ['web_search'] },
      'providerTools must be an array of plain objects, not an array of 1',
    ],
    [{ tools: [{}] }, 'tools must be an array of tools, not an array of 1'],
    [{ tools: [null] }, 'tools must be an array of tools, not an array of 1'],
    [{ toolContext: null }, 'toolContext must be a plain object, not null'],
  ];

  for (const [options, problem] of bad) {
    it(`rejects ${JSON.stringify(options)} with place and reason`, () => {
      expect(() => checkChatOptions(options as ChatOptions, 'here')).to.throw(
        InvalidArgumentError,
        `here: ${problem}`,
      );
    });
  }
});
