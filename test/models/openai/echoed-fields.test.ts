import { expect } from 'chai';
import { keptFields, toMetadata } from '../../../src/models/http/fields.js';
import { collectEchoed, KEY } from '../../../src/models/openai/echoed-fields.js';
import type { JsonObject } from '../../../src/core/internal/options.js';

function collect(...deltas: readonly JsonObject[]): JsonObject {
  const echo: Record<string, unknown> = {};
  for (const delta of deltas) collectEchoed(echo, delta);
  return echo;
}

describe('echoed fields', () => {
  it('are the non-empty fields that providers need again', () => {
    expect(
      collect({
        content: 'x',
        reasoning: 'a',
        reasoning_content: '',
        reasoning_details: [],
        thought_signature: null,
      }),
    ).to.deep.equal({
      reasoning: 'a',
    });
  });

  it('travel in metadata', () => {
    const fields = { reasoning: 'a' };

    expect(keptFields(toMetadata(KEY, fields), KEY)).to.deep.equal(fields);
    expect(toMetadata(KEY, {})).to.deep.equal({});
    expect(keptFields({}, KEY)).to.deep.equal({});
  });

  const cases: readonly (readonly [
    title: string,
    deltas: readonly JsonObject[],
    echo: JsonObject,
  ])[] = [
    [
      'texts of reasoning grow',
      [{ reasoning_content: 'a' }, { reasoning_content: '' }, { reasoning_content: 'b' }],
      { reasoning_content: 'ab' },
    ],
    [
      'a signature is replaced',
      [{ thought_signature: 'a' }, { thought_signature: 'b' }],
      { thought_signature: 'b' },
    ],
    [
      'an object is replaced',
      [{ extra_content: { a: 1 } }, { extra_content: { b: 1 } }],
      { extra_content: { b: 1 } },
    ],
    [
      'details grow by index and type, and are signed at the end',
      [
        { reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0, format: null }] },
        { reasoning_details: [{ type: 'reasoning.text', text: 'b', index: 0, format: 'f' }] },
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 0, id: 'i' }] },
        { reasoning_details: [{ type: 'reasoning.text', signature: 's', index: 0, text: null }] },
      ],
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'ab', index: 0, format: 'f', signature: 's' },
          { type: 'reasoning.encrypted', data: 'x', index: 0, id: 'i' },
        ],
      },
    ],
    [
      'details of different ids stay apart',
      [
        { reasoning_details: [{ type: 't', data: 'a', index: 0, id: 'i' }] },
        { reasoning_details: [{ type: 't', data: 'b', index: 0, id: 'j' }] },
      ],
      {
        reasoning_details: [
          { type: 't', data: 'a', index: 0, id: 'i' },
          { type: 't', data: 'b', index: 0, id: 'j' },
        ],
      },
    ],
    [
      'details without an index continue until they are signed',
      [
        { thinking_blocks: [{ type: 'thinking', thinking: 'a' }] },
        { thinking_blocks: [{ type: 'thinking', thinking: 'b', signature: 's' }] },
        { thinking_blocks: [{ type: 'thinking', thinking: 'c' }] },
      ],
      {
        thinking_blocks: [
          { type: 'thinking', thinking: 'ab', signature: 's' },
          { type: 'thinking', thinking: 'c' },
        ],
      },
    ],
    [
      'details without an index that come at once stay apart',
      [
        {
          thinking_blocks: [
            { type: 'thinking', thinking: 'a' },
            { type: 'thinking', thinking: 'b' },
          ],
        },
      ],
      {
        thinking_blocks: [
          { type: 'thinking', thinking: 'a' },
          { type: 'thinking', thinking: 'b' },
        ],
      },
    ],
    [
      'details that come at once stay apart',
      [
        {
          reasoning_details: [
            { type: 't', text: 'a', index: 0 },
            { type: 't', text: 'b', index: 0 },
          ],
        },
      ],
      {
        reasoning_details: [
          { type: 't', text: 'a', index: 0 },
          { type: 't', text: 'b', index: 0 },
        ],
      },
    ],
    [
      'what is no object is kept',
      [{ reasoning_details: ['a'] }, { reasoning_details: ['b'] }],
      { reasoning_details: ['a', 'b'] },
    ],
  ];
  for (const [title, deltas, echo] of cases) {
    it(`${title}, in a stream`, () => {
      const before = structuredClone(deltas);

      expect(collect(...deltas)).to.deep.equal(echo);
      expect(deltas).to.deep.equal(before);
    });
  }
});
