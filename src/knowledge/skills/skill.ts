import { InvalidArgumentError } from '../../core/errors/errors.js';
import { describe } from '../../core/errors/describe.js';
import { checkFields, isPlainObject, required, rule, TEXT } from '../../core/internal/options.js';

/** Instructions for a kind of task, in the shape of the Agent Skills specification. */
export interface Skill {
  /** 1 to 64 lowercase letters, digits and single hyphens between them. */
  readonly name: string;
  /** The tasks that it is for; 1 to 1,024 characters. */
  readonly description: string;
  /** The instructions: the text of `SKILL.md` after its front matter. */
  readonly body: string;
  /** Texts that the instructions refer to, by path, such as `references/forms.md`. @default none */
  readonly files?: Readonly<Record<string, SkillFile>> | undefined;
}

/** A text, or a function that reads it when a model asks for it. */
export type SkillFile = string | ((signal: AbortSignal) => string | Promise<string>);

const NAME = rule(
  '1 to 64 lowercase letters, digits and single hyphens between them',
  (value) =>
    typeof value === 'string' && value.length <= 64 && /^[a-z\d]+(?:-[a-z\d]+)*$/.test(value),
);
const DESCRIPTION = rule(
  'a non-blank string of at most 1,024 characters',
  (value) => TEXT.accepts(value) && (value as string).length <= 1_024,
);
const FILES = rule(
  'an object of texts, or of functions that return them, by path',
  (value) => isPlainObject(value) && Object.values(value).every(isFile),
);
const RULES = {
  name: required(NAME),
  description: required(DESCRIPTION),
  body: required(rule('a string', (value) => typeof value === 'string')),
  files: FILES,
};

function isFile(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'function';
}

/** @throws {@link InvalidArgumentError} if a field breaks the specification */
export function checkSkill(where: string, skill: Skill): void {
  if (!isPlainObject(skill))
    throw new InvalidArgumentError(`${where}: a skill must be an object, not ${describe(skill)}`);
  checkFields(where, skill, RULES);
}
