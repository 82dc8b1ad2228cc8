/**
 * A plugin of Vite that puts the site, which the element loads its frame from, beside what
 * is built, and serves it where pages are tried out.
 */
export default function dpscope(options?: {
  /** Folder of the site below Vite's base; dpscope where it is not said. */
  folder?: string;
}): { name: string };
