import { checkOption, rule } from '../../core/internal/options.js';

const NAME = rule(
  'a letter or "_" and then up to 39 letters, digits or "_"',
  (name) => typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name),
);

/**
 * Quotes a name from the configuration with a suffix.
 * @throws {@link InvalidArgumentError} if it could be anything but a name in a query
 */
export function quoteName(where: string, option: string, name: string, suffix = ''): string {
  checkOption(where, option, name, NAME);
  return `"${name}${suffix}"`;
}
