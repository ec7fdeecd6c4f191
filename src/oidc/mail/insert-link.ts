// Inserts the link of an email into its HTML, which an administrator may have written. The link gives access to an account.
import { escapeHtml } from '../../lib/html.ts'

/** A tag with quoted attributes. */
const TAG = /<(?:"[^"]*"|'[^']*'|[^'">])*>/y

/** An anchor whose attributes are all quoted, so that every email client parses it in the same way. */
const ANCHOR = /^<a(?:\s+[\w-]+=(?:"[^"]*"|'[^']*'))+\s*>$/i
const ATTRIBUTE = /([\w-]+)=(?:"([^"]*)"|'([^']*)')/g

/** Elements and comments whose content is not parsed as tags and text. */
const RAW = /<(?:style|script|template|textarea|title|xmp|iframe|noscript|noembed|plaintext|!--)/i

/** The placeholder of the link. No text contains it otherwise, since U+E000 is a private use character. */
export const LINK_PLACEHOLDER = '\uE000link\uE000'

/**
 * Inserts the link as the address of an anchor, and as text. The placeholder is removed anywhere else, such as in the
 * address of an image: email clients would send the link to the author of the text.
 */
export function insertLink(html: string, link: string): string {
  if (RAW.test(html)) return removePlaceholders(html)
  let result = ''
  let end = 0
  for (let index = html.indexOf('<'); index >= 0; index = html.indexOf('<', end)) {
    TAG.lastIndex = index
    const tag = TAG.exec(html)?.[0]
    const text = html.slice(end, index)
    // A tag without an end includes the text after it.
    if (tag === undefined || text.includes('>')) break
    result += insertIntoText(text, link) + removePlaceholders(ANCHOR.test(tag) ? insertIntoAnchor(tag, link) : tag)
    end = index + tag.length
  }
  const rest = html.slice(end)
  return result + (/[<>]/.test(rest) ? removePlaceholders(rest) : insertIntoText(rest, link))
}

const insertIntoText = (text: string, link: string): string => text.replaceAll(LINK_PLACEHOLDER, escapeHtml(link))

/** Inserts the link where the placeholder is the whole address of the anchor. */
function insertIntoAnchor(anchor: string, link: string): string {
  return anchor.replace(ATTRIBUTE, (attribute, ...groups: [name: string, double?: string, single?: string]) => {
    const [name, double, single] = groups
    const isAddress = name.toLowerCase() === 'href' && (double ?? single) === LINK_PLACEHOLDER
    return isAddress ? `href="${escapeHtml(link)}"` : attribute
  })
}

const removePlaceholders = (html: string): string => html.replaceAll(LINK_PLACEHOLDER, '')
