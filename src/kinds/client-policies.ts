// What clients of a realm are held to: profiles say what is demanded, policies say of which clients.
import * as z from 'zod'
import recorded from './built-in/client-policies.json' with { type: 'json' }
import { type Field, flag, objectList, objectSchema, opaque, text, textList } from './fields.ts'
import type { Representation } from './json.ts'

/** Keycloak: the profiles that every realm has, and that nobody changes. */
export const globalProfiles = recorded.globalProfiles as readonly Representation[]

/** What profiles can demand, and what policies can tell clients by. */
export const executors: ReadonlySet<string> = new Set(recorded.executors)
export const conditions: ReadonlySet<string> = new Set(recorded.conditions)

const OWN = 'Those of the realm itself.'
const OBJECT = { type: 'object' }
const configuration = opaque('Settings, by name.')

const profileMembers = {
  name: text('Name of the profile; unique, also among those that every realm has.'),
  description: text('What the profile is for.'),
  executors: objectList(
    {
      executor: text('What is demanded, such as pkce-enforcer.', {
        provider: { label: 'executor', supported: executors, consequence: 'it demands nothing' },
      }),
      configuration,
    },
    'What the profile demands, in order.',
  ),
}

const policyMembers = {
  name: text('Name of the policy; unique.'),
  description: text('What the policy is for.'),
  enabled: flag('Whether the policy counts.'),
  conditions: objectList(
    {
      condition: text('What tells the clients, such as client-access-type.', {
        provider: { label: 'condition', supported: conditions, consequence: 'it fits no client' },
      }),
      configuration,
    },
    'Which clients the policy is about: those that fulfil all conditions.',
  ),
  profiles: textList('Profiles that these clients are held to, by name.'),
}

/** What exports of versions 12 to 18 say besides. Keycloak: what is built in is never taken over, and `enable` is ignored. */
const earlierMembers = {
  builtin: flag('Keycloak: of an earlier form; what is built in is ignored.', { computed: true }),
  enable: flag('Keycloak: of an earlier form; ignored.', { computed: true }),
}

/** A policy with what holds where it says nothing. */
export const completePolicy = (policy: Representation): Representation => ({
  enabled: false,
  conditions: [],
  profiles: [],
  ...withoutNulls(policy),
})

/** Keycloak: `{profiles: […]}`, a document that is replaced as a whole. */
export const clientProfiles = wrapped(
  'profiles',
  'globalProfiles',
  profileMembers,
  withoutNulls,
  'Profiles for clients.',
)
/** Keycloak: `{policies: […]}`, a document that is replaced as a whole. */
export const clientPolicies = wrapped(
  'policies',
  'globalPolicies',
  policyMembers,
  completePolicy,
  'Policies that hold clients to profiles, in order.',
)

/** The documents as they are sent. */
export const profilesDocument = documentOf('profiles', 'globalProfiles', profileMembers)
export const policiesDocument = documentOf('policies', 'globalPolicies', policyMembers)

/** A realm with these lists as they are kept in the documents that hold them. */
export function wrapClientPolicies(realm: Representation): Representation {
  const { clientProfiles: profiles, clientPolicies: policies } = realm
  return {
    ...realm,
    ...(profiles != null && { clientProfiles: { profiles } }),
    ...(policies != null && { clientPolicies: { policies } }),
  }
}

function documentOf(name: string, global: string, members: Record<string, Field>) {
  return z.strictObject({
    [name]: z.array(objectSchema(members)).nullish().describe(OWN),
    [global]: z.json().nullish().describe('Those that every realm has; they stay as they are.'),
  })
}

/** A list of objects that stands in an object of its own, beside those of the server. */
function wrapped(
  name: string,
  global: string,
  members: Record<string, Field>,
  whole: (element: Representation) => Representation,
  description: string,
): Field<readonly Representation[]> {
  const all = { ...members, ...earlierMembers }
  const list = z.array(objectSchema(all))
  const schema = z
    .union([list, documentOf(name, global, all).transform((value) => value[name] ?? [])])
    .transform((elements) => (elements as Representation[]).flatMap((one) => ownOf(one)).map(whole))
    .meta({ wire: { type: 'object', properties: { [name]: { description: OWN, type: 'array', items: OBJECT } } } })
  return { ...objectList(members, description), schema }
}

/** The element as Keycloak of today writes it, if it is the realm's own. */
function ownOf({ builtin, enable: _, ...own }: Representation): Representation[] {
  return builtin === true ? [] : [own]
}

function withoutNulls(element: Representation): Representation {
  return Object.fromEntries(Object.entries(element).filter(([, value]) => value != null))
}
