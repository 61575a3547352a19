import { refusal, answer } from './handler-answer.js';

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** A file of the page. @throws Refusal if the page was not built, which a package has always been */
export async function pageFile(name: keyof typeof TYPES): Promise<Response> {
  const { PAGE_FILES } = await import('./page-files.js').catch((cause: unknown) => {
    const text = 'The page of the inspector is not built: run `npm run build:page`.';
    throw Object.assign(refusal(503, 'no_page', text), { cause });
  });
  return answer(PAGE_FILES[name], TYPES[name]);
}
