// What a required action does.
import type { Representation } from '../../../kinds/json.ts'
import type { UserEvent } from '../../../service/context/context.ts'
import type { Asked, Form, Login } from '../login.ts'
import type { Problem } from '../session/state.ts'

/** Something that a person must do at log-in. */
export interface RequiredAction {
  /** What is told when it is done or refused, and its details. Keycloak: what it calls otherwise today is told by both names. */
  readonly events: readonly UserEvent['type'][]
  readonly details?: UserEvent['details']
  /** Details of what was done, from the person before and after. */
  changes?(before: Representation, after: Representation): UserEvent['details']
  /** Whether the person must do it though nobody has said so. */
  due?(login: Login): Promise<boolean> | boolean
  /** Its page; undefined: there is nothing left to do. */
  begin(login: Login, config: Readonly<Record<string, string>>): Promise<Asked | undefined> | Asked | undefined
  /** Reads the answer. What is done leaves nothing of the action at the person; `again`: its page comes once more. */
  answer(login: Login, form: Form, config: Readonly<Record<string, string>>): Promise<'done' | 'again' | Problem>
}
