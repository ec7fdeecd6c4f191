// Regent's own API: all that the store keeps.
import { finished } from 'node:stream'
import { createBackup } from '../../service/operations/backup.ts'
import type { Operation } from '../operation.ts'
import { refusals } from '../responses.ts'

/** The operation that backs up. To restore, no server runs. */
export const regentBackupOperations: readonly Operation[] = [
  {
    operationId: 'backUp',
    tag: 'Regent',
    method: 'GET',
    path: '/regent/v1/backup',
    summary: 'Back up the store for `regent restore`: all realms, users, sessions and history, with secrets sealed',
    permission: 'every-realm',
    responses: { 200: { description: 'Lines of JSON in gzip.', type: 'application/gzip' }, ...refusals },
    handle: async ({ service, caller }) => {
      const spooled = await createBackup(service, caller)
      const body = spooled.read()
      finished(body, () => void spooled.close())
      return { status: 200, body, type: 'application/gzip' }
    },
  },
]
