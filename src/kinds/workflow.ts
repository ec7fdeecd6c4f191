import * as z from 'zod'
import { flag, integer, objectList, objectSchema, opaque, structured, text, timestamp } from './fields.ts'
import { defineKind } from './kind.ts'

const settings = z.record(
  z.string(),
  z.union([z.string(), z.number().transform(String), z.boolean(), z.array(z.string())]),
)

/** Keycloak: WorkflowRepresentation. What is to be done with people or clients when something happens, step by step. */
export const workflow = defineKind({
  name: 'workflow',
  title: 'workflow',
  representation: 'WorkflowRepresentation',
  naturalKey: 'name',
  events: { type: 'REALM', paths: {} },
  hasNoAdminEvents: true,
  ignoresUnknownFields: true,
  fields: {
    name: text('Name of the workflow; unique in the realm.'),
    enabled: flag('Whether the workflow runs.', { onPut: 'clear' }),
    on: text('What it begins with, such as user_created; absent: only by hand.', { onPut: 'clear' }),
    schedule: structured(
      objectSchema({
        after: text('How long to wait from one look to the next, such as 1d.'),
        'batch-size': integer('For how many at a time it begins.'),
      }),
      'When it begins for those who fulfil its condition.',
      { onPut: 'clear' },
    ),
    concurrency: structured(
      objectSchema({
        'cancel-in-progress': text('When a run that is under way ends: true, or an event.'),
        'restart-in-progress': text('When a run that is under way begins again: true, or an event.'),
      }),
      'What becomes of a run that is under way.',
      { onPut: 'clear' },
    ),
    if: text('Whom it is for, such as has-role(clerk) and not is-member-of(/staff).', { onPut: 'clear' }),
    steps: objectList(
      {
        id: text('Id of the step.', { computed: true }),
        uses: text('What is done, such as disable-user.', {
          provider: {
            label: 'step',
            supported: new Set<string>(),
            consequence: 'workflows with it are kept, and not carried out',
          },
        }),
        after: text('How long to wait before it: milliseconds, 30d, PT1H and the like.'),
        with: structured(settings, 'Settings of the step, by name.'),
        'scheduled-at': timestamp('When it is due.', { computed: true }),
        status: text('How it stands.', { computed: true }),
      },
      'What is done, in this order.',
      { onPut: 'clear' },
    ),
    state: opaque('What is wrong with it.', { computed: true }),
  },
})
