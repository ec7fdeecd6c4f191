// What a person must agree to before an application learns of them, and what they agreed to.
import type { Representation } from '../kinds/json.ts'
import type { Context } from '../service/context/context.ts'
import { type LiveObject, listObjects } from '../service/objects/live.ts'
import { consentsOf } from '../service/users/consents.ts'
import { wordsOf } from './grants/grant.ts'

/** A thing to agree to: the client scope, or the application itself, and the text that says so. */
interface Item {
  readonly name: string
  readonly text: string
  readonly order: number
}

/** The agreement of a person with an application. */
export interface Agreement {
  /** What the application asks for, in the order in which it is shown. */
  readonly items: readonly Item[]
  /** Names of what the person agreed to before. */
  readonly agreed: readonly string[]
  /** The consent with this application, and those with others. */
  readonly own: Representation | undefined
  readonly others: readonly Representation[]
}

/** What the application asks the person for with that scope, and what was agreed to before. Statements: two. */
export async function consentTo(
  context: Context,
  client: LiveObject,
  scope: string,
  user: { readonly id: string },
): Promise<Agreement> {
  const words = wordsOf(scope)
  const { defaultClientScopes = [], optionalClientScopes = [] } = client.representation
  const names = [
    ...(defaultClientScopes as string[]),
    ...(optionalClientScopes as string[]).filter((name) => words.includes(name)),
  ]
  const scopes = await listObjects(context, 'clientScope', { keys: names.map((name) => [name]) })
  const consents = ((await consentsOf(context, [user])).get(user.id) ?? []) as Representation[]
  const own = consents.find(({ clientId }) => clientId === client.key[0])
  return {
    items: [...itemsOf(client, false), ...scopes.flatMap((scope) => itemsOf(scope, true))].sort(
      (a, b) => a.order - b.order,
    ),
    own,
    others: consents.filter((one) => one !== own),
    // The application itself is agreed to with whatever else is.
    agreed: own ? [client.key[0]!, ...((own.grantedClientScopes ?? []) as string[])] : [],
  }
}

/** Whether an application that needs the person's consent must ask for it. */
export function mustAsk({ items, agreed, own }: Agreement): boolean {
  return own === undefined || items.some(({ name }) => !agreed.includes(name))
}

function itemsOf({ key, representation }: LiveObject, usually: boolean): Item[] {
  const attributes = (representation.attributes ?? {}) as Record<string, string>
  const shown = attributes['display.on.consent.screen'] ?? String(usually)
  if (shown !== 'true') return []
  const text = attributes['consent.screen.text'] || String(representation.name ?? key[0])
  return [{ name: key[0]!, text, order: Number(attributes['gui.order'] || Number.MAX_SAFE_INTEGER) }]
}
