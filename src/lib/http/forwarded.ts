const PAIR = /[ \t]*([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))[ \t]*([;,]|$)/y

/** The elements of a `Forwarded` header (RFC 7239), names in lower case; of one that cannot be read: none. */
export function parseForwarded(header: string): Map<string, string>[] {
  const elements = [new Map<string, string>()]
  let at = 0
  while (at < header.length) {
    PAIR.lastIndex = at
    const [pair, name, quoted, plain, end] = PAIR.exec(header) ?? []
    if (pair === undefined) return []
    elements.at(-1)!.set(name!.toLowerCase(), plain ?? quoted!.replace(/\\(.)/g, '$1'))
    if (end === ',') elements.push(new Map())
    at += pair.length
  }
  return elements
}
