import { expect } from 'chai';
import type { ToolResult } from '../../../src/core/chat/chat-event.js';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';
import { LimitExceededError } from '../../../src/core/errors/turn-errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { jsonSchemaValidator } from '../../../src/core/json-schema/validator.js';
import { runBatch } from '../../support/batch.js';
import { cpuTime } from '../../support/cpu-time.js';

const numbers = { type: 'object', properties: { list: { items: { type: 'number' } } } } as const;

/** The result of a call with a list of numbers. */
async function resultOf(
  length: number,
  options: Parameters<typeof runBatch>[2],
  input: JsonSchema = numbers,
): Promise<ToolResult | undefined> {
  const tool = defineTool({ name: 'tool', input, execute: () => 'ran' });
  const args = { list: Array.from({ length }, (_, at) => at % 10) };
  const { results } = await runBatch([tool], [{ name: 'tool', args }], options);
  return results[0]?.result;
}

describe('maxArgumentsLength', () => {
  it('[D43] refuses longer arguments without parsing them', async () => {
    const text = `{"list":[${'['.repeat(2_000_000)}`;
    const tool = defineTool({ name: 'tool', execute: () => 'ran' });

    const { results } = await runBatch([tool], [{ name: 'tool', args: text }]);

    const { content, error } = results[0]?.result ?? {};
    expect(content).to.equal('The arguments of "tool" have more than 1000000 characters.');
    expect(error).to.have.property('cause').that.is.instanceOf(LimitExceededError);
    expect(error).to.have.property('cause').that.includes({
      limit: 'arguments-length',
      value: 1_000_000,
      spent: text.length,
      option: 'maxArgumentsLength',
      toolName: 'tool',
    });
  });

  it('[D43] accepts as many characters as the limit', async () => {
    const max = JSON.stringify({ list: [0, 1, 2] }).length;

    expect(await resultOf(3, { maxArgumentsLength: max })).to.have.property('content', 'ran');
    expect(await resultOf(4, { maxArgumentsLength: max })).to.have.property('isError', true);
  });
});

describe('maxArgumentsValues', () => {
  it('[D43] refuses more values without parsing them', async () => {
    const result = await resultOf(250_000, {});

    expect(result?.content).to.equal('The arguments of "tool" have more than 250000 JSON values.');
    expect(result?.error).to.have.property('cause').that.is.instanceOf(LimitExceededError);
    expect(result?.error).to.have.property('cause').that.includes({
      limit: 'arguments-values',
      value: 250_000,
      spent: 250_001,
      option: 'maxArgumentsValues',
      toolName: 'tool',
    });
  });

  it('[D43] accepts as many values as the limit', async () => {
    // the object and its list are two
    expect(await resultOf(3, { maxArgumentsValues: 5 })).to.have.property('content', 'ran');
    expect(await resultOf(4, { maxArgumentsValues: 5 })).to.have.property('isError', true);
  });
});

describe('maxCheckSteps', () => {
  it('[D43] ends the check of arguments with an error that names the option', async () => {
    const result = await resultOf(1_000, { maxCheckSteps: 500 });

    expect(result?.content).to.equal(
      'The arguments of "tool" are not valid:\n- the arguments: are too large or too deeply nested to be checked by this schema',
    );
    expect(result?.error).to.have.nested.include({
      'cause.limit': 'check-steps',
      'cause.value': 500,
      'cause.option': 'maxCheckSteps',
    });
    expect(await resultOf(1_000, { maxCheckSteps: 2_000 })).to.have.property('content', 'ran');
  });

  it('[D43] accepts a list of 100,000 numbers', async () => {
    expect(await resultOf(100_000, {})).to.have.property('content', 'ran');
  });

  const alternatives = Array.from({ length: 200 }, (_, at) => ({ const: -at - 1 }));
  const names = Array.from({ length: 5_000 }, (_, at) => [`p${at}`, { type: 'string' }] as const);
  const hostile: Readonly<Record<string, JsonSchema>> = {
    'many alternatives': { items: { anyOf: [...alternatives, { type: 'number' }] } },
    'many alternatives of which one fits': { items: { oneOf: [...alternatives, {}] } },
    'many constants': { items: { enum: [...Array.from({ length: 50_000 }, () => 'a'), 1] } },
    'many properties': { anyOf: names.map(([name]) => ({ required: [name] })) },
    'many lists of unique items': { anyOf: names.map(() => ({ uniqueItems: true })) },
    'a rare keyword': { items: { allOf: alternatives.map(() => ({ multipleOf: 1 })) } },
  };
  for (const [what, schema] of Object.entries(hostile)) {
    it(`[D43] ends the check by a hostile schema: ${what}`, () => {
      const validate = jsonSchemaValidator({ properties: { list: schema } });
      const list = Array.from({ length: 20_000 }, (_, at) => at % 10);
      const spent = cpuTime();

      validate({ list });

      expect(spent()).to.be.below(1_000);
    });
  }

  it('[D43] runs no pattern of a schema', async () => {
    const pattern = '^(a+)+$';
    const input = {
      type: 'object',
      properties: { text: { type: 'string', pattern } },
      patternProperties: { [pattern]: { type: 'string' } },
      propertyNames: { pattern },
    };
    const tool = defineTool({ name: 'tool', input, execute: () => 'ran' });
    const text = `${'a'.repeat(5_000)}!`;

    const { contents } = await runBatch([tool], [{ name: 'tool', args: { text, [text]: text } }]);

    expect(contents).to.deep.equal(['ran']);
  });
});
