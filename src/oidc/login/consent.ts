// What people let an application learn, where the application must ask.
import type { Representation } from '../../kinds/json.ts'
import { changeOwnAccount } from '../../service/login/own-account.ts'
import { consentTo } from '../consents.ts'
import { consentPage } from '../pages/consent.ts'
import { type Asked, callerOf, type Form, type Login, personOf, reading } from './login.ts'
import { Refused } from './parameters.ts'

/** What is asked when it is asked to agree. */
export const CONSENT = 'consent'

/** Agreement. */
export const consent = {
  /** Its page; undefined: there is nothing to agree to that was not agreed to before. */
  async next(login: Login): Promise<Asked | undefined> {
    const { client, state } = login
    if (client.representation.consentRequired !== true || state.ended.includes(CONSENT)) return undefined
    const { items, agreed } = await look(login)
    const open = items.filter(({ name }) => !agreed.includes(name))
    if (!open.length && agreed.length && !state.parameters.prompt.includes('consent')) return undefined
    const name = String(client.representation.name ?? client.key[0])
    const shown = open.length ? open : items
    state.asked = CONSENT
    state.notes.consent = JSON.stringify(shown.map((item) => item.name))
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
    const shown: readonly string[] = JSON.parse(state.notes.consent ?? '[]')
    const isWhole = await service.write(callerOf(login), realm.name, async (context) => {
      // What was agreed to elsewhere meanwhile, or taken back, is read under the lock; what was not shown is asked next.
      const { items, own, others, agreed } = await consentTo(context, client, state.parameters.scope, live)
      const names = items.map((item) => item.name)
      const granted = names.filter((name) => name !== client.key[0] && shown.includes(name))
      const before = (own?.grantedClientScopes ?? []) as string[]
      const now = realm.now.getTime()
      const next: Representation = {
        createdDate: own?.createdDate ?? now,
        lastUpdatedDate: now,
        clientId: client.key[0]!,
        grantedClientScopes: [...new Set([...before, ...granted])],
      }
      await changeOwnAccount(context, live.id, { clientConsents: [...others, next] })
      return names.every((name) => [...shown, ...agreed].includes(name))
    })
    if (isWhole) state.ended.push(CONSENT)
  },
}

/** What the application asks for, and what the person agreed to before. */
function look(login: Login) {
  const { client, state } = login
  return reading(login, (context) => consentTo(context, client, state.parameters.scope, personOf(login).live))
}
