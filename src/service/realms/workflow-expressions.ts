// The parser of workflow expressions: names with optional parameters in parentheses, combined by `and`, `or` and `not`.

/** The most nested parentheses; each is a recursive call. */
const MAX_DEPTH = 1000

/** Returns the names in an expression, or the problem of one that cannot be parsed. */
export function parseExpressionNames(
  expression: string,
): { readonly names: readonly string[] } | { readonly problem: string } {
  const tokens = tokenize(expression)
  const names: string[] = []
  let at = 0
  let depth = 0
  const current = () => tokens[at]!
  const fail = (problem: string): never => {
    throw new SyntaxProblem(`Invalid expression "${expression}": ${problem}`)
  }
  const expect = (expected: string): never => {
    const { text, offset } = current()
    return fail(`expected ${expected}, but found ${text === '' ? 'the end' : `"${text}" at character ${offset + 1}`}`)
  }
  const parseOr = (): void => {
    parseAnd()
    while (current().type === 'or') {
      at++
      parseAnd()
    }
  }
  const parseAnd = (): void => {
    parseTerm()
    while (current().type === 'and') {
      at++
      parseTerm()
    }
  }
  const parseTerm = (): void => {
    while (current().type === 'not') at++
    const token = current()
    if (token.type === 'name') {
      names.push(token.text)
      at++
      if (current().type !== '(') return
      at++
      if (current().type === 'parameter') at++
    } else if (token.type === '(') {
      at++
      depth++
      if (depth > MAX_DEPTH) fail(`more than ${MAX_DEPTH} parentheses are open`)
      parseOr()
      depth--
    } else expect('a name, "not" or "("')
    if (current().type !== ')') expect('")"')
    at++
  }
  try {
    parseOr()
    if (current().type !== 'end') expect('"and", "or" or the end')
  } catch (error) {
    if (error instanceof SyntaxProblem) return { problem: error.message }
    throw error
  }
  return { names }
}

class SyntaxProblem extends Error {}

interface Token {
  readonly type: 'and' | 'or' | 'not' | 'name' | '(' | ')' | 'parameter' | 'end'
  readonly text: string
  readonly offset: number
}

const OPERATORS: Readonly<Record<string, Token['type']>> = { and: 'and', or: 'or', not: 'not', '!': 'not' }

/** Matches up to the closing parenthesis outside of quotes. An unclosed quote is an ordinary character. */
const PARAMETER = /^(?:[^)"]|"(?:[^"\\]|\\.)*")*(?:"[^)]*)?/s

/** Keycloak: characters that are not part of an expression are ignored. */
function tokenize(expression: string): Token[] {
  const tokens: Token[] = []
  for (let offset = 0; offset < expression.length; ) {
    const [text = ''] = /^(?:[A-Za-z0-9_-]+|[()!])/.exec(expression.slice(offset)) ?? []
    const last = tokens.at(-1)
    offset += text.length || 1
    if (text === '') continue
    const type = text === '(' || text === ')' ? text : (OPERATORS[text.toLowerCase()] ?? 'name')
    tokens.push({ type, text, offset: offset - text.length })
    if (type !== '(' || last?.type !== 'name') continue
    const [parameter = ''] = PARAMETER.exec(expression.slice(offset)) ?? []
    if (parameter !== '') tokens.push({ type: 'parameter', text: parameter, offset })
    offset += parameter.length
  }
  return [...tokens, { type: 'end', text: '', offset: expression.length }]
}
