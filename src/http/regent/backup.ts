// Regent's own API: the backup of the store.
import { finished } from 'node:stream'
import { createBackup } from '../../service/operations/backup.ts'
import type { Operation } from '../operation.ts'
import { errorResponses } from '../responses.ts'

/** The operation that backs up the store. Restoring is a command, since it needs an empty store. */
export const regentBackupOperations: readonly Operation[] = [
  {
    operationId: 'backUp',
    tag: 'Export and Backup',
    method: 'GET',
    path: '/regent/v1/backup',
    summary: 'Back up the store for `regent restore`: all realms, users, sessions and history, with secrets sealed',
    permission: 'every-realm',
    responses: { 200: { description: 'Lines of JSON in gzip.', type: 'application/gzip' }, ...errorResponses },
    handle: async ({ service, caller }) => {
      const spooled = await createBackup(service, caller)
      const body = spooled.read()
      finished(body, () => void spooled.close())
      return { status: 200, body, type: 'application/gzip' }
    },
  },
]
