// Inserts the link of an email into its HTML, which an administrator may have written. The link gives access to an account.
import { escapeHtml } from '../../lib/html.ts'

/** A tag with quoted attributes. */
const TAG = /<(?:"[^"]*"|'[^']*'|[^'">])*>/y

/** An anchor whose attributes are all quoted, so that every email client parses it in the same way. */
const ANCHOR = /^<a(?:\s+[\w-]+=(?:"[^"]*"|'[^']*'))+\s*>$/i
const ATTRIBUTE = /([\w-]+)=(?:"([^"]*)"|'([^']*)')/g

/** Elements and comments whose content is not parsed as tags and text. */
const RAW = /<(?:style|script|template|textarea|title|xmp|iframe|noscript|noembed|plaintext|!--)/i

/** A link, and the placeholder that it replaces. */
export interface InsertedLink {
  readonly link: string
  /** A random text: the author of a text must not be able to write it. */
  readonly placeholder: string
}

/**
 * Inserts the link as the address of an anchor, and as text. The placeholder is removed anywhere else, such as in the
 * address of an image: email clients would send the link to the author of the text.
 */
export function insertLink(html: string, inserted: InsertedLink): string {
  if (RAW.test(html)) return removePlaceholders(html, inserted)
  let result = ''
  let end = 0
  for (let index = html.indexOf('<'); index >= 0; index = html.indexOf('<', end)) {
    TAG.lastIndex = index
    const tag = TAG.exec(html)?.[0]
    const text = html.slice(end, index)
    // A tag without an end includes the text after it.
    if (tag === undefined || text.includes('>')) break
    result += insertIntoText(text, inserted)
    result += removePlaceholders(ANCHOR.test(tag) ? insertIntoAnchor(tag, inserted) : tag, inserted)
    end = index + tag.length
  }
  const rest = html.slice(end)
  return result + (/[<>]/.test(rest) ? removePlaceholders(rest, inserted) : insertIntoText(rest, inserted))
}

const insertIntoText = (text: string, { placeholder, link }: InsertedLink): string =>
  text.replaceAll(placeholder, escapeHtml(link))

/** Inserts the link where the placeholder is the whole address of the anchor. */
function insertIntoAnchor(anchor: string, { placeholder, link }: InsertedLink): string {
  return anchor.replace(ATTRIBUTE, (attribute, ...groups: [name: string, double?: string, single?: string]) => {
    const [name, double, single] = groups
    const isAddress = name.toLowerCase() === 'href' && (double ?? single) === placeholder
    return isAddress ? `href="${escapeHtml(link)}"` : attribute
  })
}

const removePlaceholders = (html: string, { placeholder }: InsertedLink): string => html.replaceAll(placeholder, '')
