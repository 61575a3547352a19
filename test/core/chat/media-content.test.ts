import { expect } from 'chai';
import { base64Of, withContent } from '../../../src/core/chat/media-content.js';

describe('content of media', () => {
  it('finds the content of media in a data URL', () => {
    const part = { type: 'image', url: 'data:image/png;base64,AQI=' } as const;
    const text = { type: 'file', url: 'data:text/plain,a%20b%' } as const;

    expect(withContent(part)).to.deep.equal({
      type: 'image',
      data: 'AQI=',
      mediaType: 'image/png',
    });
    expect(base64Of(text, 'x')).to.equal(btoa('a%20b%'));
    expect(withContent({ type: 'image', url: 'https://a.b/c' })).to.have.keys('type', 'url');
  });

  it('writes base64 of the alphabet of URLs in the standard one', () => {
    const part = { type: 'image', data: '-_8=', mediaType: 'image/png' } as const;

    expect(base64Of(part, 'x')).to.equal('+/8=');
  });
});
