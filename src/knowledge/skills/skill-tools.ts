import { InvalidArgumentError, ToolError } from '../../core/errors/errors.js';
import { BOOLEAN, checkOption, checkOptions, integer, rule } from '../../core/internal/options.js';
import { truncateText } from '../../core/internal/text.js';
import { defineTool } from '../../core/tool/define-tool.js';
import type { NamedTool } from '../../core/tool/tool.js';
import { PORTABLE_NAME } from '../../core/chat/tool-definition.js';
import { checkSkill, type Skill } from './skill.js';

/** Options of {@link useSkillTool} and {@link skillTools}. */
export interface SkillToolOptions {
  /**
   * True if others have written the skills: a `GuardAdvisor` handles what they return as the text of
   * others, which is data. @default false
   */
  readonly untrusted?: boolean | undefined;
  /** Maximum length of a result in characters, >= 1,000; longer texts lose their middle. @default 50_000 */
  readonly maxLength?: number | undefined;
}

/** Options of {@link useSkillTool}. */
export interface UseSkillToolOptions extends SkillToolOptions {
  /** Name of the tool. @default 'use_skill' */
  readonly name?: string | undefined;
}

const RULES = { untrusted: BOOLEAN, maxLength: integer(1_000) };
const SKILLS = rule(
  'a list of at least one skill',
  (value) => Array.isArray(value) && value.length > 0,
);
/** Maximum number of paths in a result. */
const MAX_PATHS = 100;
const FILE = { type: 'string', description: 'Path of a file of the skill, to read it in place of the instructions' } as const; // prettier-ignore

/**
 * A tool that reads skills: the model gets their names and descriptions with the tool, their
 * instructions and files when it asks for them. For some dozens of skills; see {@link skillTools}.
 * @throws {@link InvalidArgumentError} if a skill or an option is invalid, or a name repeats
 */
export function useSkillTool(
  skills: readonly Skill[],
  options: UseSkillToolOptions = {},
): NamedTool {
  const where = 'useSkillTool';
  checkOptions(where, options, { ...RULES, name: PORTABLE_NAME });
  const byName = skillsByName(where, skills);
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return defineTool({
    name: options.name ?? 'use_skill',
    description:
      'Reads a skill: instructions for a kind of task. Read the skill that fits before you begin such a task.',
    input: {
      type: 'object',
      properties: {
        // here, since some providers limit the description of a tool to 1,024 characters
        skill: { type: 'string', enum: [...byName.keys()], description: `The skill:\n${list}` },
        file: FILE,
      },
      required: ['skill'],
    },
    ...settings(options),
    alwaysLoaded: true,
    execute: ({ skill, file }, { signal }) =>
      readSkill(byName.get(skill as string) as Skill, file as string | undefined, signal, options),
  });
}

/**
 * A tool for each skill, with its name and description, for hundreds of skills: a `ToolSearchAdvisor`
 * hides them until the model searches.
 * @throws {@link InvalidArgumentError} if a skill or an option is invalid, or a name repeats
 */
export function skillTools(
  skills: readonly Skill[],
  options: SkillToolOptions = {},
): readonly NamedTool[] {
  checkOptions('skillTools', options, RULES);
  skillsByName('skillTools', skills);
  return skills.map((skill) =>
    defineTool({
      name: skill.name,
      description: skill.description,
      category: 'skill',
      input: { type: 'object', properties: { file: FILE } },
      ...settings(options),
      execute: ({ file }, { signal }) =>
        readSkill(skill, file as string | undefined, signal, options),
    }),
  );
}

function settings({ untrusted = false }: SkillToolOptions) {
  return { effect: 'read', untrusted } as const;
}

function skillsByName(where: string, skills: readonly Skill[]): ReadonlyMap<string, Skill> {
  checkOption(where, 'skills', skills, SKILLS);
  const byName = new Map<string, Skill>();
  for (const skill of skills) {
    checkSkill(where, skill);
    if (byName.has(skill.name))
      throw new InvalidArgumentError(`${where}: two skills have the name "${skill.name}"`);
    byName.set(skill.name, skill);
  }
  return byName;
}

async function readSkill(
  { name, body, files = {} }: Skill,
  path: string | undefined,
  signal: AbortSignal,
  { maxLength = 50_000 }: SkillToolOptions,
): Promise<string> {
  const paths = Object.keys(files).toSorted();
  if (path === undefined) return `${truncateText(body, maxLength)}${listOf(paths)}`;
  // the model names one of the known paths; nothing is resolved
  const known = path.replace(/^\.\//, '');
  if (!Object.hasOwn(files, known))
    throw new ToolError(`The skill "${name}" has no file ${JSON.stringify(path)}.${listOf(paths)}`);
  const file = files[known];
  const text = typeof file === 'function' ? await file(signal) : file;
  return truncateText(text ?? '', maxLength);
}

function listOf(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  const more = paths.length > MAX_PATHS ? `\n(${paths.length - MAX_PATHS} more)` : '';
  return `\n\nFiles of this skill, for "file":\n${paths.slice(0, MAX_PATHS).join('\n')}${more}`;
}
