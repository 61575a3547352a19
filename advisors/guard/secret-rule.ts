import type { TextRule } from './guard-rule.js';
import { kindRule, type KindRuleOptions, type KindTable } from './kind-rule.js';

/** Kinds of credentials that a {@link secretRule} finds. */
export type SecretKind = keyof typeof TABLE;

/** A key whose beginning is known; the rest may be of any length up to what no vendor uses. */
function key(start: string, characters: string, min: number): RegExp {
  return new RegExp(`(?<![\\dA-Za-z])(?:${start})[${characters}]{${min},512}`);
}

const KEY_NAME = '[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?';
const WORD = '\\w-';

/** Patterns of folded text: one plain space and dash for all, and one character to look back at. */
const TABLE = {
  'anthropic-key': key('sk-ant-', WORD, 20),
  'openai-key': key('sk-(?:proj-|svcacct-|admin-|or-v1-)?', WORD, 20),
  'aws-key-id': key('A(?:KIA|SIA|GPA|IDA|ROA)', 'A-Z\\d', 16),
  'azure-storage-key': key('AccountKey=', '\\w+/=', 40),
  'google-api-key': key('AIza', WORD, 30),
  'google-oauth-token': key('ya29\\.|GOCSPX-|1//0', WORD, 20),
  'github-token': key('gh[oprsu]_|github_pat_', '\\w', 20),
  'gitlab-token': key('gl(?:pat|ptt|rt|dt|soat)-', '\\w.-', 16),
  'slack-token': key('xox[abeoprs]-|xapp-', WORD, 10),
  'slack-webhook': key('hooks\\.slack\\.com/(?:services|workflows)/', '\\w/', 20),
  'stripe-key': key('[prs]k_(?:live|test)_|whsec_', '\\w', 16),
  'square-token': key('sq0(?:atp|csp)-', WORD, 20),
  'sendgrid-key': key('SG\\.', '\\w.-', 20),
  'mailgun-key': key('key-', '\\da-f', 32),
  'mailchimp-key': /(?<![\dA-Za-z])[\da-f]{32}-us\d{1,2}(?!\w)/,
  'twilio-key': /(?<![\dA-Za-z])(?:SK|AC)[\da-f]{32}(?!\w)/,
  'npm-token': key('npm_', '\\dA-Za-z', 30),
  'pypi-token': key('pypi-', WORD, 30),
  'huggingface-token': key('hf_', '\\dA-Za-z', 30),
  'groq-key': key('gsk_', '\\dA-Za-z', 30),
  'xai-key': key('xai-', '\\w', 40),
  'databricks-token': key('dapi', '\\da-f-', 32),
  'digitalocean-token': key('do[oprt]_v1_', '\\da-f', 40),
  'shopify-token': key('shp(?:at|ca|pa|ss)_', '\\dA-Fa-f', 30),
  'telegram-token': /(?<![\dA-Za-z])\d{8,10}:[\w-]{35}(?!\w)/,
  'vault-token': key('hv[bsr]\\.', WORD, 20),
  'notion-token': key('ntn_|secret_', '\\dA-Za-z', 40),
  'linear-key': key('lin_(?:api|oauth)_', '\\w', 30),
  'grafana-token': key('glsa_|glc_', '\\w=', 30),
  'age-key': key('AGE-SECRET-KEY-1', '\\dA-Z', 40),
  jwt: /(?<![\dA-Za-z])eyJ[\w-]{8,8000}(?:\.{1,2}[\w-]{4,24000}){1,4}/,
  'url-password': /(?<=:)\/\/[^\s:/@]{0,64}:[^\s/@]{1,256}(?=@)/,
  // the body ends before another block, so that blocks without ends take linear time
  'private-key': new RegExp(
    `-----BEGIN ${KEY_NAME}-----(?:(?:[^-]|-(?!----)){0,24000}-----END ${KEY_NAME}-----|(?:[\\w+/=\\s\\\\:,]|-(?!----)){0,24000})`,
  ),
} as const satisfies KindTable<string>;

/**
 * A rule that finds credentials and names them: keys of known vendors, JSON Web Tokens, passwords in
 * URLs, blocks of private keys, also if they do not end.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function secretRule(options: KindRuleOptions<SecretKind> = {}): TextRule {
  return kindRule('secretRule', 'secrets', TABLE, options);
}
