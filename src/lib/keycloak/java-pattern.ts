// Patterns that were written for Java, as patterns of JavaScript.
import { POSITIONS, propertySet, SETS } from './java-pattern-sets.ts'

/**
 * A pattern that matches whole texts as Java's `matches` does. Throws SyntaxError at what is no pattern, and at what only Java
 * knows and nothing here does: blocks and properties of Java's own, comments inside patterns, graphemes.
 */
export function javaPattern(text: string): RegExp {
  return new RegExp(`^(?:${new Translation(text).whole()})$`, 'v')
}

const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f', a: '\u0007', e: '\u001b' }

class Translation {
  readonly #text: string
  #at = 0
  /** Names of the groups so far, in order: all groups have one, so that those that are added shift no numbers. */
  readonly #names: string[] = []
  #added = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): string {
    const pattern = this.#alternatives()
    if (this.#at < this.#text.length) throw new SyntaxError('Unmatched closing parenthesis')
    return pattern
  }

  /** Up to the end of the group. Flags that are set in between hold until there, for alternatives that follow too. */
  #alternatives(): string {
    const flags: string[] = []
    let pattern = ''
    while (this.#at < this.#text.length && this.#next() !== ')') {
      const set = this.#taken(/\(\?([imsu]*)(-[imsu]+)?\)/y)
      if (set) {
        const [on = '', off = ''] = set.slice(1).map((one) => one?.replaceAll('u', ''))
        flags.push(`(?${on}${off === '-' ? '' : off}:`)
        pattern += flags.at(-1)
      } else if (this.#taken(/\|/y)) pattern += `${')'.repeat(flags.length)}|${flags.join('')}`
      else pattern += this.#quantified()
    }
    return pattern + ')'.repeat(flags.length)
  }

  #quantified(): string {
    if (this.#taken(/\\Q/y)) return [...this.#quoted()].map(literal).join('')
    const atom = this.#atom()
    const [, times = '', how] = this.#taken(/([*+?]|\{\d+(?:,\d*)?\})([?+]?)/y) ?? []
    return how === '+' ? this.#atomic(`${atom}${times}`) : `${atom}${times}${how ?? ''}`
  }

  #quoted(): string {
    return this.#taken(/(.*?)(?:\\E|$)/sy)![1]!
  }

  #atom(): string {
    const one = this.#one()
    if (one === '(') return this.#group()
    if (one === '[') return this.#set()
    if (one === '\\') return this.#escaped()
    if ('^$.'.includes(one)) return one
    if ('*+?{'.includes(one)) throw new SyntaxError(`Dangling meta character '${one}'`)
    return literal(one)
  }

  #group(): string {
    const atomic = this.#taken(/\?>/y)
    const opening = this.#taken(/\?(?:<?[=!]|[imsu]*(?:-[imsu]+)?:)/y)?.[0].replaceAll('u', '')
    const name = this.#taken(/\?<([A-Za-z][A-Za-z\d]*)>/y)?.[1]
    if (!atomic && opening === undefined) {
      if (this.#next() === '?') throw new SyntaxError('Unknown group')
      this.#names.push(name ?? `_${this.#names.length + 1}`)
    }
    const start = opening ?? `?<${this.#names.at(-1)}>`
    const inside = this.#alternatives()
    if (this.#one() !== ')') throw new SyntaxError('Unclosed group')
    return atomic ? this.#atomic(inside) : `(${start}${inside})`
  }

  /** What is matched as it matched first: a look ahead is not tried again. */
  #atomic(pattern: string): string {
    const name = `__${++this.#added}`
    return `(?:(?=(?<${name}>${pattern}))\\k<${name}>)`
  }

  /** A set of characters, behind its bracket; && intersects what stands on both sides. */
  #set(): string {
    const start = this.#taken(/\^/y) ? '[^' : '['
    const parts = ['']
    let first = true
    while (first || this.#next() !== ']') {
      if (this.#at >= this.#text.length) throw new SyntaxError('Unclosed character class')
      if (this.#taken(/&&/y)) parts.push('')
      else parts[parts.length - 1] += this.#member()
      first = false
    }
    this.#one()
    const stated = parts.filter(Boolean)
    return `${start}${stated.length > 1 ? stated.map((one) => `[${one}]`).join('&&') : stated.join('')}]`
  }

  #member(): string {
    if (this.#taken(/\[/y)) return this.#set()
    if (this.#taken(/\\Q/y)) return [...this.#quoted()].map(literal).join('')
    const from = this.#character()
    return this.#taken(/-(?![[\]])/y) ? `${from}-${this.#character()}` : from
  }

  #character(): string {
    const one = this.#one()
    return one === '\\' ? this.#escaped() : literal(one)
  }

  #escaped(): string {
    const number = this.#taken(/[1-9]/y)?.[0]
    if (number !== undefined) return this.#backTo(this.#names[Number(number) - 1])
    const named = this.#taken(/k<(\w+)>/y)
    if (named) return this.#backTo(named[1])
    const property = this.#taken(/([pP])(?:\{([^}]+)\}|([A-Z]))/y)
    if (property) return propertySet(property[2] ?? property[3]!, property[1] === 'P')
    const code = this.#taken(/(?:x\{([\dA-Fa-f]+)\}|x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4}))/y)
    if (code) return `\\u{${code[1] ?? code[2] ?? code[3]}}`
    const octal = this.#taken(/0([0-3]?[0-7]{1,2})/y)
    if (octal) return literal(String.fromCodePoint(Number.parseInt(octal[1]!, 8)))
    const one = this.#one()
    const known = SETS[one] ?? POSITIONS[one]
    if (known !== undefined) return known
    if (Object.hasOwn(CONTROLS, one)) return literal(CONTROLS[one]!)
    if (/^[A-Za-z\d]?$/.test(one)) throw new SyntaxError('Illegal/unsupported escape sequence')
    return literal(one)
  }

  #backTo(name: string | undefined): string {
    if (name === undefined || !this.#names.includes(name)) throw new SyntaxError('Reference to no group')
    return `\\k<${name}>`
  }

  #next(): string | undefined {
    return this.#text[this.#at]
  }

  /** The next character; empty at the end. */
  #one(): string {
    return this.#taken(/./suy)?.[0] ?? ''
  }

  /** Takes what the pattern, a sticky one, matches, if it does. */
  #taken(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found) this.#at = pattern.lastIndex
    return found ?? undefined
  }
}

/** A character that means itself, inside of sets and outside. */
function literal(character: string): string {
  return /^[A-Za-z\d]$/.test(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`
}
