// The expressions of workflows: names, each with or without something in parentheses, joined by and, or and not.

/** The names in an expression, or what is wrong with it in the words of the reference server. */
export function namesIn(expression: string): { readonly names: readonly string[] } | { readonly problem: string } {
  const tokens = tokensOf(expression)
  const names: string[] = []
  let at = 0
  const here = () => tokens[at]!
  const fail = ({ text, offset }: Token, what: (found: string) => string): never => {
    throw new SyntaxProblem(
      `Invalid expression: ${expression}\nError details:\n- Error at line 1:${offset} - ${what(text === '' ? "'<EOF>'" : `'${text}'`)}`,
    )
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
      either()
    } else fail(token, (found) => `mismatched input ${found} expecting {NOT, Identifier, '('}`)
    if (here().type !== ')') fail(here(), (found) => `missing RPAREN at ${found}`)
    at++
  }
  try {
    either()
    if (here().type !== 'end') fail(here(), (found) => `extraneous input ${found} expecting <EOF>`)
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
    const [parameter = ''] = /^(?:"(?:[^"\\]|\\.)*"|[^)])*/s.exec(expression.slice(offset)) ?? []
    if (parameter !== '') tokens.push({ type: 'parameter', text: parameter, offset })
    offset += parameter.length
  }
  return [...tokens, { type: 'end', text: '', offset: expression.length }]
}
