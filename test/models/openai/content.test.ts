import { expect } from 'chai';
import { InvalidArgumentError, type ContentPart } from '../../../src/index.js';
import { toContent } from '../../../src/models/openai/content.js';

const onWire = (part: ContentPart): unknown => (toContent([part]) as readonly unknown[])[0];

describe('toContent', () => {
  const bytes = new Uint8Array([0, 255, 128]);
  const parts: readonly (readonly [title: string, part: ContentPart, wire: unknown])[] = [
    ['text', { type: 'text', text: 'hi' }, { type: 'text', text: 'hi' }],
    [
      'an image by address',
      { type: 'image', url: 'https://x/a.png' },
      { type: 'image_url', image_url: { url: 'https://x/a.png' } },
    ],
    [
      'an image by base64 text',
      { type: 'image', data: 'AAAA', mediaType: 'image/png' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ],
    [
      'an image by bytes',
      { type: 'image', data: bytes, mediaType: 'image/gif' },
      { type: 'image_url', image_url: { url: 'data:image/gif;base64,AP+A' } },
    ],
    [
      'audio',
      { type: 'audio', data: bytes, mediaType: 'audio/wav' },
      { type: 'input_audio', input_audio: { data: 'AP+A', format: 'wav' } },
    ],
    [
      'audio of type mpeg',
      { type: 'audio', data: '', mediaType: 'audio/mpeg' },
      { type: 'input_audio', input_audio: { data: '', format: 'mp3' } },
    ],
    [
      'audio of type x-wav',
      { type: 'audio', data: '', mediaType: 'audio/x-wav' },
      { type: 'input_audio', input_audio: { data: '', format: 'wav' } },
    ],
    [
      'a file',
      { type: 'file', data: 'AAAA', mediaType: 'application/pdf', name: 'a.pdf' },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    ],
    [
      'a file without a name',
      { type: 'file', data: 'AAAA', mediaType: 'application/pdf' },
      {
        type: 'file',
        file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,AAAA' },
      },
    ],
    [
      'a raw part untouched',
      { type: 'raw', value: { type: 'video_url', x: [1] } },
      { type: 'video_url', x: [1] },
    ],
  ];
  for (const [title, part, wire] of parts) {
    it(`maps ${title}`, () => {
      expect(onWire(part)).to.deep.equal(wire);
    });
  }

  it('rejects audio by address, because servers accept only its content', () => {
    expect(() => onWire({ type: 'audio', url: 'https://x/a.wav' })).to.throw(
      InvalidArgumentError,
      '`data`',
    );
  });

  it('returns a text unchanged', () => {
    expect(toContent('hi')).to.equal('hi');
  });
});
