// The schemas of Regent's own API.
import * as z from 'zod'
import { sourceSettings } from '../../kinds/source-settings.ts'
import { FORMAT_VERSION } from '../../reconcile/model/action.ts'
import type { BodyForm } from '../body.ts'
import { components } from '../responses.ts'

const source = z
  .strictObject({
    name: z.string().min(1).describe('Name of the source.'),
    revision: z.string().describe('Revision of the documents: a git commit, or a digest of the files.'),
    unknownFields: z.enum(['error', 'warn']).optional().describe('Whether unknown fields are an error or a warning.'),
    settings: sourceSettings.optional().describe('Settings of the source.'),
    files: z
      .array(
        z.strictObject({
          file: z.string().describe('Name of the file in messages.'),
          text: z.string().describe('Content of the file, YAML or JSON. Variables in it are not resolved.'),
          values: z
            .array(z.record(z.string(), z.string()))
            .describe('For each document: the resolved texts of those with variables, by JSON pointer.'),
        }),
      )
      .describe('The files of the source, in order.'),
  })
  .register(components, { id: 'SourceRepresentation' })

/** The body of a plan or an apply. */
export const sourceBody: BodyForm = { schema: source, description: 'the source' }

const position = z
  .object({
    file: z.string().describe('Name of the file.'),
    line: z.number().describe('Line, from 1.'),
    column: z.number().describe('Column, from 1.'),
  })
  .describe('A position in a document.')

export const attribution = z
  .object({
    name: z.string().describe('User name, name of the source, or system.'),
    kind: z
      .enum(['administrator', 'user', 'source', 'system'])
      .describe('An administrator, the user who owns the account, a source, or Regent itself.'),
    client: z.string().optional().describe('Client through which it was done.'),
    address: z.string().optional().describe('Network address from which it was done.'),
    at: z.string().describe('When, as an ISO 8601 date and time.'),
    revision: z.string().optional().describe('Of a source: the revision that was applied.'),
  })
  .describe('Who changed something, and when.')

export const key = z.array(z.string()).describe('Natural key, from the realm down.')
const operation = z.enum(['create', 'update', 'delete']).describe('What is done to the object.')

const change = z
  .object({
    path: z.string().describe('The field; of a map field.key.'),
    from: z.json().optional().describe('The live value; of a secret its keyed digest.'),
    to: z.json().optional().describe('The value then; of a secret its keyed digest.'),
    add: z.array(key).optional().describe('Of a relation: elements that are added.'),
    remove: z.array(key).optional().describe('Of a relation: elements that are removed.'),
    reason: z
      .enum(['declared', 'drift', 'undeclared'])
      .describe(
        'A document declares another value, the live value was changed, or the field was removed from the sources.',
      ),
    by: attribution.optional(),
    position: position.optional(),
  })
  .describe('A changed field of an object.')

export const action = z
  .object({
    operation,
    kind: z.string().describe('Kind of the object.'),
    key,
    id: z.string().optional().describe('Id of the live object, or the requested one.'),
    version: z.number().optional().describe('Version of the live object.'),
    changes: z.array(change).describe('The changed fields.'),
    deletedBy: attribution.optional(),
    position: position.optional(),
  })
  .describe('The create, update or delete of one object.')

const note = z
  .object({ message: z.string().describe('The note as a sentence.'), position: position.optional() })
  .describe('A remark about a plan that is no change.')

/** The rollback that suspends a source. */
export const suspension = z
  .object({
    revision: z.number().describe('The revision of the realm that was restored.'),
    by: z.string().describe('User name of the administrator who rolled back.'),
    at: z.string().describe('When, as an ISO 8601 date and time.'),
  })
  .describe('The rollback that suspends the sources of the realm: their changes are planned and not applied.')

/** A guard that blocks a plan until it is approved. */
export const guard = z
  .object({
    guard: z
      .enum(['deletesRealm', 'recreatesRealm', 'deletions', 'adoption', 'recreated'])
      .describe(
        'The plan deletes a realm, recreates one that had users, deletes many objects, adopts users whom neither a source nor an administrator created, or grants declared permissions to objects that were deleted and created again.',
      ),
    message: z.string().describe('The reason as a sentence.'),
    objects: z.array(z.string()).describe('The affected objects: the name of a realm, or ids of objects.'),
    revision: z
      .number()
      .optional()
      .describe('Revision of the realm that it deletes: an approval is void once the realm has changed.'),
    credentials: z
      .string()
      .optional()
      .describe('Digest of the declared credentials of adopted users; absent: none are declared.'),
  })
  .describe('A guard that blocks a plan until it is approved.')

const expires = z.string().describe('Until when it can be approved and applied, as an ISO 8601 date and time.')

const pendingApproval = z
  .object({
    plan: z.string().describe('Id of the plan, by which it is approved.'),
    guards: z.array(guard).describe('The guards that block it; empty if the plan needs a realm whose plan is pending.'),
    expires,
  })
  .describe('The plan was not applied: it is pending approval.')

const approval = z
  .object({
    plan: z.string().describe('Id of the plan.'),
    by: z.string().describe('User name of the administrator who approved it.'),
    at: z.string().describe('When, as an ISO 8601 date and time.'),
  })
  .describe('The approval with which the plan was applied.')

/** The outcome of a plan or an apply in one realm. */
export const realmOutcome = z.object({
  plan: z
    .object({
      realm: z.string().describe('Name of the realm.'),
      creates: z.boolean().describe('Whether the realm is new.'),
      actions: z.array(action).describe('The actions, in the order of the documents.'),
      ignoredDrift: z
        .array(
          z.object({
            kind: z.string().describe('Kind of the object.'),
            key,
            path: z.string().optional().describe('The field; absent if the object was deleted.'),
            live: z.json().describe('The live value; of a secret its keyed digest.'),
            accepted: z
              .literal(true)
              .optional()
              .describe('The live value counts as declared until the source declares another one.'),
            by: attribution.optional(),
          }),
        )
        .describe('Drift that the policy of its source reports or accepts, and does not correct.'),
      notes: z.array(note).describe('Remarks that are no changes, such as warnings about ignored fields.'),
      preconditions: z
        .array(
          z.object({
            kind: z.string().describe('Kind of the object.'),
            id: z.string().describe('Its id.'),
            version: z.number().describe('Its version.'),
          }),
        )
        .describe(
          'Versions of the live objects that the plan changes, deletes or refers to; it is refused if one has changed.',
        ),
    })
    .describe('The plan of one realm.'),
  consequences: z
    .array(
      z.object({
        operation,
        kind: z.string().describe('Kind of the object.'),
        object: z.string().describe('Its id.'),
        key,
        fields: z.record(z.string(), z.json()).describe('The values before.'),
      }),
    )
    .describe('Changes that follow without being declared, such as cascades.'),
  effects: z
    .array(
      z.object({
        kind: z.string().describe('Kind of the deleted or disabled object.'),
        key,
        effect: z
          .enum([
            'unlinksUsers',
            'blocksLogins',
            'locksOutUsers',
            'removesRoleFromUsers',
            'removesRoleFromGroups',
            'removesMembers',
            'endsSessions',
            'disablesSessions',
            'removesConsents',
            'orphansUsers',
          ])
          .describe('The effect on users.'),
        count: z.number().describe('Number of affected users, groups, members, sessions or consents.'),
      }),
    )
    .describe(
      'Effects on users of the objects that the plan deletes or disables: links, roles, memberships, sessions, consents.',
    ),
  findings: z
    .array(
      z.object({
        rule: z.string().describe('The rule of regent lint.'),
        kind: z.string().describe('Kind of the object.'),
        key,
        path: z.string().optional().describe('The field; absent if the finding is about the object.'),
        message: z.string().describe('What is wrong, and what to do.'),
        position,
      }),
    )
    .optional()
    .describe('Findings of regent lint; empty for a realm in which nothing has changed.'),
  suspended: suspension.optional(),
  guards: z.array(guard).optional().describe('Guards that block an apply of the plan until it is approved.'),
  pendingApproval: pendingApproval.optional(),
  approval: approval.optional(),
})

/** A source at a revision. */
export const sourceAtRevision = z.object({
  name: z.string().describe('Name of the source.'),
  revision: z.string().describe('Its revision.'),
})

/** The outcome of a plan or an apply. */
export const outcome = z
  .object({
    formatVersion: z.literal(FORMAT_VERSION).describe('Version of this format.'),
    sources: z.array(sourceAtRevision).describe('The sources that were planned or applied.'),
    realms: z.array(realmOutcome).describe('The outcome of each realm that the sources declare.'),
    notes: z.array(note).describe('Notes about the sources.'),
    saved: z
      .object({
        id: z.string().describe('Id of the plan, by which it is applied.'),
        digest: z.string().describe('Digest of its actions.'),
        expires,
      })
      .optional()
      .describe('The plan as it was saved.'),
  })
  .register(components, { id: 'OutcomeRepresentation' })

/** A drifted field or object. */
export const drift = z
  .object({
    realm: z.string().describe('Name of the realm.'),
    source: z.string().describe('Source that declares it.'),
    kind: z.string().describe('Kind of the object.'),
    key,
    path: z.string().optional().describe('The field; absent if the object was deleted.'),
    applied: z.json().optional().describe('The value that was applied; absent for secrets.'),
    live: z.json().optional().describe('The live value; absent for secrets.'),
    by: attribution.optional(),
    policy: z
      .enum(['correct', 'report', 'selfHeal'])
      .describe('Whether the next apply corrects it, it is only reported, or it is corrected at once.'),
    file: z.string().describe('File of the declaration.'),
    line: z.number().describe('Line in that file.'),
  })
  .register(components, { id: 'DriftRepresentation' })

const revision = z.number().describe('Number of the revision: that of its last journal entry.')
const at = z.iso.datetime().describe('Time.')

/** The revisions of a realm. */
export const historyAnswer = z.array(
  z
    .object({
      number: revision,
      at,
      actor: z.record(z.string(), z.json()).describe('Actor: its kind, user, client, address and source.'),
      created: z.number().describe('Number of created objects.'),
      updated: z.number().describe('Number of updated objects.'),
      deleted: z.number().describe('Number of deleted objects.'),
      sources: z.array(sourceAtRevision).nullable().describe('The applied sources; null if none was.'),
    })
    .register(components, { id: 'RevisionRepresentation' }),
)

/** The changes from one revision to another. */
export const diffAnswer = z.array(action)

/** The body of a rollback. */
export const rollbackBody = z
  .strictObject({
    revision: z.number().int().min(1).describe('Revision to roll back to.'),
    tried: z.boolean().optional().describe('Only shows what would be done, and keeps nothing.'),
  })
  .register(components, { id: 'RollbackRepresentation' })

/** The provenance of an object and its fields. */
export const reasons = z
  .object({
    kind: z.string().describe('Kind of the object.'),
    key,
    id: z.string().describe('Id of the object.'),
    by: attribution.optional(),
    fields: z
      .array(
        z.object({
          path: z.string().describe('The field; of a map field.key.'),
          value: z.json().optional().describe('The live value; absent for secrets.'),
          declarations: z
            .array(
              z.object({
                source: z.string().describe('Name of the source.'),
                revision: z.string().describe('Last applied revision.'),
                file: z.string().describe('Name of the file.'),
                line: z.number().describe('Line, from 1.'),
              }),
            )
            .describe('The positions of the declarations of the field.'),
          by: attribution.optional(),
        }),
      )
      .describe('Declared and changed fields.'),
  })
  .register(components, { id: 'ReasonsRepresentation' })

/** The sources of realms. */
export const sourcesAnswer = z.array(
  z
    .object({
      realm: z.string().describe('Name of the realm.'),
      source: z.string().describe('Name of the source.'),
      revision: z.string().describe('Last applied revision.'),
      appliedAt: at,
      suspended: suspension
        .nullable()
        .describe('The rollback that suspends the source in this realm; null if none does.'),
      objects: z.number().describe('Number of managed objects.'),
      changed: z.number().describe('Number of these that were changed since the last apply.'),
    })
    .register(components, { id: 'SourceOfRealmRepresentation' }),
)
