import { expect } from 'chai';
import { ContentParts } from '../../../src/models/openai/echoed-fields.js';

const thinking = (text: string, more: object = {}) => ({
  type: 'thinking',
  thinking: [{ type: 'text', text }],
  ...more,
});

describe('ContentParts', () => {
  it('keeps the order of thinking and text and joins the pieces of a part', () => {
    const parts = new ContentParts();
    parts.add([thinking('A')], '');
    parts.add([thinking('B')], '');
    parts.addText('one');
    parts.addText(' more');
    parts.add([thinking('C'), { type: 'text', text: 'two' }], '');

    expect(parts.withThinking).to.deep.equal([
      thinking('AB'),
      { type: 'text', text: 'one more' },
      thinking('C'),
      { type: 'text', text: 'two' },
    ]);
  });

  it('begins a new part after one that is signed', () => {
    const parts = new ContentParts();
    parts.add([thinking('A', { signature: 's' }), thinking('B')], '');

    expect(parts.withThinking).to.deep.equal([thinking('A', { signature: 's' }), thinking('B')]);
  });

  it('includes the text before the first part', () => {
    const parts = new ContentParts();
    parts.addText('kept elsewhere');
    parts.add([thinking('A')], 'kept elsewhere');

    expect(parts.withThinking).to.deep.equal([
      { type: 'text', text: 'kept elsewhere' },
      thinking('A'),
    ]);
  });

  it('is undefined without thinking', () => {
    const parts = new ContentParts();
    parts.add([{ type: 'text', text: 'x' }], '');

    expect(parts.withThinking).to.equal(undefined);
  });
});
