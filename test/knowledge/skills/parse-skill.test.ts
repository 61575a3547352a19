import { expect } from 'chai';
import { InvalidArgumentError } from '../../../src/index.js';
import { parseSkill } from '../../../src/knowledge/index.js';

const skillOf = (front: string, body = 'Do it.'): string => `---\n${front}\n---\n${body}`;
const descriptionOf = (lines: string): string =>
  parseSkill(skillOf(`name: a\n${lines}`)).description;

describe('parseSkill', () => {
  it('reads name, description and body, and leaves other fields out', () => {
    const text = skillOf(
      [
        '# a comment',
        'name: pdf-processing # a name',
        'description: Extracts text from PDF files. Use it for forms: all of them.',
        'license: Apache-2.0',
        'allowed-tools: [Read, "Bash(git:*)"]',
        'metadata:',
        '  author: example',
        '  version: "1.0"',
        'tags:',
        '- pdf',
        '',
      ].join('\n'),
      '\n# PDF\n\n---\n\nDo it.\n',
    );

    expect(parseSkill(text)).to.deep.equal({
      name: 'pdf-processing',
      description: 'Extracts text from PDF files. Use it for forms: all of them.',
      body: '# PDF\n\n---\n\nDo it.',
    });
    expect(parseSkill(`\ufeff${text.replaceAll('\n', '\r\n')}`).name).to.equal('pdf-processing');
  });

  it('reads the forms of a text in YAML', () => {
    expect(descriptionOf("description: 'It''s # here'")).to.equal("It's # here");
    expect(descriptionOf('description: "a \\"b\\" \\u00e9" # c')).to.equal('a "b" é');
    expect(descriptionOf('description: one\n  two\n  three')).to.equal('one two three');
    expect(descriptionOf('description:\n  one\n  two')).to.equal('one two');
    expect(descriptionOf('description: >-\n  one\n  two\n\n  three')).to.equal('one two\nthree');
    expect(descriptionOf('description: |\n  one\n    two')).to.equal('one\n  two');
  });

  for (const [reason, text] of [
    ['front matter', ''],
    ['front matter', 'Do it.'],
    ['front matter', '---\nname: a\ndescription: b'],
    ['name must be', skillOf('description: b')],
    ['name must be', skillOf('name: PDF\ndescription: b')],
    ['name must be', skillOf('name: a--b\ndescription: b')],
    ['name must be', skillOf('name: -a\ndescription: b')],
    ['name must be', skillOf('name: ../a\ndescription: b')],
    ['name must be', skillOf(`name: ${'a'.repeat(65)}\ndescription: b`)],
    ['description must be', skillOf('name: a')],
    ['description must be', skillOf('name: a\ndescription: " "')],
    ['description must be', skillOf(`name: a\ndescription: ${'b'.repeat(1_025)}`)],
    ['put it in quotes', skillOf('name: a\ndescription: *anchor')],
    ['put it in quotes', skillOf('name: a\ndescription: "b')],
    ['escape', skillOf('name: a\ndescription: "\\x"')],
    ['"name" is there twice', skillOf('name: a\nname: b\ndescription: c')],
    ['is no field', skillOf('name: a\n!!js/function x')],
  ] as const)
    it(`refuses ${JSON.stringify(text.slice(0, 40))}: ${reason}`, () => {
      expect(() => parseSkill(text, 'x/SKILL.md')).to.throw(InvalidArgumentError, reason);
      expect(() => parseSkill(text, 'x/SKILL.md')).to.throw('x/SKILL.md');
    });

  it('reads hostile texts in time', () => {
    const long = 50_000;
    for (const text of [
      skillOf(`name: a\ndescription: b${' '.repeat(long)}c`),
      skillOf(`name: a\ndescription: '${"''".repeat(long)}`),
      skillOf(`name: a\ndescription: "${'\\"'.repeat(long)}`),
      `---\n${'\n---x'.repeat(long)}`,
      `---\n${' '.repeat(long)}`,
      skillOf('a:\n'.repeat(long)),
    ]) {
      const start = performance.now();
      try {
        parseSkill(text);
      } catch (error) {
        expect(error).to.be.instanceOf(InvalidArgumentError);
      }
      expect(performance.now() - start).to.be.lessThan(500);
    }
  });
});
