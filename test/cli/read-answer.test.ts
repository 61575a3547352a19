import { expect } from 'chai';
import { readAnswer } from '../../src/cli/chat/read-answer.js';

/** A terminal with these lines, and the prompts that it has shown. */
function typing(...lines: readonly string[]) {
  const prompts: string[] = [];
  const read = async (prompt: string): Promise<string | undefined> => {
    prompts.push(prompt);
    return lines[prompts.length - 1];
  };
  return { prompts, form: { read, print: () => undefined } };
}

describe('a form that is read at the terminal', () => {
  it('has its rules for a field that is called answer, too', async () => {
    const { prompts, form } = typing('', 'yes', '', '');
    const schema = {
      type: 'object',
      properties: {
        answer: { type: 'string' },
        count: { type: 'integer', title: 'answer', default: 2 },
        more: { type: 'boolean', title: 'answer' },
      },
      required: ['answer'],
    };

    expect(await readAnswer(schema, form)).to.deep.equal({ answer: 'yes', count: 2 });
    expect(prompts).to.deep.equal([
      'answer: ',
      'answer: ',
      'answer (whole number, empty for 2): ',
      'answer (yes or no, may be empty): ',
    ]);
  });

  it('may be a single text, which may be empty', async () => {
    const { prompts, form } = typing('');

    expect(await readAnswer({ type: 'string' }, form)).to.equal('');
    expect(prompts).to.deep.equal(['answer: ']);
  });

  it('has no answer if the person leaves in it', async () => {
    const { form } = typing('Anna');
    const properties = { first: { type: 'string' }, last: { type: 'string' } };

    expect(await readAnswer({ type: 'object', properties }, form)).to.equal(undefined);
  });
});
