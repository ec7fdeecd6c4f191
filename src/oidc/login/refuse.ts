import type { Form, Login } from './login.ts'
import type { Problem } from './session/state.ts'

/** How many characters a field of a form has at most, as a parameter of a request. */
export const LONGEST_FIELD = 4000

/** How many characters of a form are kept at most, to be shown again. */
const MOST_KEPT = 8 * 1024

/** Notes what is wrong with an answer, and what was typed, for the page that asks again. Secrets are no part of it. */
export function refuse({ state }: Pick<Login, 'state'>, form: Form, problem: Problem): void {
  state.problem = problem
  const values: Record<string, string> = {}
  let size = 0
  for (const [name, value] of Object.entries(form)) {
    size += name.length + value.length
    if (!/password|otp/i.test(name) && value.length <= LONGEST_FIELD && size <= MOST_KEPT) values[name] = value
  }
  state.values = values
}
