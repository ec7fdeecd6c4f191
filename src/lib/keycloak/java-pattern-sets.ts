// Java's character classes and boundary matchers as patterns of JavaScript with the flag v. The classes are valid inside sets too.

const LINES = '\\n-\\r\\x85\\u2028\\u2029'
const BLANKS = '\\t \\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000'

/** Character classes by the letter after the backslash. Java's are ASCII only; JavaScript's \s is not. */
export const SETS: Readonly<Record<string, string>> = {
  d: '\\d',
  D: '\\D',
  w: '\\w',
  W: '\\W',
  s: '[\\t-\\r ]',
  S: '[^\\t-\\r ]',
  h: `[${BLANKS}]`,
  H: `[^${BLANKS}]`,
  v: `[${LINES}]`,
  V: `[^${LINES}]`,
}

/** Boundary matchers and line breaks by the letter after the backslash. They are valid outside sets only. */
export const BOUNDARIES: Readonly<Record<string, string>> = {
  b: '\\b',
  B: '\\B',
  A: '(?<![^])',
  z: '(?![^])',
  Z: `(?=(?:\\r\\n|[${LINES}])?(?![^]))`,
  R: `(?:\\r\\n|[${LINES}])`,
}

const POSIX: Readonly<Record<string, string>> = {
  Lower: 'a-z',
  Upper: 'A-Z',
  ASCII: '\\0-\\x7f',
  Alpha: 'A-Za-z',
  Digit: '\\d',
  Alnum: 'A-Za-z\\d',
  Punct: '!-\\/:-@\\[-`\\{-~',
  Graph: '!-~',
  Print: ' -~',
  Blank: '\\t ',
  Cntrl: '\\0-\\x1f\\x7f',
  XDigit: '\\dA-Fa-f',
  Space: '\\t-\\r ',
}

/**
 * Returns the set of \p{NAME}. The name is a POSIX class, a category, or `Is` with a property, category or script.
 * @throws SyntaxError if the name is none of these.
 */
export function propertySet(name: string, negated: boolean): string {
  const posix = Object.hasOwn(POSIX, name) ? POSIX[name] : undefined
  if (posix !== undefined) return `[${negated ? '^' : ''}${posix}]`
  const bare = /^Is(.+)$/.exec(name)?.[1]
  const candidates = bare === undefined ? [name] : [bare, `Script=${bare}`]
  const property = candidates.find(isProperty)
  if (property === undefined) throw new SyntaxError(`Unknown character property name {${name}}`)
  return `\\${negated ? 'P' : 'p'}{${property}}`
}

function isProperty(name: string): boolean {
  try {
    return new RegExp(`^\\p{${name}}$`, 'v').source !== ''
  } catch {
    return false
  }
}
