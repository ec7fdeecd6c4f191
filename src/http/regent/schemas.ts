// The schemas of Regent's own API.
import * as z from 'zod'
import { namedSchemas, nameSchema } from '../../kinds/json-schema.ts'
import { sourceSettings } from '../../kinds/source-settings.ts'
import { FORMAT_VERSION, GUARDS } from '../../reconcile/model/action.ts'
import type { BodyForm } from '../body.ts'

const source = z
  .strictObject({
    name: z.string().min(1).describe('Name of the source.'),
    revision: z
      .string()
      .optional()
      .describe('Revision of the documents: a git commit, or a digest of the files. Default: a digest of the files.'),
    unknownFields: z.enum(['error', 'warn']).optional().describe('Whether unknown fields are an error or a warning.'),
    settings: sourceSettings.optional().describe('Settings of the source.'),
    scope: z
      .array(z.string())
      .optional()
      .describe(
        'Files and folders of the source that were read: what its other files declare is retained. Empty: nothing is deleted. Default: all of it.',
      ),
    origin: z
      .string()
      .optional()
      .describe(
        'Where the files belong, such as a repository and folder. If it differs from the last apply, deletions need an approval. Default: unknown.',
      ),
    files: z
      .array(
        z.strictObject({
          file: z.string().describe('Name of the file in messages.'),
          text: z.string().describe('Content of the file, YAML or JSON. Variables in it are not resolved.'),
          overlay: z
            .int()
            .positive()
            .optional()
            .describe(
              'Number of the overlay that the file belongs to: its values replace those of the base and of overlays with smaller numbers. Default: the file belongs to the base.',
            ),
          values: z
            .array(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])))
            .optional()
            .describe(
              'For each document: the values of its texts with variables or encrypted by SOPS, by JSON pointer. Default: there are none.',
            ),
        }),
      )
      .describe('The files of the source, in order.'),
  })
  .register(namedSchemas, { id: 'SourceRepresentation' })

/** The body of a plan or an apply. */
export const sourceBody: BodyForm = { schema: source, description: 'The source with its files.', namesFields: true }

const position = z
  .object({
    file: z.string().describe('Name of the file.'),
    line: z.number().describe('Line, from 1.'),
    column: z.number().describe('Column, from 1.'),
  })
  .describe('A position in a document.')

export const attribution = nameSchema(
  'AttributionRepresentation',
  z
    .object({
      name: z.string().describe('Username, name of the source or user federation provider, or `system`.'),
      kind: z
        .enum(['administrator', 'user', 'client', 'source', 'workflow', 'federation', 'system'])
        .describe(
          'An administrator, the user who owns the account, a client that registers itself, a source, a user federation provider, or Regent itself.',
        ),
      client: z.string().optional().describe('Client that the actor used, by client id.'),
      address: z.string().optional().describe('IP address of the actor.'),
      at: z.string().describe('Time of the change, in ISO 8601.'),
      revision: z.string().optional().describe('Applied revision, for a source.'),
      rolledBackTo: z.int().optional().describe('Revision of the realm that it was rolled back to, for a rollback.'),
    })
    .describe('The actor of a change, and its time.'),
)

export const permissionExplanation = nameSchema(
  'PermissionExplanationRepresentation',
  z
    .object({
      realm: z.string().describe('Name of the realm.'),
      object: z.string().describe('Kind and name of the object.'),
      position,
      isPermitted: z.boolean().describe('Whether the source may declare the object.'),
      message: z.string().describe('The permission, or the reason why there is none.'),
    })
    .describe('Whether a source may declare an object.'),
)

export const key = z.array(z.string()).describe('Natural key, from the realm down.')
const operation = z.enum(['create', 'update', 'delete']).describe('Operation on the object.')

const change = nameSchema(
  'ChangeRepresentation',
  z
    .object({
      path: z.string().describe('Field; for a map, `field.key`.'),
      from: z.json().optional().describe('Live value; for a secret, its keyed digest.'),
      to: z.json().optional().describe('New value; for a secret, its keyed digest.'),
      encrypted: z
        .string()
        .optional()
        .describe(
          'Digest of the new value, if it or the last applied one is encrypted in its file; from and to are masked then.',
        ),
      add: z.array(key).optional().describe('Added elements of a relation.'),
      remove: z.array(key).optional().describe('Removed elements of a relation.'),
      reason: z
        .enum(['declared', 'drift', 'undeclared'])
        .describe(
          'Reason of the change: the source declares another value (declared), the live value was changed (drift), or the field was removed from the sources (undeclared).',
        ),
      by: attribution.optional(),
      position: position.optional(),
    })
    .describe('A changed field of an object.'),
)

export const action = nameSchema(
  'ActionRepresentation',
  z
    .object({
      operation,
      kind: z.string().describe('Kind of the object.'),
      key,
      id: z.string().optional().describe('Id of the live object, or the declared id of a new one.'),
      version: z.number().optional().describe('Version of the live object.'),
      changes: z.array(change).describe('The changed fields.'),
      deletedBy: attribution.optional(),
      deletion: z
        .discriminatedUnion('reason', [
          z.object({
            reason: z.literal('removed').describe('The object was removed from its source.'),
            file: z.string().describe('File of the last applied declaration.'),
            line: z.number().describe('Line of the last applied declaration, from 1.'),
          }),
          z.object({ reason: z.literal('undeclared').describe('The object is not in an authoritative list.') }),
        ])
        .optional()
        .describe('Reason of a deletion in a plan.'),
      position: position.optional(),
    })
    .describe('The create, update or delete of one object.'),
)

/** A remark of a plan. */
export const note = z
  .object({
    message: z.string().describe('Message.'),
    position: position.optional(),
    furtherPositions: z.array(position).optional().describe('Positions of further objects that it is about.'),
    effect: z
      .enum(['stored only', 'refused', 'dropped'])
      .optional()
      .describe('Effect of declared values that are not enforced. Absent for other notes.'),
  })
  .describe('A message about a plan.')

/** The rollback that suspends a source. */
export const suspension = z
  .object({
    revision: z.number().describe('Restored revision of the realm.'),
    by: z.string().describe('Username of the administrator who rolled back.'),
    at: z.string().describe('Time of the rollback, in ISO 8601.'),
  })
  .describe('The rollback that suspends the sources of the realm. Their changes are planned, but not applied.')

/** A guard that blocks a plan until it is approved. */
export const guard = nameSchema(
  'GuardRepresentation',
  z
    .object({
      guard: z
        .enum(GUARDS)
        .describe(
          'The plan deletes a realm, recreates one that had users, or deletes many objects. Or it adopts users whom neither a source nor an administrator created, or grants admin permissions to existing objects that no source created. Or it grants declared permissions to objects that were deleted and created again.',
        ),
      message: z.string().describe('Message.'),
      objects: z.array(z.string()).describe('Affected objects: the name of a realm, or ids of objects.'),
      revision: z
        .number()
        .optional()
        .describe('Revision of the realm to delete. An approval is void once the realm has changed.'),
      credentials: z
        .string()
        .optional()
        .describe('Digest of the declared credentials of adopted users. Absent if none are declared.'),
    })
    .describe('A guard that blocks a plan until it is approved.'),
)

const expires = z.string().describe('Time until which the plan can be approved and applied, in ISO 8601.')

const pendingApproval = z
  .object({
    plan: z.string().describe('Id of the plan.'),
    guards: z
      .array(guard)
      .describe('Guards that block the plan. Empty if it depends on a realm whose plan is pending approval.'),
    expires,
  })
  .describe('The approval that is pending. The plan was not applied.')

const approval = z
  .object({
    plan: z.string().describe('Id of the plan.'),
    by: z.string().describe('Username of the administrator who approved it.'),
    at: z.string().describe('Time of the approval, in ISO 8601.'),
  })
  .describe('The approval with which the plan was applied.')

/** A finding of regent lint. */
export const lintFinding = z.object({
  rule: z.string().describe('The rule of regent lint.'),
  kind: z.string().describe('Kind of the object.'),
  key,
  path: z.string().optional().describe('The field; absent if the finding is about the object.'),
  message: z.string().describe('Message.'),
  position,
})

/** The outcome of a plan or an apply in one realm. */
export const realmOutcome = nameSchema(
  'RealmOutcomeRepresentation',
  z.object({
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
              declared: z.json().optional().describe('Declared value; for a secret, its keyed digest.'),
              live: z.json().describe('Live value; for a secret, its keyed digest.'),
              encrypted: z
                .literal(true)
                .optional()
                .describe('Whether the declared value is encrypted in its file; both values are masked then.'),
              accepted: z
                .literal(true)
                .optional()
                .describe('Whether the live value counts as declared until the source declares another one.'),
              by: attribution.optional(),
            }),
          )
          .describe('Drift that the policy of its source reports or accepts, and does not correct.'),
        notes: z.array(note).describe('Messages, such as warnings about ignored fields.'),
        preconditions: z
          .array(
            z.object({
              kind: z.string().describe('Kind of the object.'),
              id: z.string().describe('Id of the object.'),
              version: z.number().describe('Version of the object.'),
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
          object: z.string().describe('Id of the object.'),
          key,
          fields: z.record(z.string(), z.json()).describe('Previous values.'),
        }),
      )
      .describe('Changes that are not declared, such as cascades.'),
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
      .array(lintFinding)
      .optional()
      .describe('Findings of regent lint; empty for a realm in which nothing has changed.'),
    suspended: suspension.optional(),
    guards: z.array(guard).optional().describe('Guards that block an apply of the plan until it is approved.'),
    pendingApproval: pendingApproval.optional(),
    approval: approval.optional(),
  }),
)

/** A source at a revision. */
export const sourceAtRevision = z.object({
  name: z.string().describe('Name of the source.'),
  revision: z.string().describe('Revision of the source.'),
})

const plannedSource = sourceAtRevision.extend({
  scope: z
    .array(z.string())
    .optional()
    .describe('Files and folders that were read; empty for the standard input. Absent: the whole source.'),
  lastApplied: z
    .object({ revision: z.string().describe('Revision.'), at: z.string().describe('Time, in ISO 8601.') })
    .optional()
    .describe('The apply before. Absent if there was none.'),
})

/** The outcome of a plan or an apply. */
export const outcome = z
  .object({
    formatVersion: z.literal(FORMAT_VERSION).describe('Version of this format.'),
    sources: z.array(plannedSource).describe('The sources that were planned or applied.'),
    realms: z.array(realmOutcome).describe('The outcome of each realm that the sources declare.'),
    notes: z.array(note).describe('Notes about the sources.'),
    saved: z
      .object({
        id: z.string().describe('Id of the plan.'),
        digest: z.string().describe('Digest of the actions.'),
        expires,
      })
      .optional()
      .describe('The saved plan. Absent if it was not saved.'),
  })
  .register(namedSchemas, { id: 'OutcomeRepresentation' })

/** A drifted field or object. */
export const drift = z
  .object({
    realm: z.string().describe('Name of the realm.'),
    source: z.string().describe('Source that declares the field or object.'),
    kind: z.string().describe('Kind of the object.'),
    key,
    path: z.string().optional().describe('The field; absent if the object was deleted.'),
    applied: z.json().optional().describe('Last applied value; absent for secrets and encrypted values.'),
    live: z.json().optional().describe('Live value; absent for secrets and encrypted values.'),
    encrypted: z.literal(true).optional().describe('Whether the value is encrypted in its file.'),
    by: attribution.optional(),
    policy: z
      .enum(['correct', 'report', 'selfHeal'])
      .describe(
        'Drift policy: corrected by the next apply (correct), only reported (report), or corrected at once (selfHeal).',
      ),
    file: z.string().describe('File of the declaration.'),
    line: z.number().describe('Line in that file.'),
  })
  .register(namedSchemas, { id: 'DriftRepresentation' })

const revision = z.number().describe('Number of the revision.')
const at = z.iso.datetime().describe('Time, in ISO 8601.')

/** The revisions of a realm. */
export const historyAnswer = z.array(
  z
    .object({
      number: revision,
      at,
      actor: z.record(z.string(), z.json()).describe('Actor: kind, user, client, address and source.'),
      created: z.number().describe('Number of created objects.'),
      updated: z.number().describe('Number of updated objects.'),
      deleted: z.number().describe('Number of deleted objects.'),
      sources: z
        .array(sourceAtRevision)
        .nullable()
        .describe('Applied sources; empty for a rollback, null if no source was applied.'),
      oldestRetained: z
        .boolean()
        .describe('Whether there were older revisions, which the retention of the journal has deleted.'),
    })
    .register(namedSchemas, { id: 'RevisionRepresentation' }),
)

/** The changes from one revision to another. */
export const diffAnswer = z.array(action)

/** The body of a rollback. */
export const rollbackBody = z
  .strictObject({
    revision: z.number().int().min(1).describe('Revision to roll back to.'),
    dryRun: z.boolean().optional().describe('Whether to plan only (dry run). Default: false.'),
  })
  .register(namedSchemas, { id: 'RollbackRepresentation' })

/** The body of an erasure. */
export const eraseBody = z
  .strictObject({ user: z.string().min(1).describe('Username or id of the user.') })
  .register(namedSchemas, { id: 'EraseUserRepresentation' })

/** The numbers of what an erasure has changed. */
export const erasure = z
  .object({
    users: z
      .array(z.string())
      .describe('Ids of the erased users: the user, and users of the same name who were deleted before.'),
    deleted: z.boolean().describe('Whether there was an account to delete.'),
    journalEntries: z.number().describe('Number of erased entries of the journal.'),
    events: z.number().describe('Number of erased admin events and user events.'),
    messages: z.number().describe('Number of deleted messages that were not sent yet.'),
    plans: z.number().describe('Number of saved plans that were erased, or deleted if they could still be applied.'),
  })
  .register(namedSchemas, { id: 'ErasureRepresentation' })

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
          path: z.string().describe('Field; for a map, `field.key`.'),
          value: z.json().optional().describe('The live value; absent for secrets and encrypted values.'),
          encrypted: z.literal(true).optional().describe('Whether the value is encrypted in its file.'),
          declarations: z
            .array(
              z.object({
                source: z.string().describe('Name of the source.'),
                revision: z.string().describe('Last applied revision.'),
                file: z.string().describe('Name of the file.'),
                line: z.number().describe('Line, from 1.'),
              }),
            )
            .describe('Declarations of the field, with their positions.'),
          by: attribution.optional(),
        }),
      )
      .describe('Declared and changed fields.'),
    isJournalComplete: z
      .boolean()
      .describe(
        'Whether the journal goes back to the creation of the realm. Otherwise the author of a value may be unknown.',
      ),
  })
  .register(namedSchemas, { id: 'ProvenanceRepresentation' })

/** The applied sources of the realms that a caller administers: one element for each source and realm. */
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
      settings: sourceSettings.describe('Settings with which the source was last applied. Absent: the defaults.'),
      objects: z.number().describe('Number of managed objects.'),
      changed: z.number().describe('Number of managed objects that were changed since the last apply.'),
    })
    .register(namedSchemas, { id: 'RealmSourceRepresentation' }),
)
