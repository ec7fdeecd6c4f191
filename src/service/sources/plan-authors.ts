// The authors of plans, who may not approve them if a setting requires a second approver.
import { failure, type ServiceError } from '../context/errors.ts'
import { type Caller, type Service, SYSTEM } from '../context/service.ts'
import { asStoreOperator } from '../context/store-operator.ts'
import type { PlanAuthor, SavedPlan } from '../context/store-types.ts'
import { listObjects } from '../objects/live-objects.ts'

/** Returns the caller as an author, with the email address of the user. A few statements, or none. */
export async function getCallingAuthor(service: Service, { actor, user }: Caller): Promise<PlanAuthor> {
  const { userId, user: name } = asStoreOperator(actor)
  const names = name === undefined ? [] : [name]
  if (!user) return { names, userId }
  const [live] = await service.read(SYSTEM, user.realm, (context) => listObjects(context, 'user', { ids: [user.id] }))
  const email = live?.representation.email
  return { names: [...names, ...(typeof email === 'string' ? [email] : [])], userId: user.id }
}

/** Throws forbidden if the approver made a change of the plan, or its authors are unknown. */
export function requireSecondApprover({ id, authors }: Pick<SavedPlan, 'id' | 'authors'>, approver: PlanAuthor): void {
  if (!authors)
    throw refuse(
      `Regent does not know who made the changes of the plan ${id}, so that nobody can approve it as a second user: its source records no authors. Apply the changes with "regent apply", or from git or resources with admission.`,
    )
  const author = authors.find((candidate) => isSame(candidate, approver))
  if (author)
    throw refuse(
      `${author.names[0] ?? 'You'} made changes of the plan ${id}. Another user must approve it, since the server requires a second approver.`,
    )
}

function isSame(author: PlanAuthor, approver: PlanAuthor): boolean {
  if (author.userId !== undefined && author.userId === approver.userId) return true
  const names = new Set(author.names.map((name) => name.toLowerCase()))
  return approver.names.some((name) => names.has(name.toLowerCase()))
}

const refuse = (reason: string): ServiceError => failure('forbidden', 'HTTP 403 Forbidden', { reason })
