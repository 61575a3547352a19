/** A description of a run without times and their padding, which differ each time. */
export function withoutTimes(text: string): string {
  return text.replaceAll(/ +[\d,]+\.\d ms/g, ' … ms');
}

/** The names of the spans in a description of a run, indented by two spaces per level. */
export function namesIn(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.includes('─ * '))
    .map((line) => {
      const [, branches = '', name = ''] = /^([│├└─ ]*)(.*?)(?: {2}.*)?$/.exec(line) ?? [];
      return `${'  '.repeat(branches.length / 3)}${name}`;
    })
    .join('\n');
}
