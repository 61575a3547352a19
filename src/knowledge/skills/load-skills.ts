import { constants } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { InvalidArgumentError, ToolError } from '../../core/errors/errors.js';
import { checkOption, checkOptions, FUNCTION, integer, TEXT } from '../../core/internal/options.js';
import { parseSkill } from './parse-skill.js';
import type { Skill, SkillFile } from './skill.js';

/** Options of {@link loadSkills}. */
export interface LoadSkillsOptions {
  /** Maximum size of a file in bytes, an integer >= 1. @default 200_000 */
  readonly maxFileSize?: number | undefined;
  /** Maximum number of files and folders of a skill, an integer >= 1. @default 500 */
  readonly maxFiles?: number | undefined;
  /**
   * Receives the error of a skill that cannot be loaded, and its folder; the others are loaded.
   * @default the first error is thrown
   */
  readonly onError?: ((error: InvalidArgumentError, folder: string) => void) | undefined;
}

const WHERE = 'loadSkills';
const RULES = { maxFileSize: integer(1), maxFiles: integer(1), onError: FUNCTION };

/**
 * Loads the skills of a folder: each of its folders with a `SKILL.md`, in the order of their names.
 * Files of a skill are read when a model asks for them. A link that leaves the folder of its skill is
 * an error, and so is a name that differs from the name of its folder; names that begin with a dot are
 * left out.
 * @throws {@link InvalidArgumentError} if the folder cannot be read, or a skill is invalid
 */
export async function loadSkills(
  folder: string,
  options: LoadSkillsOptions = {},
): Promise<readonly Skill[]> {
  checkOption(WHERE, 'folder', folder, TEXT);
  checkOptions(WHERE, options, RULES);
  const skills: Skill[] = [];
  for (const path of await skillFolders(folder)) {
    try {
      skills.push(await loadSkill(path, options));
    } catch (cause) {
      const error = toLoadError(cause, path);
      if (!options.onError) throw error;
      options.onError(error, path);
    }
  }
  return skills;
}

function toLoadError(cause: unknown, folder: string): InvalidArgumentError {
  return new InvalidArgumentError(`${WHERE}: ${folder}: ${reasonOf(cause)}`, { cause });
}

/** Other errors have paths of the machine, which no model should get. */
function reasonOf(cause: unknown): string {
  return cause instanceof InvalidArgumentError ? cause.message : 'it cannot be read';
}

/** The folders in a folder, and links to folders; one without a `SKILL.md` is left out. */
async function skillFolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new InvalidArgumentError(`${WHERE}: the folder ${folder} cannot be read`, { cause });
  });
  const names = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
  const paths = names.flatMap(({ name }) => (name.startsWith('.') ? [] : join(folder, name)));
  const isSkill = await Promise.all(paths.map((path) => isThere(join(path, 'SKILL.md'))));
  return paths.filter((_, at) => isSkill[at]).toSorted();
}

/** True also for what cannot be read: loading it names the reason. */
async function isThere(path: string): Promise<boolean> {
  try {
    return (await lstat(path)) !== undefined;
  } catch (error) {
    return !ABSENT.has((error as NodeJS.ErrnoException).code ?? '');
  }
}
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

async function loadSkill(folder: string, options: LoadSkillsOptions): Promise<Skill> {
  const root = await realpath(folder);
  const skill = parseSkill(await readInside(root, 'SKILL.md', options));
  if (skill.name !== basename(folder))
    throw new InvalidArgumentError(
      `SKILL.md: name is "${skill.name}"; it must be the name of the folder`,
    );
  const files = await filesOf(root, options);
  return Object.keys(files).length > 0 ? { ...skill, files } : skill;
}

/** The files of a skill, by their paths with `/`. */
async function filesOf(
  root: string,
  options: LoadSkillsOptions,
): Promise<Readonly<Record<string, SkillFile>>> {
  const files: [path: string, file: SkillFile][] = [];
  for (const path of await pathsIn(root, options))
    if (path !== 'SKILL.md') files.push([path, () => readForModel(root, path, options)]);
  return Object.fromEntries(files);
}

async function pathsIn(root: string, { maxFiles = 500 }: LoadSkillsOptions): Promise<string[]> {
  const paths: string[] = [];
  const folders = [''];
  let count = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue;
      const path = folder + entry.name;
      if (entry.isSymbolicLink()) await resolveInside(root, path);
      if (entry.isDirectory()) folders.push(`${path}/`);
      else paths.push(path);
      if (++count > maxFiles)
        throw new InvalidArgumentError(
          `it has more than ${maxFiles} files; remove some, or raise maxFiles`,
        );
    }
  return paths;
}

async function readForModel(
  root: string,
  path: string,
  options: LoadSkillsOptions,
): Promise<string> {
  try {
    return await readInside(root, path, options);
  } catch (cause) {
    const file = JSON.stringify(path);
    throw new ToolError(`The file ${file} of the skill was not read: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}

/** @throws {@link InvalidArgumentError} if it is outside, no file, too large or no text */
async function readInside(
  root: string,
  path: string,
  { maxFileSize = 200_000 }: LoadSkillsOptions,
): Promise<string> {
  const real = await resolveInside(root, path);
  // a pipe would wait for its writer
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new InvalidArgumentError(`${path} is not a file`);
    if (stat.size > maxFileSize)
      throw new InvalidArgumentError(`${path} has more than ${maxFileSize} bytes`);
    const bytes = Buffer.alloc(stat.size);
    const { bytesRead } = await file.read(bytes, 0, stat.size, 0);
    return textOf(bytes.subarray(0, bytesRead), path);
  } finally {
    await file.close();
  }
}

function textOf(bytes: Uint8Array, path: string): string {
  if (bytes.includes(0)) throw new InvalidArgumentError(`${path} is not a text`);
  return new TextDecoder().decode(bytes);
}

/** @throws {@link InvalidArgumentError} for a link that leaves the folder, or leads nowhere */
async function resolveInside(root: string, path: string): Promise<string> {
  const real = await realpath(join(root, path)).catch(() => undefined);
  if (real?.startsWith(root + sep)) return real;
  throw new InvalidArgumentError(`${path} is a link that leaves the folder of the skill`);
}
