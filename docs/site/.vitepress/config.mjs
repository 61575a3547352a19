// The site of the docs: guides by VitePress, with a search that needs no server of ours; TypeDoc writes the reference into `api/`.
// The pages of the sidebar are the rows of the indexes, so that there is no second list.
import { readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = fileURLToPath(new URL('../..', import.meta.url));

/** The rows of an index page: its links, as entries of the sidebar. */
function rowsOf(page) {
  const text = readFileSync(`${docs}/${page}`, 'utf8');
  return [...text.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\.md\)/gm)].map(([, title, path]) => ({
    text: title,
    link: posix.join('/', dirname(page), path),
  }));
}

/** The pages import Vue, which is installed here and not above them. */
const vueOfThisFolder = {
  name: 'vue-of-this-folder',
  enforce: 'pre',
  resolveId(id) {
    return /^vue(\/|$)/.test(id)
      ? this.resolve(id, fileURLToPath(import.meta.url), { skipSelf: true })
      : undefined;
  },
};

const guides = rowsOf('index.md');
const isTutorial = ({ link }) => link.startsWith('/tutorial/');

export default {
  title: 'advisor-chain',
  description: 'Chat with language models through an ordered chain of advisors.',
  srcDir: '..',
  srcExclude: ['site/**', 'decisions/**'],
  outDir: 'dist',
  cleanUrls: true,
  // the sources stay in the repository
  ignoreDeadLinks: [/\/decisions\//, /CHANGELOG/, /README/, /LICENSE/, /SECURITY/],
  // a package of Vue of which the repository has another version
  vite: { plugins: [vueOfThisFolder], ssr: { noExternal: [/^entities(\/|$)/] } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/tutorial/first-chain' },
      { text: 'Advisors', link: '/advisors/' },
      { text: 'API', link: '/api/', target: '_self' },
    ],
    sidebar: [
      { text: 'Tutorial', items: guides.filter(isTutorial) },
      { text: 'Guides', items: guides.filter((page) => !isTutorial(page)) },
      { text: 'Advisors', collapsed: true, items: rowsOf('advisors/index.md') },
      { text: 'Models', collapsed: true, items: rowsOf('models.md') },
    ],
  },
};
