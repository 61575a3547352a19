import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));

describe('test runs', () => {
  it('[D39] use all cores while tests wait, and leave the slow files to a run of their own', () => {
    expect(read('.mocharc.json')).to.include({ parallel: true, jobs: 3 });
    expect(read('.mocharc.json')).to.have.deep.property('ignore', ['test/**/*.slow.test.ts']);
    expect(read('.mocharc.slow.json')).to.have.deep.property('spec', ['test/**/*.slow.test.ts']);
  });
});
