import { expect } from 'chai';
import { addContent } from '../../../src/models/openai/echoed-fields.js';

const thinking = (text: string, more: object = {}) => ({
  type: 'thinking',
  thinking: [{ type: 'text', text }],
  ...more,
});

type Step = readonly [content: unknown, textBefore?: string];

function collect(...steps: readonly Step[]): readonly unknown[] {
  return steps.reduce<readonly unknown[]>(
    (parts, [content, textBefore = '']) => addContent(parts, content, textBefore),
    [],
  );
}

describe('addContent', () => {
  it('keeps the order of thinking and text and joins the pieces of a part', () => {
    const parts = collect(
      [[thinking('A')]],
      [[thinking('B')]],
      ['one'],
      [' more'],
      [[thinking('C'), { type: 'text', text: 'two' }]],
    );

    expect(parts).to.deep.equal([
      { type: 'thinking', thinking: [{ type: 'text', text: 'AB' }] },
      { type: 'text', text: 'one more' },
      thinking('C'),
      { type: 'text', text: 'two' },
    ]);
  });

  it('begins a new part after one that is signed', () => {
    const signed = thinking('A', { signature: 's' });

    expect(collect([[signed]], [[thinking('B')]])).to.deep.equal([signed, thinking('B')]);
  });

  it('does not join parts that come at once', () => {
    expect(collect([[thinking('A'), thinking('B')]])).to.deep.equal([thinking('A'), thinking('B')]);
  });

  it('includes the text before the first part', () => {
    expect(collect(['kept elsewhere'], [[thinking('A')], 'kept elsewhere'])).to.deep.equal([
      { type: 'text', text: 'kept elsewhere' },
      thinking('A'),
    ]);
  });

  it('ignores a text before parts, and content that is neither text nor list', () => {
    expect(collect(['x'], [null], [{}])).to.deep.equal([]);
  });
});
