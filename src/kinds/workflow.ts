import * as z from 'zod'
import { flag, integer, objectList, objectSchema, opaque, structured, text, timestamp } from './fields.ts'
import { defineKind } from './kind.ts'

const settings = z.record(
  z.string(),
  z.union([z.string(), z.number().transform(String), z.boolean(), z.array(z.string())]),
)

/** Keycloak: WorkflowRepresentation. Steps for users or clients that an event or a schedule starts. */
export const workflow = defineKind({
  name: 'workflow',
  title: 'workflow',
  representation: 'WorkflowRepresentation',
  naturalKey: 'name',
  events: { type: 'REALM', paths: {} },
  hasNoAdminEvents: true,
  ignoresUnknownFields: true,
  fields: {
    name: text('Name of the workflow, which is unique in the realm.'),
    enabled: flag('Whether the workflow is enabled.', { onPut: 'clear' }),
    on: text(
      'Events that start the workflow, such as user_created or user_role_granted(clerk). Absent: it is only started manually or by its schedule.',
      {
        onPut: 'clear',
      },
    ),
    schedule: structured(
      objectSchema({
        after: text('Interval of the schedule, such as 1d.'),
        'batch-size': integer('Maximum number of users or clients per run. Default: 100.'),
      }),
      'Schedule of the workflow, for all users or clients that meet its condition.',
      { schemaName: 'WorkflowScheduleRepresentation', onPut: 'clear' },
    ),
    concurrency: structured(
      objectSchema({
        'cancel-in-progress': text(
          'Cancels a running workflow: true (an event that would start it), or the events that do so.',
        ),
        'restart-in-progress': text(
          'Restarts a running workflow: true (an event that would start it), or the events that do so.',
        ),
      }),
      'Effect of an event on a running workflow.',
      { schemaName: 'WorkflowConcurrencyRepresentation', onPut: 'clear' },
    ),
    if: text('Condition for users or clients, such as has-role(clerk) and not is-member-of(/staff).', {
      onPut: 'clear',
    }),
    steps: objectList(
      {
        id: text('Id of the step.', { computed: true }),
        uses: text('Type of the step, such as disable-user.', {}),
        after: text('Delay before the step: a number of seconds, or a duration such as 500ms, 30d or PT1H.'),
        with: structured(settings, 'Settings of the step, by name.'),
        'scheduled-at': timestamp('Time when the step is due, in milliseconds since 1970.', { computed: true }),
        status: text('Status of the step.', { computed: true }),
      },
      'Steps of the workflow, in order.',
      { schemaName: 'WorkflowStepRepresentation', onPut: 'clear' },
    ),
    state: opaque('Errors of the workflow.', { computed: true }),
  },
})
