// What people let an application learn, where the application must ask.
import type { Representation } from '../../kinds/kind.ts'
import { consentsOf } from '../../service/consents.ts'
import { type LiveObject, listObjects } from '../../service/live.ts'
import { changeOwnAccount } from '../../service/own-account.ts'
import { recordUserEvent } from '../../service/user-events.ts'
import { wordsOf } from '../grants/grant.ts'
import { consentPage } from '../pages/consent.ts'
import { type Asked, callerOf, type Form, type Login, noting, personOf, reading } from './login.ts'
import { Refused } from './parameters.ts'

/** What is asked when it is asked to agree. */
export const CONSENT = 'consent'

/** A thing to agree to: the client scope, or the application itself, and the text that says so. */
interface Item {
  readonly name: string
  readonly text: string
  readonly order: number
}

/** Agreement. */
export const consent = {
  /** Its page; undefined: there is nothing to agree to that was not agreed to before. */
  async next(login: Login): Promise<Asked | undefined> {
    const { client, state } = login
    if (client.representation.consentRequired !== true || state.ended.includes(CONSENT)) return undefined
    const { items, agreed } = await look(login)
    const open = items.filter(({ name }) => !agreed.includes(name))
    if (!open.length && agreed.length && !state.parameters.prompt.includes('consent')) return undefined
    state.asked = CONSENT
    const name = String(client.representation.name ?? client.key[0])
    const shown = open.length ? open : items
    return {
      page: consentPage(
        name,
        shown.map(({ text }) => text),
      ),
    }
  },

  /** Keeps what was agreed to. Throws Refused where somebody does not. */
  async answer(login: Login, form: Form): Promise<void> {
    const { client, state, realm, service } = login
    const { live } = personOf(login)
    if (form.accept !== 'true') throw new Refused(state.parameters, 'access_denied', undefined, 'rejected_by_user')
    const { items, own, others } = await look(login)
    const granted = items.map(({ name }) => name).filter((name) => name !== client.key[0])
    const before = (own?.grantedClientScopes ?? []) as string[]
    const now = realm.now.getTime()
    const next: Representation = {
      createdDate: own?.createdDate ?? now,
      lastUpdatedDate: now,
      clientId: client.key[0]!,
      grantedClientScopes: [...new Set([...before, ...granted])],
    }
    await service.write(callerOf(login), realm.name, (context) =>
      changeOwnAccount(context, live.id, { clientConsents: [...others, next] }),
    )
    await noting(login, async (context) =>
      recordUserEvent(context, {
        type: 'GRANT_CONSENT',
        client: client.key[0],
        user: live.id,
        details: { consent: 'consent_granted', scope: granted.join(' ') },
      }),
    )
    state.ended.push(CONSENT)
  },
}

/** What the application asks for, and what the person agreed to before. */
async function look(login: Login) {
  const { client, state } = login
  const { live } = personOf(login)
  return reading(login, async (context) => {
    const words = wordsOf(state.parameters.scope)
    const { defaultClientScopes = [], optionalClientScopes = [] } = client.representation
    const names = [
      ...(defaultClientScopes as string[]),
      ...(optionalClientScopes as string[]).filter((name) => words.includes(name)),
    ]
    const scopes = await listObjects(context, 'clientScope', { keys: names.map((name) => [name]) })
    const consents = ((await consentsOf(context, [live])).get(live.id) ?? []) as Representation[]
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
  })
}

function itemsOf({ key, representation }: LiveObject, usually: boolean): Item[] {
  const attributes = (representation.attributes ?? {}) as Record<string, string>
  const shown = attributes['display.on.consent.screen'] ?? String(usually)
  if (shown !== 'true') return []
  const text = attributes['consent.screen.text'] || String(representation.name ?? key[0])
  return [{ name: key[0]!, text, order: Number(attributes['gui.order'] || Number.MAX_SAFE_INTEGER) }]
}
