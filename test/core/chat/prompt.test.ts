import { inspect } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { textOf, type ContentPart, type Message } from '../../../src/core/chat/message.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { sweep } from '../../support/sweep.js';

const user = (content: string): Message => ({ role: 'user', content });
const system = (text: string): Message => ({ role: 'system', content: text });
const image: ContentPart = { type: 'image', url: 'https://example.org/a.png' };

describe('Prompt', () => {
  it('accepts a text as one user message', () => {
    expect(new Prompt('hi').messages).to.deep.equal([user('hi')]);
  });

  it('copies its messages and options', () => {
    const messages = [user('a')];
    const options = { temperature: 1 };
    const prompt = new Prompt(messages, options);

    messages.push(user('b'));
    options.temperature = 2;

    expect(prompt.messages).to.deep.equal([user('a')]);
    expect(prompt.options).to.deep.equal({ temperature: 1 });
  });

  it('[D19] shows its own messages and options alone, as JSON and in a log', () => {
    const prompt = new Prompt('question', { temperature: 1 });
    prompt.append({ role: 'assistant', content: 'of a later iteration' });
    const shown = { messages: [user('question')], options: { temperature: 1 } };

    expect(JSON.parse(JSON.stringify({ prompt }))).to.deep.equal({ prompt: shown });
    expect(inspect(prompt, { depth: 9 })).to.equal(inspect(shown, { depth: 9 }));
  });

  it('[AGG-07] rejects an invalid list of messages with the place, and accepts an empty one', () => {
    expect(() => new Prompt(42 as never)).to.throw(
      InvalidArgumentError,
      'new Prompt(…): messages must be a string or an array of messages, not 42',
    );
    for (const nothing of [null, undefined])
      expect(() => new Prompt(nothing as never)).to.throw(InvalidArgumentError);
    expect(() => new Prompt([{ role: 'user', content: null as never }])).to.throw(
      InvalidArgumentError,
    );
    expect(new Prompt([]).messages).to.deep.equal([]);
    expect(() => new Prompt([user('a'), null as never])).to.throw(
      InvalidArgumentError,
      'new Prompt(…): messages[1]: a message must be an object',
    );
    expect(() => new Prompt('a', { topP: 2 })).to.throw(
      InvalidArgumentError,
      'new Prompt(…): topP must be a number from 0 to 1, not 2',
    );
  });

  it('[AGG-06] finds the first system message and the last user message', () => {
    const prompt = new Prompt([system('1'), user('a'), system('2'), user('b')]);

    expect(prompt.systemMessage).to.deep.equal(system('1'));
    expect(prompt.userMessage).to.deep.equal(user('b'));
    expect(new Prompt([]).systemMessage).to.equal(undefined);
    expect(new Prompt([]).userMessage).to.equal(undefined);
  });

  it('is unchanged by prompts appended to it, also if they branch', () => {
    const property = fc.property(fc.array(fc.nat(), { maxLength: 20 }), (branches) => {
      const prompts = [{ prompt: new Prompt('0'), expected: ['0'] }];

      for (const [n, from] of branches.entries()) {
        const parent = prompts[from % prompts.length] as (typeof prompts)[number];
        prompts.push({
          prompt: parent.prompt.append(user(`${n + 1}`)),
          expected: [...parent.expected, `${n + 1}`],
        });
      }

      for (const { prompt, expected } of prompts) {
        expect(
          prompt.messages.map((message) => textOf((message as { content: string }).content)),
        ).to.deep.equal(expected);
        expect(prompt.length).to.equal(expected.length);
      }
    });

    fc.assert(property, { numRuns: sweep(1_000) });
  });

  it('merges options on top of its own, or replaces them', () => {
    const prompt = new Prompt('a', { temperature: 1, model: 'm' });

    expect(prompt.withOptions({ temperature: 0 }).options).to.deep.equal({
      temperature: 0,
      model: 'm',
    });
    expect(prompt.replaceOptions({ seed: 1 }).options).to.deep.equal({ seed: 1 });
    expect(prompt.options).to.deep.equal({ temperature: 1, model: 'm' });
  });

  describe('augmentSystemMessage', () => {
    it('[AGG-05] changes only the first system message', () => {
      const prompt = new Prompt([system('1'), user('a'), system('2')]);

      expect(prompt.augmentSystemMessage((text) => `${text}!`).messages).to.deep.equal([
        system('1!'),
        user('a'),
        system('2'),
      ]);
    });

    it('[AGG-05] adds one at the start if there is none', () => {
      expect(new Prompt('a').augmentSystemMessage((text) => `${text}S`).messages).to.deep.equal([
        system('S'),
        user('a'),
      ]);
    });
  });

  describe('augmentUserMessage', () => {
    it('[AGG-05] changes only the last user message and keeps its metadata', () => {
      const prompt = new Prompt([
        user('a'),
        { role: 'user', content: 'b', metadata: { id: 1 } },
        system('s'),
      ]);

      expect(prompt.augmentUserMessage((text) => `<${text}>`).messages).to.deep.equal([
        user('a'),
        { role: 'user', content: '<b>', metadata: { id: 1 } },
        system('s'),
      ]);
    });

    it('[AGG-05] appends one if there is none', () => {
      expect(
        new Prompt([system('s')]).augmentUserMessage((text) => `${text}U`).messages,
      ).to.deep.equal([system('s'), user('U')]);
    });

    it('keeps the order of parts if text is added before or after', () => {
      const content: readonly ContentPart[] = [
        { type: 'text', text: 'Compare ' },
        image,
        { type: 'text', text: ' with ' },
        image,
      ];

      const changed = new Prompt([{ role: 'user', content }]).augmentUserMessage(
        (text) => `Q: ${text} Be brief.`,
      );

      expect(changed.userMessage?.content).to.deep.equal([
        { type: 'text', text: 'Q: ' },
        ...content,
        { type: 'text', text: ' Be brief.' },
      ]);
    });

    it('keeps media before the text if text is added after it', () => {
      const content: readonly ContentPart[] = [image, { type: 'text', text: 'What is it?' }];

      const changed = new Prompt([{ role: 'user', content }]).augmentUserMessage(
        (text) => `${text} Be brief.`,
      );

      expect(changed.userMessage?.content).to.deep.equal([
        ...content,
        { type: 'text', text: ' Be brief.' },
      ]);
    });

    it('moves a replaced text before all media', () => {
      const changed = new Prompt([
        { role: 'user', content: [image, { type: 'text', text: 'old' }] },
      ]).augmentUserMessage(() => 'new');

      expect(changed.userMessage?.content).to.deep.equal([{ type: 'text', text: 'new' }, image]);
    });
  });

  it('[F76] keeps its own copy of the messages of withMessages(…)', () => {
    const messages = [user('a')];
    const prompt = new Prompt('x').withMessages(messages);
    messages.push(user('b'));

    expect(prompt.append(user('c')).messages).to.have.lengthOf(2);
    expect(() => prompt.withMessages([{ role: 'human' } as unknown as Message])).to.throw(
      'unknown role "human"',
    );
  });
});
