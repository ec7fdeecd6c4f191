// Client profiles and client policies: a policy applies profiles to the clients that meet its conditions.
import * as z from 'zod'
import recorded from './built-in/client-policies.json' with { type: 'json' }
import { type Field, flag, objectList, objectSchema, structured, text, textList } from './fields.ts'
import type { Representation } from './json.ts'
import { anyObject, anyRepresentations, nameSchema } from './json-schema.ts'

/** Keycloak: the built-in global profiles, which cannot be changed. */
export const globalProfiles: readonly Representation[] = recorded.globalProfiles

/** The types of executors in client profiles that Regent has, as in Keycloak. */
export const executors: ReadonlySet<string> = new Set(recorded.executors)
/** The types of conditions in client policies that Regent has, as in Keycloak. */
export const conditions: ReadonlySet<string> = new Set(recorded.conditions)

const DESCRIPTION = 'Profiles or policies of the realm.'

const configuration = structured(anyObject, 'Settings, by name.')

const profileMembers = {
  name: text('Name of the profile, which is unique, also among global profiles.'),
  description: text('Description of the profile.'),
  executors: objectList(
    {
      executor: text('Type of the executor, such as pkce-enforcer.', {}),
      configuration,
    },
    'Executors of the profile, in order.',
    { schemaName: 'ClientPolicyExecutorRepresentation' },
  ),
}

const policyMembers = {
  name: text('Name of the policy, which is unique.'),
  description: text('Description of the policy.'),
  enabled: flag('Whether the policy is enabled.'),
  mode: text(
    'Whether conditions that abstain from an event are ignored (DEFAULT), or are not met (STRICT). Absent: DEFAULT.',
  ),
  conditions: objectList(
    {
      condition: text('Type of the condition, such as client-access-type.', {}),
      configuration,
    },
    'Conditions of the policy, all of which a client must meet.',
    { schemaName: 'ClientPolicyConditionRepresentation' },
  ),
  profiles: textList('Profiles that apply to these clients, by name.'),
}

/** The fields in exports of versions 12 to 18. Keycloak: built-in profiles and policies are ignored, and so is `enable`. */
const legacyMembers = {
  builtin: flag('Keycloak: legacy field; elements that are built in are ignored.', { computed: true }),
  enable: flag('Keycloak: legacy field, ignored.', { computed: true }),
}

/** Returns a client policy with all defaults. */
export const completePolicy = (policy: Representation): Representation => ({
  enabled: false,
  conditions: [],
  profiles: [],
  ...removeNulls(policy),
})

/** The mode of a policy in which all of its conditions must vote for it. */
export const STRICT = 'STRICT'

/** The modes of policies. */
export const policyModes: readonly string[] = ['DEFAULT', STRICT]

/** A list that REST has in an object, beside the global list. */
interface WrappedList {
  readonly name: string
  readonly globalName: string
  readonly members: Readonly<Record<string, Field>>
  /** The name in OpenAPI of an element. */
  readonly elementName: string
}

const profileList: WrappedList = {
  name: 'profiles',
  globalName: 'globalProfiles',
  members: profileMembers,
  elementName: 'ClientProfileRepresentation',
}
const policyList: WrappedList = {
  name: 'policies',
  globalName: 'globalPolicies',
  members: policyMembers,
  elementName: 'ClientPolicyRepresentation',
}

/** Keycloak: `{profiles: […]}`, which is replaced as a whole. */
export const clientProfiles = createListField(profileList, 'Client profiles.', removeNulls)
/** Keycloak: `{policies: […]}`, which is replaced as a whole. */
export const clientPolicies = createListField(policyList, 'Client policies, in order.', completePolicy)

/** The schema of client profiles in REST. */
export const profilesDocument = createDocument('ClientProfilesRepresentation', profileList)
/** The schema of client policies in REST. */
export const policiesDocument = createDocument('ClientPoliciesRepresentation', policyList)

/** Wraps the lists of client profiles and policies in their objects. */
export function wrapClientPolicies(realm: Representation): Representation {
  const { clientProfiles: profiles, clientPolicies: policies } = realm
  return {
    ...realm,
    ...(profiles != null && { clientProfiles: { profiles } }),
    ...(policies != null && { clientPolicies: { policies } }),
  }
}

function createDocument(id: string, list: WrappedList) {
  return nameSchema(id, createObjectSchema(list, nameSchema(list.elementName, objectSchema(list.members))))
}

function createObjectSchema({ name, globalName, elementName }: WrappedList, element: z.ZodType) {
  return z.strictObject({
    [name]: z.array(element).nullish().describe(DESCRIPTION),
    [globalName]: anyRepresentations(elementName)
      .nullish()
      .describe('Global profiles or policies, which cannot be changed.'),
  })
}

/** Creates a field with a list that may be wrapped in its object. `complete` adds the defaults to an element. */
function createListField(
  list: WrappedList,
  description: string,
  complete: (element: Representation) => Representation,
): Field<readonly Representation[]> {
  const members = { ...list.members, ...legacyMembers }
  const element = objectSchema(members)
  const elementsSchema = z.array(element)
  const wrappedSchema = createObjectSchema(list, element).transform((value) => value[list.name] ?? [])
  const wireList = { description: DESCRIPTION, type: 'array', items: { type: 'object' } }
  const schema = z
    .union([elementsSchema, wrappedSchema])
    // The members are JSON values.
    .transform((elements) => (elements as Representation[]).flatMap(convertLegacyElement).map(complete))
    .meta({ wire: { type: 'object', properties: { [list.name]: wireList } } })
  return { ...objectList(list.members, description), schema }
}

/** Returns the element without legacy fields, or none if it is built in. */
function convertLegacyElement({ builtin, enable: _, ...element }: Representation): Representation[] {
  return builtin === true ? [] : [element]
}

function removeNulls(element: Representation): Representation {
  return Object.fromEntries(Object.entries(element).filter(([, value]) => value != null))
}
