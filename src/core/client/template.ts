import { TemplateError } from '../errors/errors.js';

/** Values for the placeholders of a template, by name. */
export type TemplateParams = Readonly<Record<string, unknown>>;

/** Renders a template; see {@link renderTemplate} for the default. */
export type TemplateRenderer = (template: string, params: TemplateParams) => string;

const PLACEHOLDER = /\{([A-Za-z_$][\w$]*)\}/g;

/**
 * Replaces each `{name}` by its value, in one pass: braces in values and all others are kept.
 * @throws {@link TemplateError} if a placeholder has no value
 */
export function renderTemplate(template: string, params: TemplateParams): string {
  const names = [...template.matchAll(PLACEHOLDER)].map((match) => match[1] as string);
  const missing = [...new Set(names)].filter((name) => !Object.hasOwn(params, name));
  if (missing.length > 0)
    throw new TemplateError(
      `the template needs values for ${missing.map((name) => `{${name}}`).join(', ')}; add them with param(name, value)`,
      missing,
    );
  return template.replace(PLACEHOLDER, (_, name: string) => formatParam(params[name]));
}

/** Plain objects and arrays become JSON. */
function formatParam(value: unknown): string {
  const isPlain =
    typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  return isPlain || Array.isArray(value) ? JSON.stringify(value) : String(value);
}
