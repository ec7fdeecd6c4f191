// What Java calls sets of characters, and places between them, as patterns of JavaScript (flag v) that stand inside of sets too.

const LINES = '\\n-\\r\\x85\\u2028\\u2029'
const BLANKS = '\\t \\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000'

/** By the letter behind the backslash. Java knows ASCII only, where JavaScript's \s knows more. */
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

/** What stands outside of sets only. */
export const POSITIONS: Readonly<Record<string, string>> = {
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

/** The set of \p{…}: POSIX's, a category, or with Is a property, a category or a script. Throws SyntaxError at others. */
export function propertySet(name: string, negated: boolean): string {
  const posix = Object.hasOwn(POSIX, name) ? POSIX[name] : undefined
  if (posix !== undefined) return `[${negated ? '^' : ''}${posix}]`
  const bare = /^Is(.+)$/.exec(name)?.[1]
  const candidates = bare === undefined ? [name] : [bare, `Script=${bare}`]
  const known = candidates.find((one) => isProperty(one))
  if (known === undefined) throw new SyntaxError(`Unknown character property name {${name}}`)
  return `\\${negated ? 'P' : 'p'}{${known}}`
}

function isProperty(name: string): boolean {
  try {
    return new RegExp(`^\\p{${name}}$`, 'v').source !== ''
  } catch {
    return false
  }
}
