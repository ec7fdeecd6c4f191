// Sends requests over persistent connections, in a process of its own, so that the client's CPU time is known and does not slow the server's thread.
import { Client, type Dispatcher } from 'undici'

/** Requests to send: as many as fit into the time, or a given number. */
export interface Load {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path. `{n}` is replaced by the number of the request, `{item}` by one item after the other. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body, with the same placeholders. */
  readonly body?: string
  readonly items?: readonly string[]
  /** The number of the first request. */
  readonly first: number
  readonly connections: number
  readonly seconds: number
  /** The number of requests after which the load ends early. */
  readonly limit?: number | undefined
}

/** The measurements of a load. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  /** CPU time of the client in milliseconds per request. */
  readonly clientMilliseconds: number
  /** The times of the requests in milliseconds, sorted. */
  readonly times: readonly number[]
}

process.on('message', async (load: Load) => {
  try {
    process.send!(await send(load))
  } catch (error) {
    process.send!(String(error))
  }
})

async function send(load: Load): Promise<LoadResult> {
  const clients = Array.from({ length: load.connections }, () => new Client(load.url))
  const times: number[] = []
  let number = load.first
  const last = load.first + (load.limit ?? Number.POSITIVE_INFINITY)
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  const end = start + load.seconds * 1_000
  const sendRepeatedly = async (client: Client) => {
    while (performance.now() < end && number < last) {
      const sent = performance.now()
      await sendRequest(client, createRequest(load, number++))
      times.push(performance.now() - sent)
    }
  }
  await Promise.all(clients.map(sendRepeatedly))
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  await Promise.all(clients.map((client) => client.close()))
  times.sort((a, b) => a - b)
  return {
    requests: times.length,
    seconds,
    clientMilliseconds: (user + system) / 1_000 / times.length,
    times,
  }
}

function createRequest({ method, path, headers, body, items }: Load, number: number): Dispatcher.DispatchOptions {
  const item = items?.[number % items.length] ?? ''
  const fill = (text: string) => text.replaceAll('{n}', String(number)).replaceAll('{item}', item)
  return { method, path: fill(path), headers, body: body === undefined ? null : fill(body) }
}

/** Sends a request and reads its response to the end. Throws if its status is not one of success. */
function sendRequest(client: Client, request: Dispatcher.DispatchOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0
    let text = ''
    client.dispatch(request, {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData(_controller, chunk) {
        if (status >= 300) text += chunk
      },
      onResponseEnd() {
        if (status < 300) resolve()
        else reject(new Error(`${request.method} ${request.path}: status ${status} ${text}`))
      },
      onResponseError(_controller, error) {
        reject(error)
      },
    })
  })
}
