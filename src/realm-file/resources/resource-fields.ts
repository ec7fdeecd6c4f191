// The fields of a resource's spec besides those of the object: the realm and parent of the object, and settings for Kubernetes.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Kind } from '../../kinds/kind.ts'
import { listParentFields } from '../../kinds/resource-kinds.ts'
import { grantableRoles, tenantPermissionFields } from '../../kinds/source-permission-setting.ts'
import { sourceSettings } from '../../kinds/source-settings.ts'
import { duration, interval } from './duration.ts'

const name = (description: string) => z.string().min(1).describe(description)
const time = (description: string) => duration.optional().describe(description)

/** The reference to a Kubernetes Secret, in place of the value of a secret. */
export const secretReference = z
  .strictObject({
    name: name(
      'Name of the Secret, in the namespace of the resource. It must have the label regent.dev/secret: "true".',
    ),
    key: name('Key in the Secret.'),
  })
  .describe('The Kubernetes Secret with the value.')

/** Returns the fields that refer to the realm and the parent of an object. */
export function locationFields(kind: Kind): z.ZodRawShape {
  if (kind.name === 'realm') return {}
  const reference = z.strictObject({
    name: name('Name of the Realm resource. Outside Kubernetes, it may also be the name of the realm itself.'),
    namespace: name(
      'Namespace of the Realm resource. Default: the namespace of this resource. Another one must admit it in allowedNamespaces.',
    ).optional(),
  })
  return {
    realmRef: reference.optional().describe('The realm of the object, by its Realm resource.'),
    realm: name('Name of the realm of the object.').optional(),
    ...Object.fromEntries(
      listParentFields(kind).map(([field, parent]) => [
        field,
        name(`The ${kinds[parent].title} of the object, by ${kinds[parent].naturalKey}.`).optional(),
      ]),
    ),
  }
}

/** Returns the settings that only apply in Kubernetes. */
export function kubernetesFields(kind: Kind): z.ZodRawShape {
  if (kind.name === 'realm') return { ...commonSettings, ...realmSettings }
  if (kind.name === 'client') return { ...commonSettings, ...clientSecretSettings }
  return kind.name === 'user' ? { ...commonSettings, ...passwordSettings } : commonSettings
}

const commonSettings = {
  deletionPolicy: z
    .enum(['Delete', 'Orphan'])
    .optional()
    .describe('Whether deleting the resource deletes the object (Delete, the default) or keeps it (Orphan).'),
}

const selector = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional().describe('Labels that the namespace must have.'),
  matchExpressions: z
    .array(
      z.strictObject({
        key: name('Key of the label.'),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('Operator of the requirement.'),
        values: z.array(z.string()).optional().describe('Values of the label, for In and NotIn.'),
      }),
    )
    .optional()
    .describe('Requirements for labels of the namespace, all of which must be met.'),
})

const allowedNamespace = z.strictObject({
  name: name('Name of the namespace.').optional(),
  selector: selector.optional().describe('Label selector of namespaces. An empty selector selects all.'),
  ...tenantPermissionFields,
  roles: grantableRoles
    .optional()
    .describe(
      'Roles that resources in these namespaces may grant besides their own: admin roles, `realm/<role>` and `client/<client>/<role>`. `*` matches any text. Default: none.',
    ),
})

const realmSettings = {
  managementPolicies: z
    .array(z.enum(['Observe']))
    .max(1)
    .optional()
    .describe(
      'Observe: the resource declares nothing of the realm, which other sources own. It reports whether the realm exists, and admits namespaces to it. A setting of the server must permit that.',
    ),
  unknownFields: z
    .enum(['error', 'warn'])
    .optional()
    .describe(
      'Whether fields that Regent does not know are errors (error, the default) or ignored with a warning (warn).',
    ),
  suspend: z.boolean().optional().describe('Whether reconciliation of the realm is suspended. Default: false.'),
  mode: z
    .enum(['apply', 'plan'])
    .optional()
    .describe('Whether changes are applied (apply, the default) or only planned (plan).'),
  interval: interval
    .optional()
    .describe('Interval between reconciliations without a change of a resource; `0s` for none. Default: 10m.'),
  retryInterval: time('Interval between retries of a failed reconciliation. Default: an exponential back-off.'),
  timeout: time('Maximum duration of a reconciliation. A longer one is rolled back and retried. Default: no limit.'),
  dependsOn: z
    .array(name('Name of a Realm resource in the same namespace.'))
    .optional()
    .describe('Realm resources that must be applied before this one.'),
  allowedNamespaces: z
    .array(allowedNamespace)
    .max(100)
    .optional()
    .describe('Other namespaces whose resources may declare objects of the realm. Default: none.'),
  ...sourceSettings.shape,
}

const secretName = name('Name of the Secret, in the namespace of the resource.')
const secretTemplate = (variables: string) =>
  z
    .record(z.string(), z.string())
    .optional()
    .describe(
      `Further keys with their texts, which may contain ${variables}, $(realm) and $(issuer). $$( is a literal $(.`,
    )

const clientSecretSettings = {
  writeSecretTo: z
    .strictObject({
      name: secretName,
      key: name('Key of the client secret. Default: client-secret, or none with a template.').optional(),
      template: secretTemplate('$(clientId), $(clientSecret)'),
    })
    .optional()
    .describe('The Kubernetes Secret to which the client secret is written.'),
}

const passwordSettings = {
  writeSecretTo: z
    .strictObject({
      name: secretName,
      key: name('Key of the password. Default: password.').optional(),
      template: secretTemplate('$(username), $(password)'),
    })
    .optional()
    .describe('The Kubernetes Secret to which a generated password is written. Not with a declared password.'),
}
