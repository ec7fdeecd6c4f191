// Texts with places for values, in the form that translators of Keycloak know: java.text.MessageFormat.

const PARTS = /''|'((?:[^']|'')*)(?:'|$)|\{(\d+)(?:,\s*choice\s*,([^{}]*)|,[^{}]*)?\}/g

/**
 * The pattern with its places filled: `{0}`, or `{0,choice,0#none|1#one|1<many}` by a number. Two apostrophes are one, what
 * stands between single ones is taken as it is. A place without a value stays, as does what cannot be read.
 */
export function formatMessage(pattern: string, values: readonly (string | number)[]): string {
  return pattern.replace(PARTS, (whole: string, quoted?: string, index?: string, choices?: string) => {
    if (quoted !== undefined) return quoted.replaceAll("''", "'")
    if (index === undefined) return "'"
    const value = values[Number(index)]
    if (value === undefined) return whole
    return choices === undefined ? String(value) : choose(choices, Number(value))
  })
}

/** Of `0#none|1#one|1<many` the last whose limit the number reaches, or with `<` exceeds; the first where it reaches none. */
function choose(choices: string, value: number): string {
  const parts = choices.split('|').flatMap((part) => {
    const [, limit, sign, text] = /^\s*(-?[\d.]+)([#<≤])(.*)$/s.exec(part) ?? []
    return limit === undefined ? [] : [{ limit: Number(limit), beyond: sign === '<', text: text! }]
  })
  const reached = parts.filter(({ limit, beyond }) => (beyond ? value > limit : value >= limit))
  return (reached.at(-1) ?? parts[0])?.text ?? ''
}
