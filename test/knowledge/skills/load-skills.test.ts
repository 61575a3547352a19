import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { InvalidArgumentError, ToolError } from '../../../src/index.js';
import type { Skill } from '../../../src/knowledge/index.js';
import { loadSkills, type LoadSkillsOptions } from '../../../src/knowledge/skills/load-skills.js';
import { failureOf } from '../../support/modes.js';

const signal = new AbortController().signal;

describe('loadSkills', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skills-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function write(
    path: string,
    content: string | Uint8Array = `text of ${path}`,
  ): Promise<void> {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  const writeSkill = (name: string): Promise<void> =>
    write(`skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: About ${name}.\n---\nBody.`);
  const load = (options?: LoadSkillsOptions): Promise<readonly Skill[]> =>
    loadSkills(join(folder, 'skills'), options);
  const readFile = async (skill: Skill | undefined, path: string): Promise<string> => {
    const file = skill?.files?.[path];
    return typeof file === 'function' ? file(signal) : (file ?? 'no such file');
  };

  it('loads each folder with a SKILL.md, in order, with its files', async () => {
    for (const name of ['b', 'a']) await writeSkill(name);
    await write('skills/a/references/x.md');
    await write('skills/a/scripts/deep/y.py');
    await write('skills/a/.git/config');
    await write('skills/a/.env');
    await write('skills/no-skill/readme.md');
    await write('skills/.hidden/SKILL.md');
    await write('skills/readme.md');

    const skills = await load();

    expect(skills.map(({ name, description, body }) => [name, description, body])).to.deep.equal([
      ['a', 'About a.', 'Body.'],
      ['b', 'About b.', 'Body.'],
    ]);
    expect(Object.keys(skills[0]?.files ?? {})).to.have.members([
      'references/x.md',
      'scripts/deep/y.py',
    ]);
    expect(skills[1]).not.to.have.property('files');
    expect(await readFile(skills[0], 'references/x.md')).to.equal(
      'text of skills/a/references/x.md',
    );
  });

  it('loads a folder that is linked, and a link within a skill', async () => {
    await write('elsewhere/a/SKILL.md', '---\nname: a\ndescription: b\n---\n');
    await write('elsewhere/a/x.md', 'x');
    await symlink('x.md', join(folder, 'elsewhere/a/y.md'));
    await mkdir(join(folder, 'skills'));
    await symlink(join(folder, 'elsewhere/a'), join(folder, 'skills/a'));

    const [skill] = await load();

    expect(await readFile(skill, 'y.md')).to.equal('x');
  });

  const HOSTILE: Readonly<Record<string, () => Promise<void>>> = {
    'a link to a file outside': async () => {
      await write('secret.txt');
      await symlink('../../secret.txt', join(folder, 'skills/bad/x.md'));
    },
    'an absolute link': () => symlink('/etc/passwd', join(folder, 'skills/bad/x.md')),
    'a link to a folder outside': () => symlink('../..', join(folder, 'skills/bad/x')),
    'a link to a folder whose name begins with its own': async () => {
      await write('skills/bad-secrets/x.md');
      await symlink('../bad-secrets/x.md', join(folder, 'skills/bad/x.md'));
    },
    'a link to itself': () => symlink('x', join(folder, 'skills/bad/x')),
    'a link that leads nowhere': () => symlink('nothing', join(folder, 'skills/bad/x')),
    'a SKILL.md that is a link outside': async () => {
      await write('secret.txt', '---\nname: bad\ndescription: x\n---\nsecret');
      await rm(join(folder, 'skills/bad/SKILL.md'));
      await symlink('../../secret.txt', join(folder, 'skills/bad/SKILL.md'));
    },
    'a SKILL.md that is a folder': async () => {
      await rm(join(folder, 'skills/bad/SKILL.md'));
      await mkdir(join(folder, 'skills/bad/SKILL.md'));
    },
    'a SKILL.md that is a pipe': async () => {
      await rm(join(folder, 'skills/bad/SKILL.md'));
      execFileSync('mkfifo', [join(folder, 'skills/bad/SKILL.md')]);
    },
    'a SKILL.md of another name': () =>
      write('skills/bad/SKILL.md', '---\nname: good\ndescription: x\n---\n'),
    'a SKILL.md with bytes': () => write('skills/bad/SKILL.md', new Uint8Array(9)),
    'a huge SKILL.md': () => write('skills/bad/SKILL.md', 'x'.repeat(300_000)),
    'too many files': async () => {
      for (let at = 0; at < 25; at++) await write(`skills/bad/${at}/x.md`);
    },
    'folders in folders': () => write(`skills/bad/${'d/'.repeat(30)}x.md`),
  };

  for (const [name, make] of Object.entries(HOSTILE))
    it(`refuses ${name}, and loads the others if asked to`, async () => {
      await writeSkill('bad');
      await writeSkill('good');
      await make();
      const errors: (readonly [error: Error, folder: string])[] = [];

      const failure = await failureOf(load({ maxFiles: 20 }));
      const skills = await load({ maxFiles: 20, onError: (...args) => errors.push(args) });

      expect(failure).to.be.instanceOf(InvalidArgumentError);
      expect(skills.map((skill) => skill.name)).to.deep.equal(['good']);
      expect(errors.map(([, path]) => path)).to.deep.equal([join(folder, 'skills/bad')]);
    });

  it('refuses files that have become something else since', async () => {
    await write('secret.txt', 'secret');
    await writeSkill('a');
    for (const path of ['link', 'pipe', 'gone', 'bytes', 'folder', 'huge'])
      await write(`skills/a/${path}`);
    const [skill] = await load({ maxFileSize: 1_000 });
    const at = (path: string): string => join(folder, 'skills/a', path);
    for (const path of ['link', 'pipe', 'gone', 'folder']) await rm(at(path));
    await symlink('../../secret.txt', at('link'));
    execFileSync('mkfifo', [at('pipe')]);
    await mkdir(at('folder'));
    await write('skills/a/bytes', new Uint8Array(9));
    await write('skills/a/huge', 'x'.repeat(1_001));

    for (const path of ['link', 'pipe', 'gone', 'bytes', 'folder', 'huge']) {
      const failure = await failureOf(readFile(skill, path));
      expect(failure, path).to.be.instanceOf(ToolError);
      expect(String(failure)).to.include(path).and.not.include(folder);
    }
  });

  it('refuses a skill inside of which a folder cannot be read, for users other than root', async function () {
    await writeSkill('a');
    await mkdir(join(folder, 'skills/a/closed'));
    await chmod(join(folder, 'skills/a/closed'), 0);
    const failure = await failureOf(load());
    await chmod(join(folder, 'skills/a/closed'), 0o700);

    if (process.getuid?.() === 0) expect(failure).to.equal(undefined);
    else expect(failure).to.be.instanceOf(InvalidArgumentError);
  });

  it('rejects a folder that is not there, and invalid options', async () => {
    expect(await failureOf(load())).to.be.instanceOf(InvalidArgumentError);
    expect(await failureOf(loadSkills(' '))).to.be.instanceOf(InvalidArgumentError);
    expect(await failureOf(load({ maxFiles: 0 }))).to.be.instanceOf(InvalidArgumentError);
    expect(await failureOf(load({ maxFile: 1 } as never)))
      .to.have.property('message')
      .that.includes('maxFiles');
  });
});
