// Client profiles and policies: documents have each list in an object of its own, which the fields of the realm read.
import { wrapClientPolicies } from '../../kinds/client-policies.ts'
import type { Form } from './form.ts'

/** Lists of client profiles and policies, written in their objects. */
export const clientPolicies: Form = { read: (realm) => realm, write: wrapClientPolicies }
