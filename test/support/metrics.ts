// Reads the metrics of a server.
import { listen } from '../../src/http/server/listen.ts'
import { createServer } from '../../src/http/server.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { freePort } from './postgres.ts'

/** Returns the metrics of a server on a management port, or on the port of clients. */
export async function readMetrics(service: Service, { isPublic }: { readonly isPublic: boolean }): Promise<string> {
  const server = await createServer(service, { metrics: true, hasManagementPort: !isPublic, caller: SYSTEM })
  try {
    const managementPort = isPublic ? undefined : await freePort()
    const { localUrl } = await listen(server, { host: '127.0.0.1', port: 0, managementPort })
    return await (await fetch(`${isPublic ? localUrl : `http://127.0.0.1:${managementPort}`}/metrics`)).text()
  } finally {
    await server.close()
  }
}
