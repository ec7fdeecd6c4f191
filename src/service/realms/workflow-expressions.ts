// The parser of workflow expressions: names with optional parameters in parentheses, combined by `and`, `or` and `not`.

/** An expression of events or conditions. */
export type WorkflowExpression =
  | { readonly type: 'name'; readonly name: string; readonly parameter?: string }
  | { readonly type: 'not'; readonly operand: WorkflowExpression }
  | { readonly type: 'and' | 'or'; readonly operands: readonly WorkflowExpression[] }

/** Keycloak: the most characters of an expression, and its most nested parentheses. */
const MAX_LENGTH = 2048
const MAX_DEPTH = 10

/** Returns an expression, or the problem of one that cannot be parsed. Keycloak: the messages about its size are its own. */
export function parseWorkflowExpression(
  text: string,
): { readonly expression: WorkflowExpression } | { readonly problem: string } {
  if (text.length > MAX_LENGTH)
    return { problem: `Expression exceeds maximum allowed length of ${MAX_LENGTH} characters` }
  try {
    return { expression: new Parser(text).parse() }
  } catch (error) {
    if (error instanceof SyntaxProblem) return { problem: error.message }
    throw error
  }
}

/** Returns the names in an expression. */
export function listExpressionNames(expression: WorkflowExpression): string[] {
  switch (expression.type) {
    case 'name':
      return [expression.name]
    case 'not':
      return listExpressionNames(expression.operand)
    default:
      return expression.operands.flatMap(listExpressionNames)
  }
}

class SyntaxProblem extends Error {}

interface Token {
  readonly type: 'and' | 'or' | 'not' | 'name' | '(' | ')' | 'parameter' | 'end'
  readonly text: string
  readonly offset: number
}

class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = tokenize(text)
  }

  parse(): WorkflowExpression {
    const expression = this.#parseOperands('or')
    if (this.#current().type !== 'end') this.#refuse('"and", "or" or the end')
    return expression
  }

  #parseOperands(type: 'or' | 'and'): WorkflowExpression {
    const parseOperand = () => (type === 'or' ? this.#parseOperands('and') : this.#parseNot())
    const operands = [parseOperand()]
    while (this.#skip(type)) operands.push(parseOperand())
    return operands.length === 1 ? operands[0]! : { type, operands }
  }

  #parseNot(): WorkflowExpression {
    let isNegated = false
    while (this.#skip('not')) isNegated = !isNegated
    const operand = this.#parseTerm()
    return isNegated ? { type: 'not', operand } : operand
  }

  #parseTerm(): WorkflowExpression {
    const { type, text: name } = this.#current()
    if (this.#skip('name')) {
      if (!this.#skip('(')) return { type: 'name', name }
      const { text: parameter } = this.#current()
      const hasParameter = this.#skip('parameter')
      this.#expectEnd()
      return { type: 'name', name, ...(hasParameter && { parameter: unescapeParameter(parameter) }) }
    }
    if (type !== '(') this.#refuse('a name, "not" or "("')
    this.#at++
    this.#depth++
    if (this.#depth > MAX_DEPTH)
      throw new SyntaxProblem(`Expression exceeds maximum allowed nesting depth of ${MAX_DEPTH}`)
    const expression = this.#parseOperands('or')
    this.#depth--
    this.#expectEnd()
    return expression
  }

  #current(): Token {
    return this.#tokens[this.#at]!
  }

  #skip(type: Token['type']): boolean {
    const isCurrent = this.#current().type === type
    if (isCurrent) this.#at++
    return isCurrent
  }

  #expectEnd(): void {
    if (!this.#skip(')')) this.#refuse('")"')
  }

  #refuse(expected: string): never {
    const { text, offset } = this.#current()
    const current = text === '' ? 'the end' : `"${text}" at character ${offset + 1}`
    throw new SyntaxProblem(`Invalid expression "${this.#text}": expected ${expected}, but found ${current}`)
  }
}

const OPERATORS: Readonly<Record<string, Token['type']>> = { and: 'and', or: 'or', not: 'not', '!': 'not' }

/** Matches up to the closing parenthesis that is not escaped. */
const PARAMETER = /^(?:[^)\\]|\\.)*/s

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

/** Returns a parameter without its escapes. */
function unescapeParameter(parameter: string): string {
  return parameter.replaceAll('\\)', ')').replaceAll('\\\\', '\\')
}
