import type { UserEvent } from '../../../service/context/context.ts'
import type { UserFields } from '../../views.ts'
import type { FormFields } from '../form.ts'
import type { Challenge, Login } from '../login.ts'
import type { FormProblem } from '../session/login-state.ts'

/** The configuration of a required action. */
export type ActionConfig = Readonly<Record<string, string>>

/** Carries out a required action. Keycloak: RequiredActionProvider. */
export interface RequiredAction {
  /** The types of the user events. Keycloak: an event whose type was renamed is recorded with both types. */
  readonly events: readonly UserEvent['type'][]
  readonly details?: UserEvent['details']
  /** Returns further details of the event, from the fields of the user before and after the action. */
  listChanges?(before: UserFields, after: UserFields): UserEvent['details']
  /** Whether the user must do the action although it is none of their required actions. */
  isTriggered?(login: Login): Promise<boolean> | boolean
  /** Returns the page of the action; undefined if there is nothing to do. */
  challenge(login: Login, config: ActionConfig): Promise<Challenge | undefined> | Challenge | undefined
  /** Handles the submitted form; `again`: the page is shown again. */
  handleForm(login: Login, form: FormFields, config: ActionConfig): Promise<'done' | 'again' | FormProblem>
}
