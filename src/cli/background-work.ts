// The background work of a server: messages, the audit trail, workflows, periodic tasks, and the deletion of expired rows.
import { type RepeatedWork, runEvery } from '../lib/timing/run-every.ts'
import { deliverers } from '../oidc/mail/deliver.ts'
import { previewTasks } from '../service/admin-api/realms/previews.ts'
import type { Service } from '../service/context/service.ts'
import { userStoreTasks } from '../service/federation/synchronize.ts'
import { type AuditReceivers, startAuditDeliveries } from '../service/messages/audit-deliveries.ts'
import { startOutbox } from '../service/messages/outbox.ts'
import { type JournalRetention, sweepExpiredRows } from '../service/operations/sweeper.ts'
import { startTaskRunner } from '../service/tasks/scheduled-tasks.ts'
import { workflowTasks } from '../service/workflows/activation.ts'
import { startWorkflowRunner } from '../service/workflows/run-steps.ts'

/** Milliseconds between deletions of expired rows. */
const SWEEP_INTERVAL = 15 * 60 * 1000
/** Milliseconds between looks for due messages, steps and tasks, including those of replicas that stopped. */
const WAKE_INTERVAL = 5_000

/** The settings of background work. */
interface BackgroundOptions {
  readonly retention: JournalRetention | undefined
  readonly auditReceivers: AuditReceivers
}

/** Starts the background work of a server. `close` ends it after what is in progress. */
export function startBackgroundWork(
  service: Service,
  failed: (error: unknown) => void,
  { retention, auditReceivers }: BackgroundOptions,
): RepeatedWork {
  const workers = [
    startWorkflowRunner(service, failed),
    startTaskRunner(service, { ...workflowTasks, ...userStoreTasks, ...previewTasks }, failed),
    startOutbox(service, deliverers, failed),
    startAuditDeliveries(service, auditReceivers, failed),
  ]
  const waking = runEvery(WAKE_INTERVAL, () => {
    for (const worker of workers) worker.wake()
  })
  const sweeping = runEvery(SWEEP_INTERVAL, () => sweepExpiredRows(service, new Date(), retention), failed)
  return {
    async close() {
      await waking.close()
      for (const worker of workers) await worker.close()
      await sweeping.close()
    },
  }
}
