import type { GuardFinding, TextRule } from '../../advisors/guard/guard-rule.js';

/** A rule that finds a text; in a stream it holds back what may be the beginning of it. */
export function literal(text: string, name = 'word'): TextRule {
  return {
    name,
    scan: (whole, from, ended) => {
      const findings: GuardFinding[] = [];
      let settled = from;
      for (let at = whole.indexOf(text, from); at >= 0; at = whole.indexOf(text, settled)) {
        settled = at + text.length;
        findings.push({ start: at, end: settled, kind: name });
      }
      const rest = ended ? whole.length : Math.max(settled, whole.length - text.length + 1);
      return { findings, settled: rest };
    },
  };
}
