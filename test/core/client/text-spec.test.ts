import { expect } from 'chai';
import {
  ChatClient,
  type ContentPart,
  type PromptSpec,
  type UserMessage,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';

/** The user message that the model is asked with. */
async function sent(build: (spec: PromptSpec) => PromptSpec): Promise<UserMessage | undefined> {
  const model = new ScriptedChatModel(['ok']);
  await build(ChatClient.create(model).prompt()).call().content();
  return model.prompts[0]?.userMessage;
}

const image: ContentPart = { type: 'image', url: 'https://example.org/a.png' };
const raw: ContentPart = { type: 'raw', value: { type: 'input_video', video: 'x' } };

describe('the user text', () => {
  it('is sent with its media after it, in the order in which they were added', async () => {
    const bytes = new Uint8Array([1, 2]);

    const message = await sent((spec) =>
      spec.user((u) =>
        u
          .image({ data: bytes, mediaType: 'image/png' })
          .text('Look.')
          .file({ url: 'https://example.org/a.pdf', name: 'a.pdf' })
          .audio({ data: 'AAAA', mediaType: 'audio/wav' })
          .part(raw, image),
      ),
    );

    expect(message).to.deep.equal({
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image', data: bytes, mediaType: 'image/png' },
        { type: 'file', url: 'https://example.org/a.pdf', name: 'a.pdf' },
        { type: 'audio', data: 'AAAA', mediaType: 'audio/wav' },
        raw,
        image,
      ],
    });
  });

  it('can be media without a text', async () => {
    expect(await sent((spec) => spec.user((u) => u.part(image)))).to.deep.equal({
      role: 'user',
      content: [image],
    });
  });

  it('can be a list of parts, sent in order', async () => {
    const parts: readonly ContentPart[] = [
      { type: 'text', text: 'This ' },
      image,
      { type: 'text', text: ' or that?' },
    ];

    expect(await sent((spec) => spec.user(parts))).to.deep.equal({ role: 'user', content: parts });
  });

  it('has metadata, merged by name, of the request over the default', async () => {
    const message = await sent((spec) =>
      spec.user((u) => u.text('hi').metadata({ a: 1, b: 1 })).user((u) => u.metadata({ b: 2 })),
    );

    expect(message).to.deep.equal({ role: 'user', content: 'hi', metadata: { a: 1, b: 2 } });
  });

  it('is built by immutable specs', async () => {
    let first: unknown;
    const message = await sent((spec) =>
      spec.user((u) => {
        const text = u.text('first');
        first = text.text('second').image({ url: 'x' }).state;
        return text;
      }),
    );

    expect(message).to.deep.equal({ role: 'user', content: 'first' });
    expect(first).to.have.property('text', 'second');
  });
});
