// Message templates of Keycloak's translations: the syntax of java.text.MessageFormat.

const PARTS = /''|'((?:[^']|'')*)(?:'|$)|\{(\d+)(?:,\s*choice\s*,([^{}]*)|,[^{}]*)?\}/g

/**
 * Returns the pattern with its placeholders replaced: `{0}`, or `{0,choice,0#none|1#one|1<many}` by a number. Two apostrophes
 * are one; text between single apostrophes is literal. Placeholders without a value, and invalid ones, are kept.
 */
export function formatMessage(pattern: string, values: readonly (string | number)[]): string {
  return pattern.replace(PARTS, (match: string, ...groups: readonly (string | undefined)[]) => {
    const [quoted, index, choices] = groups
    if (quoted !== undefined) return quoted.replaceAll("''", "'")
    if (index === undefined) return "'"
    const value = values[Number(index)]
    if (value === undefined) return match
    return choices === undefined ? String(value) : choose(choices, Number(value))
  })
}

/** Returns the last choice of `0#none|1#one|1<many` whose limit the number reaches, or with `<` exceeds; the first if it reaches none. */
function choose(choices: string, value: number): string {
  const parts = choices.split('|').flatMap((part) => {
    const [, limit, sign, text] = /^\s*(-?[\d.]+)([#<≤])(.*)$/s.exec(part) ?? []
    return limit === undefined ? [] : [{ limit: Number(limit), isExclusive: sign === '<', text: text! }]
  })
  const reached = parts.filter(({ limit, isExclusive }) => (isExclusive ? value > limit : value >= limit))
  return (reached.at(-1) ?? parts[0])?.text ?? ''
}
