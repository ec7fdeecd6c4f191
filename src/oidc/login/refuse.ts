import type { Form, Login, Problem } from './login.ts'

/** Notes what is wrong with an answer, and what was typed, for the page that asks again. Secrets are no part of it. */
export function refuse({ state }: Pick<Login, 'state'>, form: Form, problem: Problem): void {
  state.problem = problem
  state.values = Object.fromEntries(Object.entries(form).filter(([name]) => !/password|otp/i.test(name)))
}
