// Translates regular expressions of Java to JavaScript.
import { BOUNDARIES, propertySet, SETS } from './java-pattern-sets.ts'

/**
 * Returns a pattern that matches whole texts, as Java's `matches` does.
 * @throws SyntaxError if the text is no pattern, or uses what only Java has: its own blocks and properties, comments, graphemes.
 */
export function compileJavaPattern(text: string): RegExp {
  return new RegExp(`^(?:${new PatternTranslator(text).translate()})$`, 'v')
}

const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f', a: '\u0007', e: '\u001b' }

class PatternTranslator {
  readonly #text: string
  #at = 0
  /** Names of the groups so far, in order. Every group gets a name, so that added groups do not shift the numbers. */
  readonly #names: string[] = []
  #addedGroups = 0

  constructor(text: string) {
    this.#text = text
  }

  translate(): string {
    const pattern = this.#translateGroup()
    if (this.#at < this.#text.length) throw new SyntaxError('Unmatched closing parenthesis')
    return pattern
  }

  /** Translates up to the end of the group. A flag that is set in between applies until there, also to later alternatives. */
  #translateGroup(): string {
    const flags: string[] = []
    let pattern = ''
    while (this.#at < this.#text.length && this.#peek() !== ')') {
      const set = this.#consume(/\(\?([imsu]*)(-[imsu]+)?\)/y)
      if (set) {
        const [on = '', off = ''] = set.slice(1).map((letters) => letters?.replaceAll('u', ''))
        flags.push(`(?${on}${off === '-' ? '' : off}:`)
        pattern += flags.at(-1)
      } else if (this.#consume(/\|/y)) pattern += `${')'.repeat(flags.length)}|${flags.join('')}`
      else pattern += this.#translateQuantified()
    }
    return pattern + ')'.repeat(flags.length)
  }

  #translateQuantified(): string {
    if (this.#consume(/\\Q/y)) return [...this.#readQuoted()].map(toLiteral).join('')
    const atom = this.#translateAtom()
    const [, times = '', mode] = this.#consume(/([*+?]|\{\d+(?:,\d*)?\})([?+]?)/y) ?? []
    return mode === '+' ? this.#toAtomic(`${atom}${times}`) : `${atom}${times}${mode ?? ''}`
  }

  #readQuoted(): string {
    return this.#consume(/(.*?)(?:\\E|$)/sy)![1]!
  }

  #translateAtom(): string {
    const character = this.#consumeCharacter()
    if (character === '(') return this.#translateParenthesis()
    if (character === '[') return this.#translateSet()
    if (character === '\\') return this.#translateEscape()
    if ('^$.'.includes(character)) return character
    if ('*+?{'.includes(character)) throw new SyntaxError(`Dangling meta character '${character}'`)
    return toLiteral(character)
  }

  #translateParenthesis(): string {
    const atomic = this.#consume(/\?>/y)
    const opening = this.#consume(/\?(?:<?[=!]|[imsu]*(?:-[imsu]+)?:)/y)?.[0].replaceAll('u', '')
    const name = this.#consume(/\?<([A-Za-z][A-Za-z\d]*)>/y)?.[1]
    if (!atomic && opening === undefined) {
      if (this.#peek() === '?') throw new SyntaxError('Unknown group')
      this.#names.push(name ?? `_${this.#names.length + 1}`)
    }
    const start = opening ?? `?<${this.#names.at(-1)}>`
    const inside = this.#translateGroup()
    if (this.#consumeCharacter() !== ')') throw new SyntaxError('Unclosed group')
    return atomic ? this.#toAtomic(inside) : `(${start}${inside})`
  }

  /** Returns a group without backtracking, by means of a lookahead, which JavaScript never retries. */
  #toAtomic(pattern: string): string {
    const name = `__${++this.#addedGroups}`
    return `(?:(?=(?<${name}>${pattern}))\\k<${name}>)`
  }

  /** Translates a set of characters after its opening bracket. Java: && intersects its two sides. */
  #translateSet(): string {
    const start = this.#consume(/\^/y) ? '[^' : '['
    const parts = ['']
    let first = true
    while (first || this.#peek() !== ']') {
      if (this.#at >= this.#text.length) throw new SyntaxError('Unclosed character class')
      if (this.#consume(/&&/y)) parts.push('')
      else parts[parts.length - 1] += this.#translateMember()
      first = false
    }
    this.#consumeCharacter()
    const sides = parts.filter(Boolean)
    return `${start}${sides.length > 1 ? sides.map((side) => `[${side}]`).join('&&') : sides.join('')}]`
  }

  #translateMember(): string {
    if (this.#consume(/\[/y)) return this.#translateSet()
    if (this.#consume(/\\Q/y)) return [...this.#readQuoted()].map(toLiteral).join('')
    const from = this.#translateCharacter()
    return this.#consume(/-(?![[\]])/y) ? `${from}-${this.#translateCharacter()}` : from
  }

  #translateCharacter(): string {
    const character = this.#consumeCharacter()
    return character === '\\' ? this.#translateEscape() : toLiteral(character)
  }

  #translateEscape(): string {
    const number = this.#consume(/[1-9]/y)?.[0]
    if (number !== undefined) return this.#toBackreference(this.#names[Number(number) - 1])
    const reference = this.#consume(/k<(\w+)>/y)
    if (reference) return this.#toBackreference(reference[1])
    const property = this.#consume(/([pP])(?:\{([^}]+)\}|([A-Z]))/y)
    if (property) return propertySet(property[2] ?? property[3]!, property[1] === 'P')
    const code = this.#consume(/(?:x\{([\dA-Fa-f]+)\}|x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4}))/y)
    if (code) return `\\u{${code[1] ?? code[2] ?? code[3]}}`
    const octal = this.#consume(/0([0-3]?[0-7]{1,2})/y)
    if (octal) return toLiteral(String.fromCodePoint(Number.parseInt(octal[1]!, 8)))
    const letter = this.#consumeCharacter()
    const translation = SETS[letter] ?? BOUNDARIES[letter]
    if (translation !== undefined) return translation
    if (Object.hasOwn(CONTROLS, letter)) return toLiteral(CONTROLS[letter]!)
    if (/^[A-Za-z\d]?$/.test(letter)) throw new SyntaxError('Illegal/unsupported escape sequence')
    return toLiteral(letter)
  }

  #toBackreference(name: string | undefined): string {
    if (name === undefined || !this.#names.includes(name)) throw new SyntaxError('Reference to no group')
    return `\\k<${name}>`
  }

  #peek(): string | undefined {
    return this.#text[this.#at]
  }

  /** Consumes and returns the next character; empty at the end. */
  #consumeCharacter(): string {
    return this.#consume(/./suy)?.[0] ?? ''
  }

  /** Consumes and returns what a sticky pattern matches; undefined if it does not match. */
  #consume(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at = pattern.lastIndex
    return match ?? undefined
  }
}

/** Returns the pattern of a literal character, valid inside and outside of sets. */
function toLiteral(character: string): string {
  return /^[A-Za-z\d]$/.test(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`
}
