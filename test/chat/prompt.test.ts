import { expect } from 'chai';
import fc from 'fast-check';
import { textOf, type ContentPart, type Message } from '../../src/chat/message.js';
import { Prompt } from '../../src/chat/prompt.js';
import { InvalidArgumentError } from '../../src/errors.js';

const user = (content: string): Message => ({ role: 'user', content });
const system = (text: string): Message => ({ role: 'system', text });
const image: ContentPart = { type: 'image', url: 'https://example.org/a.png' };

describe('Prompt', () => {
  it('takes a text as one user message', () => {
    expect(new Prompt('hi').messages).to.deep.equal([user('hi')]);
  });

  it('keeps its own copy of the messages and options it is made of', () => {
    const messages = [user('a')];
    const options = { temperature: 1 };
    const prompt = new Prompt(messages, options);

    messages.push(user('b'));
    options.temperature = 2;

    expect(prompt.messages).to.deep.equal([user('a')]);
    expect(prompt.options).to.deep.equal({ temperature: 1 });
  });

  it('refuses what is no list of messages, naming the place', () => {
    expect(() => new Prompt(42 as never)).to.throw(InvalidArgumentError, 'new Prompt(…): messages are a text or an array, not 42');
    expect(() => new Prompt([user('a'), null as never])).to.throw(
      InvalidArgumentError,
      'new Prompt(…): messages[1]: a message is an object',
    );
    expect(() => new Prompt('a', { topP: 2 })).to.throw(InvalidArgumentError, 'new Prompt(…): topP must be a number from 0 to 1, not 2');
  });

  it('finds the first system message and the last user message', () => {
    const prompt = new Prompt([system('1'), user('a'), system('2'), user('b')]);

    expect(prompt.systemMessage).to.deep.equal(system('1'));
    expect(prompt.userMessage).to.deep.equal(user('b'));
    expect(new Prompt([]).systemMessage).to.equal(undefined);
    expect(new Prompt([]).userMessage).to.equal(undefined);
  });

  it('is not changed by what grows from it, however prompts branch', () => {
    const property = fc.property(fc.array(fc.nat(), { maxLength: 20 }), (branches) => {
      const prompts = [{ prompt: new Prompt('0'), expected: ['0'] }];

      for (const [n, from] of branches.entries()) {
        const parent = prompts[from % prompts.length] as (typeof prompts)[number];
        prompts.push({ prompt: parent.prompt.append(user(`${n + 1}`)), expected: [...parent.expected, `${n + 1}`] });
      }

      for (const { prompt, expected } of prompts) {
        expect(prompt.messages.map((message) => textOf((message as { content: string }).content))).to.deep.equal(expected);
        expect(prompt.length).to.equal(expected.length);
      }
    });

    fc.assert(property, { numRuns: 1_000 });
  });

  it('puts options on top of its own, or replaces them', () => {
    const prompt = new Prompt('a', { temperature: 1, model: 'm' });

    expect(prompt.withOptions({ temperature: 0 }).options).to.deep.equal({ temperature: 0, model: 'm' });
    expect(prompt.replaceOptions({ seed: 1 }).options).to.deep.equal({ seed: 1 });
    expect(prompt.options).to.deep.equal({ temperature: 1, model: 'm' });
  });

  describe('augmentSystemMessage', () => {
    it('changes the first system message only', () => {
      const prompt = new Prompt([system('1'), user('a'), system('2')]);

      expect(prompt.augmentSystemMessage((text) => `${text}!`).messages).to.deep.equal([system('1!'), user('a'), system('2')]);
    });

    it('puts one first where there is none', () => {
      expect(new Prompt('a').augmentSystemMessage((text) => `${text}S`).messages).to.deep.equal([system('S'), user('a')]);
    });
  });

  describe('augmentUserMessage', () => {
    it('changes the last user message only, and keeps its metadata', () => {
      const prompt = new Prompt([user('a'), { role: 'user', content: 'b', metadata: { id: 1 } }, system('s')]);

      expect(prompt.augmentUserMessage((text) => `<${text}>`).messages).to.deep.equal([
        user('a'),
        { role: 'user', content: '<b>', metadata: { id: 1 } },
        system('s'),
      ]);
    });

    it('appends one where there is none', () => {
      expect(new Prompt([system('s')]).augmentUserMessage((text) => `${text}U`).messages).to.deep.equal([system('s'), user('U')]);
    });

    it('leaves the parts in their order where something is put before or after the text', () => {
      const content: readonly ContentPart[] = [{ type: 'text', text: 'Compare ' }, image, { type: 'text', text: ' with ' }, image];

      const changed = new Prompt([{ role: 'user', content }]).augmentUserMessage((text) => `Q: ${text} Be brief.`);

      expect(changed.userMessage?.content).to.deep.equal([{ type: 'text', text: 'Q: ' }, ...content, { type: 'text', text: ' Be brief.' }]);
    });

    it('leaves media before the text where something is put after it', () => {
      const content: readonly ContentPart[] = [image, { type: 'text', text: 'What is it?' }];

      const changed = new Prompt([{ role: 'user', content }]).augmentUserMessage((text) => `${text} Be brief.`);

      expect(changed.userMessage?.content).to.deep.equal([...content, { type: 'text', text: ' Be brief.' }]);
    });

    it('puts a text that is replaced before all media', () => {
      const changed = new Prompt([{ role: 'user', content: [image, { type: 'text', text: 'old' }] }]).augmentUserMessage(() => 'new');

      expect(changed.userMessage?.content).to.deep.equal([{ type: 'text', text: 'new' }, image]);
    });
  });
});
