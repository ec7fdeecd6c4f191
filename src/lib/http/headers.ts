// HTTP headers: values, and `Forwarded`.

/** Returns the text with the characters that a header cannot contain percent-encoded. */
export function toHeaderValue(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
}

/** Whether the text can be the value of a header. RFC 9110, section 5.5, without characters beyond ASCII. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text)
}

const FORWARDED_PAIR = /[ \t]*([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))[ \t]*([;,]|$)/y

/** Returns the elements of a `Forwarded` header (RFC 7239), names in lower case; none if the header is invalid. */
export function parseForwarded(header: string): Map<string, string>[] {
  const elements = [new Map<string, string>()]
  let at = 0
  while (at < header.length) {
    FORWARDED_PAIR.lastIndex = at
    const [pair, name, quoted, plain, end] = FORWARDED_PAIR.exec(header) ?? []
    if (pair === undefined) return []
    elements.at(-1)!.set(name!.toLowerCase(), plain ?? quoted!.replace(/\\(.)/g, '$1'))
    if (end === ',') elements.push(new Map())
    at += pair.length
  }
  return elements
}
