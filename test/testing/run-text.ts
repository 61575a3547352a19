/** What is told of a run, without its times: they are different each time, and so is the room that is left for them. */
export function withoutTimes(text: string): string {
  return text.replaceAll(/ +[\d,]+\.\d ms/g, ' … ms');
}

/** The tree alone, two spaces for each level: what has a name and neither times nor counts. */
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
