// Addresses as Java reads them (RFC 2396, and characters beyond ASCII), with what it says of those that it cannot read.

const ALNUM = 'A-Za-z\\d'
const OTHER =
  '\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\u{10ffff}'
const MARKS = "_.!~*'()-"
const set = (others: string) => new RegExp(`[${ALNUM}${OTHER}${(MARKS + others).replace(/[\]\\^-]/g, '\\$&')}]`, 'u')

const NAME = set('$,;:@&=+')
const PATH = set('/;:@&=+$,')
const ANY = set(';/?:@&=+$,[]')

/** A problem, in Java's words. */
interface Unread {
  readonly problem: string
}

/** The scheme of an address, and its fragment if it has one; or what is wrong with it. */
export function readUri(text: string): { readonly scheme?: string; readonly fragment?: string } | Unread {
  const at = (problem: string, index: number): Unread => ({ problem: `${problem} at index ${index}: ${text}` })
  const misplaced = (from: number, to: number, allowed: RegExp, part: string): Unread | undefined => {
    for (let index = from; index < to; index += 1) {
      const character = String.fromCodePoint(text.codePointAt(index)!)
      if (character === '%') {
        if (!/^%[\dA-Fa-f]{2}/.test(text.slice(index, Math.min(index + 3, to))))
          return at('Malformed escape pair', index)
        index += 2
      } else if (!allowed.test(character)) return at(`Illegal character in ${part}`, index)
      else index += character.length - 1
    }
    return undefined
  }
  const end = (from: number, stops: RegExp) => {
    const found = text.slice(from).search(stops)
    return found < 0 ? text.length : from + found
  }

  const colon = end(0, /[:/?#]/)
  const scheme = text[colon] === ':' ? text.slice(0, colon) : undefined
  if (scheme === '') return at('Expected scheme name', 0)
  const odd = scheme?.search(/(?<!^)[^A-Za-z\d+.-]|^[^A-Za-z]/) ?? -1
  if (odd >= 0) return at('Illegal character in scheme name', odd)
  const start = scheme === undefined ? 0 : colon + 1
  const hash = end(start, /#/)
  if (scheme !== undefined && start === hash) return at('Expected scheme-specific part', start)

  let wrong: Unread | undefined
  if (scheme !== undefined && text[start] !== '/') wrong = misplaced(start, hash, ANY, 'opaque part')
  else {
    const host = text.startsWith('//', start) ? start + 2 : start
    const path = host === start ? start : end(host, /[/?#]/)
    if (host !== start && host === text.length) return at('Expected authority', host)
    const query = end(path, /[?#]/)
    const isNumbered = /^(?:[^@]*@)?\[[\dA-Fa-f:.]+(?:%\w+)?\](?::\d*)?$/.test(text.slice(host, path))
    wrong =
      (isNumbered ? undefined : misplaced(host, path, NAME, 'authority')) ??
      misplaced(path, query, PATH, 'path') ??
      misplaced(query + 1, hash, ANY, 'query')
  }
  wrong ??= misplaced(hash + 1, text.length, ANY, 'fragment')
  if (wrong) return wrong
  return { ...(scheme !== undefined && { scheme }), ...(hash < text.length && { fragment: text.slice(hash + 1) }) }
}
