// What the spec of a resource says besides the object: where that belongs, and how Kubernetes keeps it.
import * as z from 'zod'
import { adminRoles } from '../../kinds/admin-roles.ts'
import { kinds } from '../../kinds/index.ts'
import type { Kind } from '../../kinds/kind.ts'
import { sourceSettings } from '../../service/journal/source-settings.ts'
import { duration } from './duration.ts'
import { parentFields } from './resource-kinds.ts'

const name = (description: string) => z.string().min(1).describe(description)
const time = (description: string) => duration.optional().describe(description)

/** What stands in the place of a secret that a Secret of Kubernetes holds. */
export const secretReference = z
  .strictObject({
    name: name(
      'Name of the Secret, in the namespace of the resource; it must have the label regent.dev/secret: "true".',
    ),
    key: name('Key in the Secret.'),
  })
  .describe('Secret of Kubernetes that holds the value.')

/** The fields that say what an object belongs to. */
export function placeFields(kind: Kind): z.ZodRawShape {
  if (kind.name === 'realm') return {}
  const reference = z.strictObject({
    name: name('Name of the resource; without Kubernetes also of the realm itself.'),
    namespace: name('Namespace of the resource, where it is another one, which must admit this one.').optional(),
  })
  return {
    realmRef: reference.optional().describe('The realm, by name of its resource.'),
    realm: name('Name of the realm.').optional(),
    ...Object.fromEntries(
      parentFields(kind).map(([field, parent]) => [
        field,
        name(`The ${kinds[parent].title} that it belongs to.`).optional(),
      ]),
    ),
  }
}

/** The fields that count where Kubernetes keeps the resource, and nowhere else. */
export function controlFields(kind: Kind): z.ZodRawShape {
  if (kind.name === 'realm') return { ...ofAll, ...ofRealms }
  return kind.name === 'client' ? { ...ofAll, ...ofClients } : ofAll
}

const ofAll = {
  deletionPolicy: z
    .enum(['Delete', 'Orphan'])
    .optional()
    .describe(
      'What becomes of the object when the resource is deleted: it goes with it, or stays. Delete unless it says otherwise.',
    ),
}

const selector = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional().describe('Labels that the namespace has.'),
  matchExpressions: z
    .array(
      z.strictObject({
        key: name('Name of the label.'),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('What must be true of it.'),
        values: z.array(z.string()).optional().describe('The values, for In and NotIn.'),
      }),
    )
    .optional()
    .describe('What must be true of its labels.'),
})

/** Who may state something in a realm besides its own namespace. */
const admitted = z.strictObject({
  name: name('Name of the namespace.').optional(),
  selector: selector.optional().describe('Labels of the namespaces; an empty one admits all.'),
  roles: z
    .array(z.enum(adminRoles))
    .optional()
    .describe('Administrative roles that what is stated there may give at most; none unless it says otherwise.'),
})

const ofRealms = {
  suspend: z.boolean().optional().describe('Nothing is applied to the realm until it is false again.'),
  mode: z
    .enum(['apply', 'plan'])
    .optional()
    .describe('plan: only what would change is shown. apply unless it says otherwise.'),
  interval: time('How often the realm is looked at although no resource has changed.'),
  retryInterval: time('How soon a failed run is tried again; without it soon, and then less and less often.'),
  timeout: time('How long a run may take.'),
  dependsOn: z
    .array(name('Name of the resource.'))
    .optional()
    .describe('Resources of realms in its namespace: this one is applied once each of these has been.'),
  allowedNamespaces: z
    .array(admitted)
    .max(100)
    .optional()
    .describe('Namespaces besides its own whose resources count for the realm.'),
  ...sourceSettings.shape,
}

const ofClients = {
  writeSecretTo: z
    .strictObject({
      name: name('Name of the Secret, in the namespace of the resource.'),
      key: name('Key in the Secret; client-secret unless it says otherwise.').optional(),
    })
    .optional()
    .describe('Secret of Kubernetes that the secret of the client is written to.'),
}
