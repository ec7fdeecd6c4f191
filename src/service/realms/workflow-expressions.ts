// The expressions of workflows: names, each with or without something in parentheses, joined by and, or and not.

/** Parentheses that may be open at once: each is a call. */
const DEEPEST = 1000

/** Returns the names in an expression, or the message for one that cannot be read. */
export function namesIn(expression: string): { readonly names: readonly string[] } | { readonly problem: string } {
  const tokens = tokensOf(expression)
  const names: string[] = []
  let at = 0
  let depth = 0
  const here = () => tokens[at]!
  const fail = (problem: string): never => {
    throw new SyntaxProblem(`Invalid expression "${expression}": ${problem}`)
  }
  const demand = (what: string): never => {
    const { text, offset } = here()
    return fail(`expected ${what}, but found ${text === '' ? 'the end' : `"${text}" at character ${offset + 1}`}`)
  }
  const either = (): void => {
    both()
    while (here().type === 'or') {
      at++
      both()
    }
  }
  const both = (): void => {
    one()
    while (here().type === 'and') {
      at++
      one()
    }
  }
  const one = (): void => {
    while (here().type === 'not') at++
    const token = here()
    if (token.type === 'name') {
      names.push(token.text)
      at++
      if (here().type !== '(') return
      at++
      if (here().type === 'parameter') at++
    } else if (token.type === '(') {
      at++
      depth++
      if (depth > DEEPEST) fail(`more than ${DEEPEST} parentheses are open`)
      either()
      depth--
    } else demand('a name, "not" or "("')
    if (here().type !== ')') demand('")"')
    at++
  }
  try {
    either()
    if (here().type !== 'end') demand('"and", "or" or the end')
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

const WORDS: Readonly<Record<string, Token['type']>> = { and: 'and', or: 'or', not: 'not', '!': 'not' }

/** Up to the closing parenthesis outside of quotes; a quote that does not end is a character like others, as are those after it. */
const PARAMETER = /^(?:[^)"]|"(?:[^"\\]|\\.)*")*(?:"[^)]*)?/s

/** Keycloak: what is no part of an expression is passed over. */
function tokensOf(expression: string): Token[] {
  const tokens: Token[] = []
  for (let offset = 0; offset < expression.length; ) {
    const [text = ''] = /^(?:[A-Za-z0-9_-]+|[()!])/.exec(expression.slice(offset)) ?? []
    const last = tokens.at(-1)
    offset += text.length || 1
    if (text === '') continue
    const type = text === '(' || text === ')' ? text : (WORDS[text.toLowerCase()] ?? 'name')
    tokens.push({ type, text, offset: offset - text.length })
    if (type !== '(' || last?.type !== 'name') continue
    const [parameter = ''] = PARAMETER.exec(expression.slice(offset)) ?? []
    if (parameter !== '') tokens.push({ type: 'parameter', text: parameter, offset })
    offset += parameter.length
  }
  return [...tokens, { type: 'end', text: '', offset: expression.length }]
}
