// Changes that happen between planning and applying.
import type { Service } from '../../src/service/context/service.ts'

/** Returns a service that does the work after each snapshot that a plan reads. The work gets the number of snapshots before. */
export function interfereAfterSnapshots(service: Service, work: (count: number) => Promise<void>): Service {
  let count = 0
  return {
    ...service,
    async readSnapshot(caller, name, read) {
      const result = await service.readSnapshot(caller, name, read)
      await work(count++)
      return result
    },
  }
}
