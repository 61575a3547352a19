import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

describe('the maps in the docs', () => {
  it('are those that `npm run maps` draws from the code: tree, slots, entries', function () {
    this.timeout(60_000);
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '.ci/maps.mjs'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      encoding: 'utf8',
    });

    expect(stderr).to.equal('');
    expect(status).to.equal(0);
  });
});
