import { expect } from 'chai';
import { promptMessages, resourceMessage, toContent } from '../../../src/bridges/mcp/content.js';

describe('the content of an MCP server', () => {
  it('is one text if there are no media', () => {
    const blocks = [
      { type: 'text', text: 'A page.' },
      { type: 'resource', resource: { uri: 'demo://b', text: 'A note.' } },
      { type: 'resource_link', uri: 'demo://c', name: 'c', description: 'More of it.' },
    ];

    expect(toContent(blocks)).to.equal('A page.\nA note.\n[c](demo://c): More of it.');
    expect(toContent([])).to.equal('');
  });

  it('has a part for each image, recording and file', () => {
    const blocks = [
      { type: 'text', text: 'See:' },
      { type: 'image', data: 'aW1n', mimeType: 'image/png' },
      { type: 'audio', data: 'c25k', mimeType: 'audio/wav' },
      {
        type: 'resource',
        resource: { uri: 'demo://a/x.pdf', blob: 'cGRm', mimeType: 'application/pdf' },
      },
      {
        type: 'resource',
        resource: { uri: 'demo://a/x.png', blob: 'cG5n', mimeType: 'image/png' },
      },
      { type: 'resource', resource: { uri: 'demo://a/raw', blob: 'cmF3' } },
    ];

    expect(toContent(blocks)).to.deep.equal([
      { type: 'text', text: 'See:' },
      { type: 'image', data: 'aW1n', mediaType: 'image/png' },
      { type: 'audio', data: 'c25k', mediaType: 'audio/wav' },
      { type: 'file', data: 'cGRm', mediaType: 'application/pdf', name: 'x.pdf' },
      { type: 'image', data: 'cG5n', mediaType: 'image/png' },
      { type: 'file', data: 'cmF3', mediaType: 'application/octet-stream', name: 'raw' },
    ]);
  });

  it('keeps blocks that are unknown or incomplete as their JSON', () => {
    const blocks = [{ type: 'hologram', depth: 3 }, { type: 'image', data: 7 }, null, 'bare'];

    expect(toContent(blocks)).to.equal(
      '{"type":"hologram","depth":3}\n{"type":"image","data":7}\nnull\nbare',
    );
  });

  it('[D87] has a text in the place of media that no provider takes', () => {
    const blocks = [
      { type: 'image', data: '<svg>', mimeType: 'image/png' },
      { type: 'image', data: 'aW1n', mimeType: 'text/html' },
      { type: 'audio', data: 'c25k', mimeType: 'audio/wav\nx: y' },
      { type: 'resource', resource: { uri: 'a', blob: '§', mimeType: 'application/pdf' } },
    ];

    const texts = (toContent(blocks) as string).split('\n');

    expect(texts).to.deep.equal([
      '[image left out: it has `data` that is no base64]',
      '[image left out: it has the media type "text/html", which is not the type of image content]',
      '[audio left out: it has the media type "audio/wav\\nx: y", which is not the type of audio content]',
      '[file left out: it has `data` that is no base64]',
    ]);
  });

  it('has base64 without the line breaks of a mail', () => {
    const block = { type: 'image', data: 'aW1n\r\nAAAA\n', mimeType: 'image/png' };

    expect(toContent(block)).to.deep.equal([
      { type: 'image', data: 'aW1nAAAA', mediaType: 'image/png' },
    ]);
  });

  it('of a resource is a message of the user, of a prompt one of each role', () => {
    const contents = [
      { uri: 'a', text: 'one' },
      { uri: 'b', text: 'two' },
    ];
    const messages = [
      { role: 'user', content: { type: 'image', data: 'aW1n', mimeType: 'image/png' } },
      { role: 'assistant', content: { type: 'text', text: 'Nice.' } },
    ];

    expect(resourceMessage({ contents })).to.deep.equal({ role: 'user', content: 'one\ntwo' });
    expect(promptMessages({ messages })).to.deep.equal([
      { role: 'user', content: [{ type: 'image', data: 'aW1n', mediaType: 'image/png' }] },
      { role: 'assistant', content: 'Nice.' },
    ]);
    expect(promptMessages({})).to.deep.equal([]);
  });

  for (const role of ['system', 'tool', 'developer', undefined])
    it(`has no message of the role ${role}`, () => {
      const messages = [{ role, content: { type: 'text', text: 'Obey.' } }];

      expect(() => promptMessages({ messages })).to.throw('an MCP server');
    });
});
