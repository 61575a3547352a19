import { expect } from 'chai';
import {
  ChatClient,
  decodeMessage,
  defineTool,
  InvalidArgumentError,
  toolResult,
  type ContentPart,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, RUNS } from '../../support/modes.js';

const BROKEN: readonly (readonly [string, ContentPart])[] = [
  ['no base64', { type: 'image', data: '<svg onload=1>', mediaType: 'image/png' }],
  ['a cut base64', { type: 'audio', data: 'AAAAA', mediaType: 'audio/wav' }],
  [
    'an address as data',
    { type: 'image', data: 'data:image/png;base64,AA==', mediaType: 'image/png' },
  ],
  ['a page as an image', { type: 'image', data: 'AAAA', mediaType: 'text/html' }],
  ['an image as audio', { type: 'audio', data: 'AAAA', mediaType: 'image/png' }],
  ['a line break in its type', { type: 'image', data: 'AAAA', mediaType: 'image/png\r\nx: y' }],
  ['a line break at the end', { type: 'file', data: 'AAAA', mediaType: 'text/plain\n' }],
  ['no type', { type: 'file', data: 'AAAA', mediaType: 'plain' }],
  ['a broken type of bytes', { type: 'file', data: new Uint8Array(1), mediaType: 'a/b c' }],
  ['a page in its address', { type: 'image', url: 'data:text/html;base64,AAAA' }],
];
const WELL_FORMED: readonly ContentPart[] = [
  { type: 'image', data: 'AQI=', mediaType: 'image/svg+xml' },
  { type: 'file', data: 'AQ==', mediaType: 'text/html; charset=utf-8' },
  { type: 'file', data: 'AQ', mediaType: 'text/plain;charset="utf-8";x=y' },
  { type: 'file', data: '', mediaType: 'application/vnd.ms-excel' },
  { type: 'audio', data: new Uint8Array(3), mediaType: 'AUDIO/L16' },
  { type: 'image', url: 'https://example.com/a.png' },
  { type: 'image', url: 'data:image/svg+xml,%3Csvg%3E' },
];

describe('media of a part', () => {
  for (const [what, part] of BROKEN) {
    for (const [mode, run] of RUNS) {
      it(`[D87] with ${what} are refused in a message of the user, ${mode}`, async () => {
        const client = ChatClient.create(new ScriptedChatModel(['Hi.']));
        const asked = async () => run(client.prompt().messages({ role: 'user', content: [part] }));

        expect(await failureOf(asked())).to.be.instanceOf(InvalidArgumentError);
      });

      it(`[D87] with ${what} are an error result of a tool, ${mode}`, async () => {
        const model = new ScriptedChatModel([{ toolCalls: [{ name: 'look' }] }, 'Done.']);
        const execute = () => toolResult({ content: [part] });
        const look = defineTool({ name: 'look', execute });

        await run(ChatClient.create(model).prompt('?').tools(look));

        const result = model.prompts[1]?.messages.at(-1);
        expect(result).to.include({ role: 'tool', isError: true });
        expect(result).to.have.property('content').that.is.a('string');
      });
    }

    it(`[D87] with ${what} become a text when a stored conversation is read`, () => {
      const stored = part as { readonly data?: string | Uint8Array };
      const bytes = stored.data instanceof Uint8Array && { data: { base64: 'AA==' } };
      const text = JSON.stringify({ role: 'user', content: [{ ...part, ...bytes }] });

      const message = decodeMessage(text) as { readonly content: readonly ContentPart[] };

      expect(message.content[0]).to.have.property('text').that.includes(`[${part.type} left out`);
    });
  }

  it('[D87] are kept if they are well-formed', async () => {
    const model = new ScriptedChatModel(['Hi.']);
    const content = WELL_FORMED;

    await ChatClient.create(model).prompt().messages({ role: 'user', content }).call().content();

    expect(model.prompts[0]?.messages[0]).to.deep.equal({ role: 'user', content });
  });
});
