// Whether the server can serve requests: the health endpoints, and the log of outages of the store.
import type { FastifyInstance } from 'fastify'
import { runEvery } from '../../lib/timing/run-every.ts'
import type { Service } from '../../service/context/service.ts'
import { StoreUnreachable } from '../../service/context/store-types.ts'

/** Milliseconds between two checks of a store that was unreachable. */
const CHECK_INTERVAL = 500

/** Logs outages of the store: their beginning and their end, whatever the number of requests that fail. */
export class OutageLog {
  readonly #app: FastifyInstance
  readonly #service: Service
  #checks: { readonly close: () => Promise<void> } | undefined

  constructor(app: FastifyInstance, service: Service) {
    this.#app = app
    this.#service = service
    app.addHook('onClose', async () => this.#checks?.close())
  }

  /** Reports a request or other work that failed since the store is unreachable. */
  report(error: StoreUnreachable): void {
    if (this.#checks) return
    this.#app.log.error(`${error.message} Requests get the status 503 until it is reachable again.`)
    const checks = runEvery(CHECK_INTERVAL, async () => {
      const isReachable = await this.#service.ping().then(
        () => true,
        () => false,
      )
      if (!isReachable) return
      this.#checks = undefined
      this.#app.log.info('The database is reachable again.')
      void checks.close()
    })
    this.#checks = checks
  }
}

const outageLogs = new WeakMap<FastifyInstance, OutageLog>()

/** Returns the log of outages of a server. */
export function getOutageLog(app: FastifyInstance, service: Service): OutageLog {
  const log = outageLogs.get(app) ?? new OutageLog(app, service)
  outageLogs.set(app, log)
  return log
}

/** Returns a function that logs the errors of work besides requests: those of an outage only once. */
export function createErrorLog(app: FastifyInstance, service: Service): (error: unknown) => void {
  const outages = getOutageLog(app, service)
  return (error) => (error instanceof StoreUnreachable ? outages.report(error) : app.log.error(error))
}

/** Adds the endpoints that load balancers and orchestrators call. */
export function addHealthRoutes(app: FastifyInstance, service: Service, outages: OutageLog): void {
  app.get('/health/live', async () => ({ status: 'UP' }))
  app.get('/health/ready', async (request, reply) => {
    try {
      await service.ping()
      return { status: 'UP' }
    } catch (error) {
      if (error instanceof StoreUnreachable) outages.report(error)
      else request.log.error(error)
      return reply.code(503).send({ status: 'DOWN' })
    }
  })
}
