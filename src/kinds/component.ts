import * as z from 'zod'
import { secretSettings, supportedComponentProviders, userStoreSettings } from './component-types.ts'
import { text, textList, textListMap } from './fields.ts'
import { generatedSettings, keySettings } from './key-providers.ts'
import { defineKind } from './kind.ts'

/**
 * Keycloak: ComponentRepresentation, ComponentExportRepresentation. Something that a provider does for the realm, with its
 * settings: signing keys, a user store, a policy of client registration. Names repeat: a component is known by its path,
 * which begins with the type of its provider and holds those of the components that it belongs to.
 */
export const component = defineKind({
  name: 'component',
  title: 'component',
  representation: 'ComponentRepresentation',
  naturalKey: 'path',
  nameField: 'name',
  events: { type: 'COMPONENT', paths: { realm: 'components/{id}' } },
  formatName: (path) => path.replaceAll(/(^|\/)(?:[a-z][a-z0-9]*\.)+/g, '$1'),
  fields: {
    path: text(
      'Type of the provider, its sub-type in brackets, a slash and the name; for a part of another component after its path.',
    ),
    name: text('Name of the component; may repeat.', { computed: true }),
    providerId: text('The provider: ldap, rsa-generated, trusted-hosts and so on.', {
      provider: {
        label: 'component',
        supported: supportedComponentProviders,
        consequence: 'it is kept, and does nothing',
      },
    }),
    providerType: text('What the provider does, by its Java name.', { computed: true }),
    parentId: text('Id of the component that this one belongs to, or of the realm.', { computed: true }),
    subType: text('For whom it counts, where there are several: anonymous or authenticated.', { computed: true }),
    config: {
      ...textListMap('Lists of texts by name of the setting; their order does not matter.', {
        secret: secretSettings,
        destination: ({ connectionUrl, bindDn }) => ({ connectionUrl, bindDn }),
        unorderedLists: true,
        generated: ({ providerId }) => generatedSettings(String(providerId)),
        default: {},
        grantKeys: { role: ['role'], group: ['group'] },
        loginControl: [...keySettings, ...userStoreSettings],
      }),
      schema: z.record(z.string(), textList('').schema.nullable()),
    },
  },
})

/** What a path says of a component. */
export interface ComponentName {
  readonly providerType: string
  readonly subType?: string | undefined
  /** Absent: it has none. */
  readonly name?: string | undefined
}

/** The path of a component below another one; `parent` is empty at the top. */
export function componentPath(parent: string, { providerType, subType, name = '' }: ComponentName): string {
  const type = subType === undefined ? escaped(providerType) : `${escaped(providerType)}(${escaped(subType)})`
  return `${parent}${parent && '/'}${type}/${escaped(name)}`
}

/** What the path says of its component. */
export function componentName(path: string): ComponentName {
  const [type = '', name = ''] = path.split('/').slice(-2)
  const [, providerType = type, subType] = /^([^(]*)(?:\((.*)\))?$/s.exec(type) ?? []
  return {
    providerType: unescaped(providerType),
    ...(subType !== undefined && { subType: unescaped(subType) }),
    ...(name !== '' && { name: unescaped(name) }),
  }
}

/** The path of the component that the one at the path belongs to; empty at the top. */
export function parentComponentPath(path: string): string {
  return path.split('/').slice(0, -2).join('/')
}

function escaped(text: string): string {
  return text.replaceAll(/[%/()]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

function unescaped(text: string): string {
  return text.replaceAll(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
