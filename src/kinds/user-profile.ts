// What is known of the people of a realm: their attributes, who sees and changes each, and what it must look like.
import * as z from 'zod'
import recorded from './built-in/user-profile.json' with { type: 'json' }
import type { Json, Representation } from './json.ts'

const names = z.array(z.string())
const settings = z.record(z.string(), z.json())
const by = (what: string) => ({
  roles: names.nullish().describe(`Whose ${what}: user and admin.`),
  scopes: names.nullish().describe(`Client scopes with which it is ${what}.`),
})

const attribute = z.strictObject({
  name: z.string().nullish().describe('Name of the attribute; unique.'),
  displayName: z.string().nullish().describe('Name of the attribute as people see it.'),
  validations: z.record(z.string(), settings.nullable()).nullish().describe('What a value must fulfil, by validator.'),
  annotations: settings.nullish().describe('What pages should know of the attribute.'),
  required: z.strictObject(by('need')).nullish().describe('When there must be a value; empty: always.'),
  permissions: z
    .strictObject({
      view: names.nullish().describe('Who sees the value: user and admin.'),
      edit: names.nullish().describe('Who changes the value: user and admin.'),
    })
    .nullish()
    .describe('Who sees and changes the value.'),
  selector: z
    .strictObject({ scopes: names.nullish().describe('Client scopes of which one must be asked for.') })
    .nullish()
    .describe('When the attribute is asked for.'),
  group: z.string().nullish().describe('The group of attributes that it stands in.'),
  multivalued: z.boolean().nullish().describe('Whether there may be several values.'),
  defaultValue: z.string().nullish().describe('Value of new people who state none.'),
})

const group = z.strictObject({
  name: z.string().nullish().describe('Name of the group.'),
  displayHeader: z.string().nullish().describe('Heading of the group.'),
  displayDescription: z.string().nullish().describe('What people read below the heading.'),
  annotations: settings.nullish().describe('What pages should know of the group.'),
})

/** Keycloak: UPConfig. */
export const profileSchema = z.strictObject({
  attributes: z.array(attribute).nullish().describe('The attributes, in the order of forms.'),
  groups: z.array(group).nullish().describe('Groups of attributes on pages.'),
  unmanagedAttributePolicy: z
    .enum(['ENABLED', 'ADMIN_EDIT', 'ADMIN_VIEW'])
    .nullish()
    .describe('Who may use other attributes; absent: nobody.'),
})

/** Keycloak: UserProfileMetadata. What somebody who fills in a form needs to know of the profile. */
export const profileMetadata = z.object({
  attributes: z
    .array(
      z.object({
        name: z.string().describe('Name of the attribute.'),
        displayName: z.string().describe('Name of the attribute as people see it.'),
        required: z.boolean().describe('Whether there must be a value.'),
        readOnly: z.boolean().describe('Whether the value cannot be changed.'),
        annotations: settings.optional().describe('What pages should know of the attribute.'),
        validators: z.record(z.string(), settings).describe('What a value must fulfil.'),
        group: z.string().optional().describe('The group of attributes that it stands in.'),
        multivalued: z.boolean().describe('Whether there may be several values.'),
        defaultValue: z.string().optional().describe('Value of new people who state none.'),
      }),
    )
    .describe('The attributes that the caller may see.'),
  groups: z.array(settings).describe('Groups of attributes on pages.'),
})

/** A profile that says everything that holds. */
export type UserProfile = {
  readonly attributes?: readonly ProfileAttribute[]
  readonly groups: readonly Representation[]
  readonly unmanagedAttributePolicy?: string
}

/** An attribute of people. */
export type ProfileAttribute = {
  readonly name: string
  readonly displayName?: string
  readonly validations?: Readonly<Record<string, Representation>>
  readonly annotations?: Representation
  readonly required?: { readonly roles?: readonly string[]; readonly scopes?: readonly string[] }
  readonly permissions?: { readonly view: readonly string[]; readonly edit: readonly string[] }
  readonly selector?: { readonly scopes?: readonly string[] }
  readonly group?: string
  readonly multivalued: boolean
  readonly defaultValue?: string
}

/** The profile of a realm that states none. */
export const defaultUserProfile = recorded as unknown as UserProfile

/** The profile with what holds where it says nothing, and without what is null. */
export function completeUserProfile(stated: z.infer<typeof profileSchema>): UserProfile {
  const { attributes, groups } = stated
  return withoutNulls({
    ...(stated as Representation),
    ...(attributes && { attributes: attributes.map((one) => wholeAttribute(one as Representation)) }),
    groups: (groups ?? []) as Json,
  }) as unknown as UserProfile
}

function wholeAttribute(stated: Representation): Representation {
  const { permissions } = stated
  return {
    multivalued: false,
    ...(withoutNulls(stated) as Representation),
    ...(permissions && { permissions: { view: [], edit: [], ...(withoutNulls(permissions) as Representation) } }),
  }
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).filter(([, one]) => one !== null && one !== undefined)
  return Object.fromEntries(entries.map(([name, one]) => [name, withoutNulls(one)]))
}
