import { expect } from 'chai';
import { embeddedTexts, TOOLS } from '../../support/tool-search.js';
import { MODES } from '../../support/modes.js';

for (const mode of MODES)
  describe(`ToolSearchAdvisor with a thousand sessions, ${mode}`, function () {
    this.timeout(60_000);

    it('builds one index of equal tools', async () => {
      expect(await embeddedTexts(mode, 1_000)).to.equal(TOOLS.length);
    });
  });
