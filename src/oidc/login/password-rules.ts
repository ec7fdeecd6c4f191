import type { PasswordPolicyName } from '../../kinds/password-policies.ts'
import { parsePasswordPolicy } from '../../service/users/password-policy.ts'
import type { RealmSettings } from '../oidc-realm.ts'
import type { TextReference } from '../pages/view.ts'

/** The policies that the pages show, in the order of the page. */
const shownPolicies = [
  'length',
  'maxLength',
  'digits',
  'lowerCase',
  'upperCase',
  'specialChars',
  'notUsername',
  'notContainsUsername',
  'notEmail',
  'regexPattern',
  'passwordBlacklist',
  'passwordHistory',
  'passwordAge',
] as const satisfies readonly PasswordPolicyName[]

/** The policies that compare a new password with earlier ones. */
const historyPolicies: readonly PasswordPolicyName[] = ['passwordHistory', 'passwordAge']

/** Returns the rules of the realm's password policy, which a page shows before the user chooses a password. */
export function listPasswordRules(
  { passwordPolicy = '' }: RealmSettings,
  { isNewUser = false }: { readonly isNewUser?: boolean } = {},
): TextReference[] {
  const { values } = parsePasswordPolicy(passwordPolicy)
  return shownPolicies.flatMap((name) => {
    const value = values.get(name)
    if (!values.has(name) || (isNewUser && historyPolicies.includes(name))) return []
    if (typeof value === 'number') return value > 0 ? [{ key: `passwordRule.${name}`, params: [value] }] : []
    return value === '' ? [] : [{ key: `passwordRule.${name}`, params: [] }]
  })
}
