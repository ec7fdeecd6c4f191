// The step notify-user, which sends an email to users, or about them to another address.
import { type Representation, readTextListMap } from '../../kinds/json.ts'
import { isUserField } from '../../kinds/user.ts'
import type { Email, EmailTemplate } from '../messages/email-templates.ts'
import { enqueueMessages } from '../messages/outbox.ts'
import { findLiveRealm, type LiveObject } from '../objects/live-objects.ts'
import { readStepSetting } from '../realms/workflows.ts'
import type { StepExecution } from './step-execution.ts'

const DAY_MS = 86_400_000

/** The templates of the emails that announce a step. Others have a general one. */
const templates: Readonly<Record<string, EmailTemplate>> = {
  'disable-user': 'accountDisableNotification',
  'delete-user': 'accountDeleteNotification',
}

/** Keycloak: the default reason. */
const REASON = 'inactivity'

/** Enqueues an email for each user. Users without an email address are reported. */
export async function notifyUsers(execution: StepExecution, users: readonly LiveObject[]): Promise<void> {
  const { context, step, nextStep, report } = execution
  const realm = await findLiveRealm(context)
  const read = (name: string) => readStepSetting(step.representation, name)[0]?.trim() || undefined
  const to = read('to')
  const days = Math.floor((nextStep?.delay ?? 0) / DAY_MS)
  const emails = users.flatMap(({ key, representation: user }): Email[] => {
    const address = to ?? user.email
    if (!address) {
      report(`the user ${key[0]} has no email address`)
      return []
    }
    const [locale] = readTextListMap(user.attributes).locale ?? []
    const notification = {
      subject: read('subject'),
      message: read('message'),
      placeholders: listPlaceholders({ user, realm: realm!.representation, days }),
      recipient: String(user.firstName ?? key[0]),
      days,
    }
    return [
      {
        kind: 'mail',
        to: String(address),
        template: templates[nextStep?.uses ?? ''] ?? 'accountNotification',
        locale,
        values: { days: String(days), reason: read('reason') ?? REASON },
        notification,
      },
    ]
  })
  if (emails.length) await enqueueMessages(context, ...emails)
}

/** The objects and the number that placeholders of a message refer to. */
interface PlaceholderSources {
  readonly user: Representation
  readonly realm: Representation
  readonly days: number
}

/** Returns the values of the placeholders in a message, by name. */
function listPlaceholders({ user, realm, days }: PlaceholderSources): Record<string, string> {
  const attributes = Object.entries(readTextListMap(user.attributes)).flatMap(([name, [value]]) =>
    value === undefined ? [] : [[`user.${name}`, value]],
  )
  const fields = Object.entries(user).flatMap(([name, value]) =>
    isUserField(name) && value !== null ? [[`user.${name}`, String(value)]] : [],
  )
  return {
    ...Object.fromEntries([...attributes, ...fields]),
    'realm.name': String(realm.realm),
    ...(realm.displayName != null && { 'realm.displayName': String(realm.displayName) }),
    'workflow.daysUntilNextStep': String(days),
  }
}
