// The link of an email in HTML that administrators may have written: it leads whoever has it into an account.
import { escapeHtml } from '../../lib/html.ts'

/** A tag, with its attributes in quotes. */
const TAG = /<(?:"[^"]*"|'[^']*'|[^'">])*>/y

/** An anchor whose attributes all have values in quotes, which everybody reads alike. */
const ANCHOR = /^<a(?:\s+[\w-]+=(?:"[^"]*"|'[^']*'))+\s*>$/i
const ATTRIBUTE = /([\w-]+)=(?:"([^"]*)"|'([^']*)')/g

/** Elements and comments in which tags and texts are something else than they look like. */
const RAW = /<(?:style|script|template|textarea|title|xmp|iframe|noscript|noembed|plaintext|!--)/i

/** A place that no text can hold by itself: U+E000 is for private use. */
export const LINK_PLACEHOLDER = '\uE000link\uE000'

/**
 * Returns the HTML with the link in its places: as the address of an anchor, and as text. Anywhere else, such as in the address of an
 * image, the place stays empty: mail programs would send the link to whoever wrote the text.
 */
export function insertLink(html: string, link: string): string {
  if (RAW.test(html)) return withoutPlaces(html)
  let written = ''
  let end = 0
  for (let index = html.indexOf('<'); index >= 0; index = html.indexOf('<', end)) {
    TAG.lastIndex = index
    const tag = TAG.exec(html)?.[0]
    const text = html.slice(end, index)
    // A tag that does not end swallows what follows.
    if (tag === undefined || text.includes('>')) break
    written += withText(text, link) + withoutPlaces(ANCHOR.test(tag) ? withAddress(tag, link) : tag)
    end = index + tag.length
  }
  const rest = html.slice(end)
  return written + (/[<>]/.test(rest) ? withoutPlaces(rest) : withText(rest, link))
}

const withText = (text: string, link: string): string => text.replaceAll(LINK_PLACEHOLDER, escapeHtml(link))

/** The anchor with the link where the place is its whole address. */
function withAddress(anchor: string, link: string): string {
  return anchor.replace(ATTRIBUTE, (whole, name: string, value?: string, other?: string) =>
    name.toLowerCase() === 'href' && (value ?? other) === LINK_PLACEHOLDER ? `href="${escapeHtml(link)}"` : whole,
  )
}

const withoutPlaces = (html: string): string => html.replaceAll(LINK_PLACEHOLDER, '')
