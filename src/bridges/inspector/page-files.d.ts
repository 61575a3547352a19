/**
 * The page of the inspector, compiled by `npm run build:page`. The HTML loads `page.js` and `page.css` beside it, and everything from `api/`:
 * it may be served at any path that ends with a slash, under a policy of `default-src 'none'; script-src 'self'; style-src 'self';
 * connect-src 'self'; img-src data:`.
 */
export const PAGE_FILES: { readonly html: string; readonly js: string; readonly css: string };
