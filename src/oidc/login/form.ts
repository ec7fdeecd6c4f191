import type { FormProblem, LoginState } from './session/login-state.ts'

/** The fields of a submitted form. */
export type FormFields = Readonly<Record<string, string>>

/** The maximum length of a field, as of a parameter of an authorization request. */
export const MAX_FIELD_LENGTH = 4000

/** The maximum length of all values that are shown again. */
const MAX_STORED_LENGTH = 8 * 1024

/** Stores the problem of a form, and its values except for passwords and codes, for the page that is shown again. */
export function rejectForm({ state }: { readonly state: LoginState }, form: FormFields, problem: FormProblem): void {
  state.problem = problem
  const values: Record<string, string> = {}
  let size = 0
  for (const [name, value] of Object.entries(form)) {
    size += name.length + value.length
    if (!/password|otp/i.test(name) && value.length <= MAX_FIELD_LENGTH && size <= MAX_STORED_LENGTH)
      values[name] = value
  }
  state.values = values
}
