import { existsSync } from 'node:fs';
import type { Context } from 'mocha';
import { chromium, type Browser } from 'playwright-core';

const PATH = '/usr/bin/chromium';

/** A browser without a screen that reaches this machine alone. Skips the tests if there is none; in CI, throws instead. */
export async function launchBrowser(context: Context): Promise<Browser> {
  if (!existsSync(PATH)) {
    const reason = `there is no Chromium at ${PATH}: apt-get install --no-install-recommends chromium`;
    if (process.env['CI'] === 'true') throw new Error(`${reason}; CI needs it`);
    console.log(`      skipped: ${reason}`);
    context.skip();
  }
  return chromium.launch({
    executablePath: PATH,
    args: [
      '--no-sandbox', // root has none
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  });
}
