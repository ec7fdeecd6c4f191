// The format of Java's property files, in UTF-8. java.util.Properties.

/** Parses a property file. Of a key that occurs twice, the last value counts. */
export function parseProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>()
  for (const line of joinLines(text)) {
    const [, key = '', value = ''] = /^((?:\\[\s\S]|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?([\s\S]*)$/.exec(line)!
    properties.set(unescapeText(key), unescapeText(value))
  }
  return properties
}

/** Returns the lines that declare something. A line that ends with a backslash continues in the next one. */
function joinLines(text: string): string[] {
  const lines: string[] = []
  let isContinued = false
  for (const raw of text.split(/\r\n|[\r\n]/)) {
    const line = raw.replace(/^[ \t\f]+/, '')
    if (!isContinued && /^(?:[#!]|$)/.test(line)) continue
    const ends = /\\*$/.exec(line)![0].length % 2 === 1
    const part = ends ? line.slice(0, -1) : line
    if (isContinued) lines.push(lines.pop()! + part)
    else lines.push(part)
    isContinued = ends
  }
  return lines
}

const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function unescapeText(text: string): string {
  return text.replace(/\\(?:u([\da-f]{4})|([\s\S]))/gi, (_, code: string | undefined, character: string) =>
    code === undefined ? (CONTROLS[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
